"""The run folder of operators side by side: one from reset to reset."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any

from gym_gui.ui.live.operator import LiveOperator

if TYPE_CHECKING:
    from gym_gui.controllers.live_run import LiveRun
    from gym_gui.ui.context import AppContext


class DeckRun:
    """Begins a run, and ends it in the background once everybody's last episode is written.

    Args:
        context: The window's services.
        changed: Called when the run, its folder or its figures have changed.

    Attributes:
        recording: The run that is on, or ``None``.
    """

    def __init__(self, context: AppContext, changed: Callable[[], None]) -> None:
        self._context, self._changed = context, changed
        self.recording: LiveRun | None = None
        self._ending: set[asyncio.Task[None]] = set()

    def begin(self, operators: Sequence[LiveOperator], seed: int) -> None:
        """End the run that is on; another one for these operators, if there are any."""
        from gym_gui.controllers.live_run import LiveRun

        self.end(operators)
        if operators:
            configs = [operator.config for operator in operators]
            runs = self._context.store.runs_dir()
            self.recording = LiveRun(runs, configs, seed, changed=self._changed)

    def end(self, operators: Sequence[LiveOperator]) -> None:
        """What these operators were playing is written as aborted, then the run is closed."""
        run, self.recording = self.recording, None
        if run is not None:
            self.retire(self._close(run, list(operators)))

    async def _close(self, run: LiveRun, operators: Sequence[LiveOperator]) -> None:
        await asyncio.gather(*(operator.settled() for operator in operators))
        await run.close()
        self._changed()

    def retire(self, job: Coroutine[Any, Any, None]) -> None:
        """Something ends in the background that :meth:`ended` waits for."""
        task = self._context.spawn(job, "ending what is not needed any more")
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    async def ended(self) -> None:
        """Wait until all of it has ended."""
        while self._ending:
            await asyncio.gather(*self._ending, return_exceptions=True)
