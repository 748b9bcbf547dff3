"""Work that follows what is typed, once the typing has paused."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from PyQt6.QtCore import QObject, pyqtSignal

from gym_gui.controllers.live_play.latest_task import Spawn
from gym_gui.ui.timers import single_shot_timer


class TypingPause(QObject):
    """Does work when typing has paused: one run at a time, and one more where it came due during a run.

    Args:
        spawn: Runs work in the background.
        work: Makes the coroutine that is run.
        what: What it is, where it fails.
        quiet_ms: How long the pause is.
        parent: Qt owner.
    """

    began = pyqtSignal()
    """It is being done, or will be as soon as what is being done is over."""

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
        self._timer = single_shot_timer(self, quiet_ms, self.now)

    def typed(self) -> None:
        """Something was typed: wait for a pause."""
        self._timer.start()

    def now(self) -> None:
        """Do it now, or as soon as what is being done is over."""
        self._timer.stop()
        if self._task is not None and not self._task.done():
            self._again = True
        else:
            self._task = self._spawn(self._run(), self._what)
        self.began.emit()

    def let_go(self) -> None:
        """Do nothing more."""
        self._timer.stop()
        if self._task is not None:
            self._task.cancel()

    async def _run(self) -> None:
        await self._work()
        while self._again:
            self._again = False
            await self._work()
