"""Starts a task when the user pauses typing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from PyQt6.QtCore import QObject, pyqtSignal

from gym_gui.controllers.live_play.latest_task import Spawn
from gym_gui.ui.timers import single_shot_timer


class TypingPause(QObject):
    """Runs one task at a time after a pause in typing, and again if more was typed during the run.

    Args:
        spawn: Runs work in the background.
        work: Returns the coroutine of the task.
        what: Name of the task for error messages.
        quiet_ms: Length of the pause in milliseconds.
        parent: Qt owner.
    """

    began = pyqtSignal()
    """Emitted when the task starts, or is due again after the running one."""

    def __init__(
        self,
        spawn: Spawn,
        work: Callable[[], Coroutine[Any, Any, None]],
        what: str,
        quiet_ms: int,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._spawn, self._work, self._what = spawn, work, what
        self._task: asyncio.Task[None] | None = None
        self._again = False
        self._timer = single_shot_timer(self, quiet_ms, self.run_now)

    def typed(self) -> None:
        """Restart the pause after a key was typed."""
        self._timer.start()

    def run_now(self) -> None:
        """Start the task now, or again after the running one."""
        self._timer.stop()
        if self._task is not None and not self._task.done():
            self._again = True
        else:
            self._task = self._spawn(self._run(), self._what)
        self.began.emit()

    def cancel(self) -> None:
        """Cancel the task and the pause."""
        self._timer.stop()
        if self._task is not None:
            self._task.cancel()

    async def _run(self) -> None:
        await self._work()
        while self._again:
            self._again = False
            await self._work()
