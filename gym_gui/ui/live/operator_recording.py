"""The run folder of operators side by side; each reset begins a new one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any

from gym_gui.ui.live.live_operator import LiveOperator

if TYPE_CHECKING:
    from gym_gui.controllers.live_play.live_run import LiveRun
    from gym_gui.core.config import OperatorConfig
    from gym_gui.ui.context import AppContext


class OperatorRecording:
    """Begins a run, and ends it in the background once the last episodes of all operators are written.

    Args:
        context: The window's services.
        changed: Called when the run, its folder or its figures have changed.

    Attributes:
        recording: The current run, or ``None``.
    """

    def __init__(self, context: AppContext, changed: Callable[[], None]) -> None:
        self._context, self._changed = context, changed
        self.recording: LiveRun | None = None
        self._ending: set[asyncio.Task[None]] = set()
        self._leaving: set[asyncio.Task[None]] = set()

    def begin(self, operators: Sequence[LiveOperator], seed: int) -> None:
        """End the current run, and begin another one for these operators, if there are any."""
        from gym_gui.controllers.live_play.live_run import LiveRun

        self.end(operators)
        if operators:
            configs = [operator.player.config for operator in operators]
            runs = self._context.store.runs_dir()
            self.recording = LiveRun(
                runs,
                configs,
                seed,
                compress=self._context.settings.values.compress_runs,
                changed=self._changed,
            )

    def admit(self, configs: Sequence[OperatorConfig]) -> bool:
        """Add operators to the current run, or change them in it, as long as the run holds no episodes.

        Returns whether that was possible; without a current run, it always is.
        """
        return self.recording is None or all(map(self.recording.admit, configs))

    def describe(self, config: OperatorConfig) -> None:
        """Record an operator's new name."""
        if self.recording is not None:
            self.recording.describe(config)

    def end(self, operators: Sequence[LiveOperator]) -> None:
        """Write these operators' current episodes as aborted, then close the run."""
        run, self.recording = self.recording, None
        if run is not None:
            self._background(self._close(run, list(operators)), self._ending)

    async def _close(self, run: LiveRun, operators: Sequence[LiveOperator]) -> None:
        if self._leaving:
            await asyncio.wait(self._leaving)
        await asyncio.gather(*(operator.player.settled() for operator in operators))
        await run.close()
        self._changed()

    def leave(self, operator: LiveOperator) -> None:
        """End a removed operator: write its current episode as aborted and end its processes."""
        self._background(self._close_one(operator), self._leaving)

    async def _close_one(self, operator: LiveOperator) -> None:
        await operator.player.close()
        if operator.player.recording is not None:
            operator.player.recording.withdraw(operator.player.config.operator_id)
        operator.deleteLater()

    def _background(self, job: Coroutine[Any, Any, None], among: set[asyncio.Task[None]]) -> None:
        task = self._context.spawn(job, "ending what is not needed any more")
        among.add(task)
        task.add_done_callback(among.discard)

    async def ended(self) -> None:
        """Wait until all runs and removed operators have ended."""
        while self._ending or self._leaving:
            await asyncio.gather(*self._ending, *self._leaving, return_exceptions=True)
