"""Columns of tables that have one text in each cell, the same in a terminal and on a page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

Row = TypeVar("Row")


@dataclass(frozen=True)
class Column(Generic[Row]):
    """A column.

    Attributes:
        heading: What stands above it.
        show: What it says of a row.
        wanted: Whether it says anything of one of these.
        words: Text, in place of figures.
    """

    heading: str
    show: Callable[[Row], str]
    wanted: Callable[[Sequence[Row]], bool] = lambda _: True
    words: bool = False


def wanted_of(columns: Sequence[Column[Row]], rows: Sequence[Row]) -> list[Column[Row]]:
    """The columns that say something of these rows."""
    return [column for column in columns if column.wanted(rows)]
