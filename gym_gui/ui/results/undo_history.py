"""The history of the list of runs: labels and deletions in one order, undone one after the other."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from PyQt6.QtCore import QObject
from PyQt6.QtGui import QUndoCommand, QUndoStack

from gym_gui.controllers.live_play.latest_task import Spawn

Work = Callable[[], Awaitable[None]]


class Step(QUndoCommand):
    """One thing that was done to files, and the work that takes it back.

    Args:
        text: What was done, for the menu.
        back: Takes it back.
        again: Does it once more.
    """

    def __init__(self, text: str, back: Work, again: Work) -> None:
        super().__init__(text)
        self.back, self.again = back, again


class RunHistory(QObject):
    """Steps that take time: each waits for those that were asked for before it.

    A step is pushed once it is done. An undo that the user asks for earlier waits for the step, so that no
    older step is undone in its place.

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
        """Held by work that ends in a step; asked for as soon as the work is."""

    def __len__(self) -> int:
        return len(self._stack)

    def push(self, step: Step) -> None:
        """Remember what was done; what was undone before it is forgotten."""
        self._stack.push(step)  # whose redo does nothing: the work is done

    @property
    def can_undo(self) -> bool:
        """Whether there is something to undo, or will be in a moment."""
        return self._stack.canUndo() or self.order.locked()

    @property
    def can_redo(self) -> bool:
        """Whether something was undone."""
        return self._stack.canRedo()

    def undo(self) -> None:
        """Take the last step back."""
        self._spawn(self._undo(), "Undoing")

    def redo(self) -> None:
        """Do again what was taken back last."""
        self._spawn(self._redo(), "Redoing")

    def take_back(self, step: Step) -> None:
        """Take back one step, wherever it is in the history, and forget it."""
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
        """The last step that stands."""
        while (step := self._last()) is not None and step.isObsolete():
            self._stack.undo()  # which drops it
        return step

    def _last(self) -> Step | None:
        step = self._stack.command(self._stack.index() - 1) if self._stack.canUndo() else None
        return step if isinstance(step, Step) else None
