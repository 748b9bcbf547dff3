"""Undo history of the list of runs: labels and deletions in one order."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from PyQt6.QtCore import QObject
from PyQt6.QtGui import QUndoCommand, QUndoStack

from gym_gui.controllers.live_play.latest_task import Spawn

Work = Callable[[], Awaitable[None]]


class Step(QUndoCommand):
    """One change of files, with the work that undoes it.

    Args:
        text: What was done, for the menu.
        back: Undoes the change.
        again: Makes the change again.
    """

    def __init__(self, text: str, back: Work, again: Work) -> None:
        super().__init__(text)
        self.back, self.again = back, again


class RunHistory(QObject):
    """A history whose steps take time: each step waits until all earlier ones are done.

    A step is pushed when it is done. If the user asks for an undo before that, the undo waits for the
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
        """Lock held by work that ends in a step; the work requests it at its start."""

    def __len__(self) -> int:
        return len(self._stack)

    def push(self, step: Step) -> None:
        """Add a step that has been done; steps that were undone before are forgotten."""
        self._stack.push(step)  # Its redo does nothing: the work is done.

    @property
    def can_undo(self) -> bool:
        """Whether there is a step to undo, or one will be pushed in a moment."""
        return self._stack.canUndo() or self.order.locked()

    @property
    def can_redo(self) -> bool:
        """Whether a step was undone."""
        return self._stack.canRedo()

    def undo(self) -> None:
        """Undo the last step."""
        self._spawn(self._undo(), "Undoing")

    def redo(self) -> None:
        """Do the step again that was undone last."""
        self._spawn(self._redo(), "Redoing")

    def take_back(self, step: Step) -> None:
        """Undo one step, wherever it is in the history, and forget it."""
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
            if isinstance(step, Step):
                self._stack.redo()
                await step.again()

    async def _take_back(self, step: Step) -> None:
        async with self.order:
            if step is self._pass_over_obsolete():
                self._stack.undo()
            elif step.isObsolete() or not self._is_done(step):
                return
            else:
                step.setObsolete(True)
            await step.back()

    def _is_done(self, step: Step) -> bool:
        return any(self._stack.command(place) is step for place in range(self._stack.index()))

    def _pass_over_obsolete(self) -> Step | None:
        """Drop the latest steps that were undone out of order, and return the last step that still counts."""
        while (step := self._last()) is not None and step.isObsolete():
            self._stack.undo()  # This drops the step.
        return step

    def _last(self) -> Step | None:
        step = self._stack.command(self._stack.index() - 1) if self._stack.canUndo() else None
        return step if isinstance(step, Step) else None
