"""Defines table columns with plain text cells, for the terminal and for HTML pages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

Row = TypeVar("Row")


@dataclass(frozen=True)
class Column(Generic[Row]):
    """Column of a table.

    Attributes:
        heading: Heading of the column.
        show: Function that returns the cell's text for a row.
        wanted: Function that returns whether the column is shown for the given rows.
        words: Whether the cells contain words instead of numbers.
    """

    heading: str
    show: Callable[[Row], str]
    wanted: Callable[[Sequence[Row]], bool] = lambda _: True
    words: bool = False


def wanted_of(columns: Sequence[Column[Row]], rows: Sequence[Row]) -> list[Column[Row]]:
    """Return the columns that are shown for the rows."""
    return [column for column in columns if column.wanted(rows)]
