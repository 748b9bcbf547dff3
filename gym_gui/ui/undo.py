"""An undo step that replaces one state by another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from PyQt6.QtGui import QUndoCommand

_T = TypeVar("_T")


class Edit(QUndoCommand, Generic[_T]):
    """Undo step that replaces one state by another; successive edits of one field are merged.

    Args:
        show: Shows a state.
        before: State that undo restores.
        after: State after the edit.
        text: Description for the menu.
        field: Edited field; empty to never merge the edit with others.
    """

    def __init__(self, show: Callable[[_T], None], before: _T, after: _T, text: str, field: str = "") -> None:
        super().__init__(text)
        self._show, self._before, self._after, self._field = show, before, after, field

    def id(self) -> int:
        """Return the key of edits that can merge: a hash of the field, below 2^30, or -1 for none."""
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
