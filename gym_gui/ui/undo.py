"""One step of a history: what there was before, and after."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from PyQt6.QtGui import QUndoCommand

_T = TypeVar("_T")


class Edit(QUndoCommand, Generic[_T]):
    """Puts one state in place of another; edits of one field that follow each other are one step.

    Args:
        show: Has a state be the present one.
        before: The state that undo brings back.
        after: What it becomes.
        text: What was done, for the menu.
        field: What was edited; empty: this edit is a step of its own.
    """

    def __init__(self, show: Callable[[_T], None], before: _T, after: _T, text: str, field: str = "") -> None:
        super().__init__(text)
        self._show, self._before, self._after, self._field = show, before, after, field

    def id(self) -> int:
        """Which edits may become one: those of one field (0 to 2^30)."""
        return hash(self._field) & 0x3FFFFFFF if self._field else -1

    def mergeWith(self, other: QUndoCommand | None) -> bool:
        """Take over a later edit of the same field."""
        if not isinstance(other, Edit) or other._field != self._field:
            return False
        self._after = other._after
        return True

    def undo(self) -> None:
        """As it was."""
        self._show(self._before)

    def redo(self) -> None:
        """As it is."""
        self._show(self._after)
