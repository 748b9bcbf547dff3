"""Undo step that replaces one state by another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from PyQt6.QtGui import QUndoCommand

_T = TypeVar("_T")


class Edit(QUndoCommand, Generic[_T]):
    """Replaces one state by another; successive edits of one field become one step.

    Args:
        show: Shows a state.
        before: State that undo restores.
        after: State after the edit.
        text: Description for the menu.
        field: Edited field; empty if the edit is always a step of its own.
    """

    def __init__(self, show: Callable[[_T], None], before: _T, after: _T, text: str, field: str = "") -> None:
        super().__init__(text)
        self._show, self._before, self._after, self._field = show, before, after, field

    def id(self) -> int:
        """Return the key of edits that may merge: those of one field (0 to 2^30), else -1."""
        return hash(self._field) & 0x3FFFFFFF if self._field else -1

    def mergeWith(self, other: QUndoCommand | None) -> bool:
        """Merge a later edit of the same field into this one."""
        if not isinstance(other, Edit) or other._field != self._field:
            return False
        self._after = other._after
        return True

    def undo(self) -> None:
        """Show the state before the edit."""
        self._show(self._before)

    def redo(self) -> None:
        """Show the state after the edit."""
        self._show(self._after)
