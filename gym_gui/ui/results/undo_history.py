"""Undo history of the Results page, which orders label changes and deletions of runs."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from PyQt6.QtCore import QObject
from PyQt6.QtGui import QUndoCommand, QUndoStack

from gym_gui.controllers.live_play.latest_task import Spawn

Work = Callable[[], Awaitable[None]]


class UndoStep(QUndoCommand):
    """One undoable change of run files.

    Args:
        text: Name of the change for the Undo menu entry.
        back: Undoes the change.
        again: Makes the change again.
    """

    def __init__(self, text: str, back: Work, again: Work) -> None:
        super().__init__(text)
        self.back, self.again = back, again


class RunHistory(QObject):
    """Undo history of asynchronous changes: each change waits until all earlier changes are finished.

    A step is pushed when its change is finished. An undo that the user requests before that waits for the
    step, so that no older step is undone instead.

    Args:
        spawn: Runs work in the background.
        parent: Qt owner.
    """

    def __init__(self, spawn: Spawn, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._spawn = spawn
        self._stack = QUndoStack(self)
        self._stack.setUndoLimit(200)
        self.order = asyncio.Lock()
        """Lock that a change holds from its start until its step is pushed."""

    def __len__(self) -> int:
        return len(self._stack)

    def push(self, step: UndoStep) -> None:
        """Add a step that was done, and forget the steps that had been undone."""
        self._stack.push(step)  # The step's redo() does nothing, because the work is done.

    @property
    def can_undo(self) -> bool:
        """Whether a step can be undone now or after the change in progress."""
        return self._stack.canUndo() or self.order.locked()

    @property
    def can_redo(self) -> bool:
        """Whether an undone step can be done again."""
        return self._stack.canRedo()

    def undo(self) -> None:
        """Undo the last step in the background."""
        self._spawn(self._undo(), "Undoing")

    def redo(self) -> None:
        """Redo the step that was undone last."""
        self._spawn(self._redo(), "Redoing")

    def undo_step(self, step: UndoStep) -> None:
        """Undo one step, wherever it is in the history, and remove it from the history."""
        self._spawn(self._take_back(step), "Undoing")

    async def _undo(self) -> None:
        async with self.order:
            step = self._pass_over_obsolete()
            if step is not None:
                self._stack.undo()
                await step.back()

    async def _redo(self) -> None:
        async with self.order:
            step = self._stack.command(self._stack.index())
            if isinstance(step, UndoStep):
                self._stack.redo()
                await step.again()

    async def _take_back(self, step: UndoStep) -> None:
        async with self.order:
            if step is self._pass_over_obsolete():
                self._stack.undo()
            elif step.isObsolete() or not self._is_done(step):
                return
            else:
                step.setObsolete(True)
            await step.back()

    def _is_done(self, step: UndoStep) -> bool:
        return any(self._stack.command(place) is step for place in range(self._stack.index()))

    def _pass_over_obsolete(self) -> UndoStep | None:
        """Remove the latest steps that were undone out of order, and return the last valid step or
        ``None``.
        """
        while (step := self._last()) is not None and step.isObsolete():
            self._stack.undo()  # This drops the step.
        return step

    def _last(self) -> UndoStep | None:
        step = self._stack.command(self._stack.index() - 1) if self._stack.canUndo() else None
        return step if isinstance(step, UndoStep) else None
