"""Columns of tables that have one text in each cell, the same in a terminal and on a page."""

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
        show: Function that returns the text of a row.
        wanted: Function that says whether the column has content for the given rows.
        words: Whether the cells are words, not numbers.
    """

    heading: str
    show: Callable[[Row], str]
    wanted: Callable[[Sequence[Row]], bool] = lambda _: True
    words: bool = False


def wanted_of(columns: Sequence[Column[Row]], rows: Sequence[Row]) -> list[Column[Row]]:
    """Return the columns that have content for these rows."""
    return [column for column in columns if column.wanted(rows)]
