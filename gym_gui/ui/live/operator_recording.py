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
    """Begins a run, and ends it in the background after the last episodes of all operators are written.

    Args:
        context: The window's services.
        changed: Called when the run, its folder or its counts have changed.

    Attributes:
        recording: The current run; ``None`` if nothing is recorded.
    """

    def __init__(self, context: AppContext, changed: Callable[[], None]) -> None:
        self._context, self._changed = context, changed
        self.recording: LiveRun | None = None
        self._closing_runs: set[asyncio.Task[None]] = set()
        self._closing_operators: set[asyncio.Task[None]] = set()

    def begin(self, operators: Sequence[LiveOperator], seed: int) -> None:
        """End the current run and begin a new one, if there are operators."""
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
        """Add or change operators in the current run, as long as it has no episodes.

        Returns whether this was possible; true without a current run.
        """
        return self.recording is None or all(map(self.recording.admit, configs))

    def describe(self, config: OperatorConfig) -> None:
        """Record the new name of an operator."""
        if self.recording is not None:
            self.recording.describe(config)

    def end(self, operators: Sequence[LiveOperator]) -> None:
        """Write the operators' current episodes as aborted, then close the run."""
        run, self.recording = self.recording, None
        if run is not None:
            self._spawn_in(self._close(run, list(operators)), self._closing_runs)

    async def _close(self, run: LiveRun, operators: Sequence[LiveOperator]) -> None:
        if self._closing_operators:
            await asyncio.wait(self._closing_operators)
        await asyncio.gather(*(operator.player.settled() for operator in operators))
        await run.close()
        self._changed()

    def abort_operator(self, operator: LiveOperator) -> None:
        """Write a removed operator's current episode as aborted, and end its processes."""
        self._spawn_in(self._close_one(operator), self._closing_operators)

    async def _close_one(self, operator: LiveOperator) -> None:
        await operator.player.close()
        if operator.player.recording is not None:
            operator.player.recording.withdraw(operator.player.config.operator_id)
        operator.deleteLater()

    def _spawn_in(self, job: Coroutine[Any, Any, None], among: set[asyncio.Task[None]]) -> None:
        task = self._context.spawn(job, "Closing sessions and records")
        among.add(task)
        task.add_done_callback(among.discard)

    async def ended(self) -> None:
        """Wait until all closing runs and removed operators have ended."""
        while self._closing_runs or self._closing_operators:
            await asyncio.gather(*self._closing_runs, *self._closing_operators, return_exceptions=True)
