"""Trainings side by side: what a :class:`WorkerOrchestrator` hands its choice to."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from ulid import ULID

from gym_gui.core.enums import SteppingParadigm
from gym_gui.core.errors import UnknownNameError
from gym_gui.services.trainer.process import TrainingProcess
from gym_gui.services.trainer.request import TrainRequest
from gym_gui.services.trainer.service import TrainProgress, TrainResult, check_ready, see_through
from gym_gui.services.worker_orchestrator import UnifiedRunConfig
from gym_gui.workers.registry import WorkerTypeDefinition


def _ignore(progress: TrainProgress) -> None:
    """Nobody wants to know."""


class TrainingDispatcher:
    """Starts trainings, each in a process of its own, and keeps them by run id.

    Use it from one thread: a training's life is tied to the thread that launched it.

    Args:
        out: Folder in which each run's policy folder is made; by default where
            :class:`TrainRequest` puts it.
    """

    def __init__(self, out: Path | None = None) -> None:
        self._out = out
        self._runs: dict[str, tuple[TrainRequest, TrainingProcess]] = {}

    async def launch(
        self, *, worker_type: WorkerTypeDefinition, config: UnifiedRunConfig, paradigm: SteppingParadigm
    ) -> str:
        """Start a training; ``settings`` become the worker's options (``total_steps``: ``--total-steps``).

        Returns:
            The run's id.

        Raises:
            UsageError: The request cannot be carried out as it is.
            WorkerLaunchError: The process could not be started.
        """
        run_id = str(ULID())
        algorithms = worker_type.train.algorithms if worker_type.train is not None else ()
        request = TrainRequest.checked(
            worker_type,
            algo=config.algorithm or next(iter(algorithms), ""),
            env=config.task,
            seed=config.seed,
            out=None if self._out is None else self._out / run_id,
            settings=config.settings,
        )
        check_ready(worker_type)
        self._runs[run_id] = request, TrainingProcess.launch(request, tied=True)
        return run_id

    async def wait(self, run_id: str, on_progress: Callable[[TrainProgress], None] = _ignore) -> TrainResult:
        """Wait for a run's end; nothing of it is left then.

        Args:
            run_id: The run.
            on_progress: Told how far it is, from another thread.

        Raises:
            UnknownNameError: There is no such run.
            UsageError: The worker refuses the request.
            TrainingFailedError: It went wrong.
        """
        request, process = self._run(run_id)
        try:
            return await asyncio.to_thread(see_through, request, process, on_progress)
        finally:
            self._runs.pop(run_id, None)
            await asyncio.to_thread(process.kill)

    def stop(self, run_id: str) -> None:
        """Ask a run to keep what it has and end.

        Raises:
            UnknownNameError: There is no such run.
        """
        self._run(run_id)[1].ask("stop")

    @property
    def running(self) -> tuple[str, ...]:
        """Ids of the runs that nobody has waited for to the end."""
        return tuple(self._runs)

    def close(self) -> None:
        """End every run at once, with everything it started."""
        while self._runs:
            self._runs.popitem()[1][1].kill()

    def _run(self, run_id: str) -> tuple[TrainRequest, TrainingProcess]:
        try:
            return self._runs[run_id]
        except KeyError:
            raise UnknownNameError("training run", run_id, self._runs) from None
