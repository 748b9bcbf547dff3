"""Trains a policy in the foreground for Python programs and the command line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from gym_gui.core.errors import MissingDependencyError, UsageError
from gym_gui.core.trusted.trust import Origin
from gym_gui.services.trainer.file_follower import Follower
from gym_gui.services.trainer.request import SavedRequest, TrainRequest
from gym_gui.services.trainer.training_folder import REQUEST, RunFolder
from gym_gui.services.trainer.training_outcome import TrainingOutcome
from gym_gui.services.trainer.training_process import STOP_GRACE_S, TrainingFailedError, TrainingProcess
from gym_gui.services.trainer.training_records import RunLimits
from gym_gui.workers.gpus import detected_gpus
from gym_gui.workers.registry import WorkerTypeDefinition, WorkerTypeRegistry
from gym_gui.workers.status import check_installed

_LOOK_S = 0.1


@dataclass(frozen=True)
class TrainProgress:
    """Progress of a training.

    Attributes:
        step: Environment steps so far.
        total_steps: Environment steps of the whole training.
        mean_return: Mean return of the last finished episodes, or ``None`` before the first.
        episodes: Finished episodes so far.
        steps_per_s: Environment steps per second.
        elapsed_s: Seconds since the start, without pauses.
        remaining_s: Estimated seconds until the end, or ``None``.
        paused: Whether the training is paused.
    """

    step: int
    total_steps: int
    mean_return: float | None = None
    episodes: int = 0
    steps_per_s: float = 0.0
    elapsed_s: float = 0.0
    remaining_s: float | None = None
    paused: bool = False


@dataclass(frozen=True)
class TrainResult:
    """Result of a training that is over and has saved its policy.

    Attributes:
        out: The run folder, which is the policy's folder too.
        status: ``completed``, or ``stopped`` by a person.
        step: Environment steps trained.
        mean_return: Mean return of the evaluation after a completed training.
        wall_s: Duration in seconds.
    """

    out: Path
    status: str
    step: int
    mean_return: float | None
    wall_s: float


def _ignore(_: object) -> None:
    """Ignore progress and warnings."""


def train(
    worker: WorkerTypeDefinition | str,
    *,
    algo: str,
    env: str,
    seed: int = 1,
    out: Path | None = None,
    settings: Mapping[str, Any] | None = None,
    resume: bool = False,
    overwrite: bool = False,
    on_progress: Callable[[TrainProgress], None] = _ignore,
) -> TrainResult:
    """Train a policy in a separate process and wait for it, as :func:`carry_out` does.

    Args:
        worker: The worker, or one of its names in the registry.
        algo: Name of the algorithm.
        env: Name of the environment.
        seed: The only seed of the training.
        out: The run folder; ``runs/<algo>_<env>_seed<seed>`` by default.
        settings: Settings of the algorithm, such as ``{"total_steps": 100_000}``.
        resume: Whether to resume the training in ``out``.
        overwrite: Whether to replace a policy in ``out``.
        on_progress: Called with the progress, a few times per second at most.

    Raises:
        UsageError: The request is invalid. The message says what to change.
        WorkerLaunchError: The process could not be started.
        TrainingFailedError: The training failed while it ran.
    """
    definition = WorkerTypeRegistry.require(worker) if isinstance(worker, str) else worker
    request = TrainRequest.checked(
        definition,
        algo=algo,
        env=env,
        seed=seed,
        out=out,
        settings=settings,
        resume=resume,
        overwrite=overwrite,
    )
    return carry_out(request, on_progress=on_progress)


def resumed(folder: Path, settings: Mapping[str, str], registry: type[WorkerTypeRegistry]) -> TrainRequest:
    """Return the request that resumes the training of a run folder.

    Args:
        folder: The run folder.
        settings: Settings to change, as the user types them.
        registry: Registry that contains the worker.

    Raises:
        UsageError: The folder is not a run folder, or its worker, algorithm or environment is unknown.
    """
    kept = SavedRequest.read(folder)
    return TrainRequest.checked(
        registry.require(kept.worker),
        algo=kept.algorithm,
        env=kept.env_id,
        seed=kept.seed,
        out=folder,
        settings={name: value for name, value in kept.given.items() if name not in settings},
        texts=settings,
        extra=kept.arguments,
        resume=True,
        title=kept.title,
        group=kept.group,
        run_id=kept.run_id,
        origin=Origin(str(folder / REQUEST)),
    )


def carry_out(
    request: TrainRequest,
    limits: RunLimits | None = None,
    *,
    on_progress: Callable[[TrainProgress], None] = _ignore,
    on_warning: Callable[[str], None] = _ignore,
    on_stopping: Callable[[], None] = lambda: None,
    grace_s: float = STOP_GRACE_S,
) -> TrainResult:
    """Train in a separate process and wait for it. The process ends with this program in any case.

    Ctrl-C (``KeyboardInterrupt``) stops the training, which saves its policy. The result's status is then
    ``stopped``. A second Ctrl-C kills the training, and what it saved before is kept. No process is left in
    any case.

    Args:
        request: The training to run.
        limits: Resources that it may use; no limits by default.
        on_progress: Called with the progress, a few times per second at most.
        on_warning: Called with each warning of the training.
        on_stopping: Called after the first Ctrl-C was passed on.
        grace_s: Seconds from a stop request to the kill.

    Raises:
        UsageError: The request is invalid. The message says what to change.
        WorkerLaunchError: The process could not be started.
        TrainingFailedError: The training failed while it ran.
    """
    check_ready(request.definition)
    folder = RunFolder(request.out)
    new, before = not request.out.exists(), folder.read(REQUEST) if request.resume else None
    process = TrainingProcess.launch(request, limits, tied=True, gpus=detected_gpus(), grace_s=grace_s)
    try:
        _follow(process, _EventReporter(process.events(), on_progress, on_warning), on_stopping)
    finally:
        if process.alive:
            process.kill()
        outcome = process.outcome()
        if outcome is not None and outcome.refused:
            _take_back(folder, before, new=new)
    assert outcome is not None  # it is over
    return _result(request, outcome)


def _take_back(folder: RunFolder, before: Mapping[str, Any] | None, *, new: bool) -> None:
    """Restore a run folder to its state before the worker refused the training."""
    if new:
        folder.discard()
    elif before is not None:
        folder.write(REQUEST, before)  # else every later resume would repeat the refused setting


def check_ready(definition: WorkerTypeDefinition) -> None:
    """Check that a worker's requirements are installed.

    Raises:
        MissingDependencyError: A requirement is missing. The error contains the install command.
    """
    status = check_installed(definition)
    if status.missing:
        lacking = ", ".join(status.missing)
        raise MissingDependencyError(f"what {definition.type_id} needs ({lacking})", status.install)


def _follow(process: TrainingProcess, teller: _EventReporter, on_stopping: Callable[[], None]) -> None:
    """Report events until the training is over. Ctrl-C stops the training, and a second Ctrl-C kills it."""
    asked = False
    while True:
        try:
            over = process.wait(_LOOK_S)
            teller.tell()
            if over:
                return
        except KeyboardInterrupt:
            if asked:
                process.kill()
            elif process.alive:
                process.ask("stop")
                on_stopping()
            asked = True


class _EventReporter:
    """Reads events of a training and calls the callbacks."""

    def __init__(
        self,
        events: Follower,
        on_progress: Callable[[TrainProgress], None],
        on_warning: Callable[[str], None],
    ) -> None:
        self._events, self._on_progress, self._on_warning = events, on_progress, on_warning
        self._last = TrainProgress(0, 0)

    def tell(self) -> None:
        names = {field.name for field in fields(TrainProgress)}
        for row in self._events.read():
            kind = row.get("event")
            if kind == "warning":
                self._on_warning(str(row.get("message", "")))
            elif kind in ("start", "progress", "paused", "resumed"):
                told = {name: row[name] for name in names & row.keys()}
                self._last = replace(self._last, paused=kind == "paused", **told)
                self._on_progress(self._last)


def _result(request: TrainRequest, outcome: TrainingOutcome) -> TrainResult:
    folder = RunFolder(request.out)
    if outcome.refused:
        raise UsageError(outcome.reason)
    if outcome.state == "failed" or not folder.holds_policy:
        kept = f"Its last checkpoint is in {request.out}" if folder.holds_policy else ""
        reason = outcome.reason or "it was stopped before its first checkpoint"
        raise TrainingFailedError(f"the training in {request.env_id} failed: {reason}", fix=kept)
    return TrainResult(request.out, outcome.state, outcome.step, outcome.mean_return, outcome.wall_s)
