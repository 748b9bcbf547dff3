"""Converts columns (see :mod:`mosaic_worker.codec`) to fields of messages and back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from gym_gui.core.spaces import Column


def add_columns(target: Any, columns: Iterable[Column]) -> None:
    """Append columns to a message's repeated ``Column`` field."""
    for column in columns:
        target.add(data=column.data, sizes=column.sizes)


def columns_of(field: Iterable[Any]) -> Sequence[Column]:
    """Return the columns in a message's repeated ``Column`` field."""
    return [Column(c.data, c.sizes) for c in field]
