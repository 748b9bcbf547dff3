"""Train a policy from Python or from the command line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from gym_gui.core.errors import MissingDependencyError
from gym_gui.services.trainer.piped import STOP_GRACE_S, TrainerProcess, TrainProgress, TrainResult
from gym_gui.services.trainer.request import TrainRequest
from gym_gui.workers.registry import WorkerTypeDefinition, WorkerTypeRegistry
from gym_gui.workers.status import check_installed


def _ignore(progress: TrainProgress) -> None:
    """Nobody wants to know."""


def train(
    worker: WorkerTypeDefinition | str,
    *,
    algo: str,
    env: str,
    out: Path | None = None,
    seed: int = 1,
    extra: Sequence[str] = (),
    on_progress: Callable[[TrainProgress], None] = _ignore,
    grace_s: float = STOP_GRACE_S,
) -> TrainResult:
    """Train a policy in a process of its own and wait for it.

    Ctrl-C (``KeyboardInterrupt``) stops the training, which keeps what it has; the result
    then says ``stopped``. A second one kills it. No process is left in any case.

    Args:
        worker: The worker, or a name it is registered under.
        algo: One of its algorithms.
        env: The environment.
        out: Folder of the policy; ``runs/<algo>_<env>_seed<seed>`` by default.
        seed: The one seed of the training.
        extra: More arguments for the worker, such as ``["--total-steps", "100000"]``.
        on_progress: Told how far it is, a few times a second at most.
        grace_s: Seconds the training has to stop when asked.

    Raises:
        UsageError: The request cannot be carried out as it is; says what to change.
        WorkerLaunchError: The process could not be started.
        TrainingFailedError: It went wrong while running.
    """
    definition = WorkerTypeRegistry.require(worker) if isinstance(worker, str) else worker
    request = TrainRequest.checked(definition, algo=algo, env=env, seed=seed, out=out, extra=extra)
    status = check_installed(definition)
    if status.missing:
        lacking = ", ".join(status.missing)
        raise MissingDependencyError(f"what {definition.type_id} needs ({lacking})", status.install)
    process = TrainerProcess(request, grace_s=grace_s)
    try:
        try:
            return process.wait(on_progress)
        except KeyboardInterrupt:
            process.stop()
            return process.wait(on_progress)
    finally:
        process.close()
