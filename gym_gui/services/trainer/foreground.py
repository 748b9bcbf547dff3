"""Train a policy in the foreground, from Python or from the command line, and wait for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from gym_gui.core.errors import MissingDependencyError, UsageError
from gym_gui.core.trusted.trust import Origin
from gym_gui.services.trainer.file_follower import Follower
from gym_gui.services.trainer.request import KeptRequest, TrainRequest
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
    """How far a training is.

    Attributes:
        step: Environment steps so far.
        total_steps: Steps in all.
        mean_return: Mean return of the last finished episodes, or ``None`` before the first.
        episodes: Episodes finished so far.
        steps_per_s: Speed.
        elapsed_s: Seconds since it began, pauses left out.
        remaining_s: Estimated seconds until it ends, where that can be said.
        paused: It waits to be resumed.
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
    """A training that is over, its policy kept.

    Attributes:
        out: The run folder, which is the policy's as well.
        status: ``completed``, or ``stopped`` by a person.
        step: Environment steps trained.
        mean_return: Mean return of the evaluation that follows a completed training.
        wall_s: Seconds it took.
    """

    out: Path
    status: str
    step: int
    mean_return: float | None
    wall_s: float


def _ignore(_: object) -> None:
    """The caller wants no progress."""


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
    """Train a policy in a process of its own and wait for it, as :func:`carry_out`.

    Args:
        worker: The worker, or a name it is registered under.
        algo: One of its algorithms.
        env: The environment.
        seed: The one seed of the training.
        out: Its run folder; ``runs/<algo>_<env>_seed<seed>`` by default.
        settings: Settings of the algorithm, such as ``{"total_steps": 100_000}``.
        resume: Continue with what is in ``out``.
        overwrite: Replace a policy that is in ``out``.
        on_progress: Told how far it is, a few times a second at most.

    Raises:
        UsageError: The request cannot be carried out as it is; says what to change.
        WorkerLaunchError: The process could not be started.
        TrainingFailedError: It went wrong while running.
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
    """The request that resumes the training of a run folder.

    Args:
        folder: The run folder.
        settings: Settings that change, as the user types them.
        registry: Where its worker is looked up.

    Raises:
        UsageError: It is no run folder, or its worker, algorithm or environment is not there any more.
    """
    kept = KeptRequest.read(folder)
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
    """Train and wait for it; it ends with this program, however that ends.

    Ctrl-C (``KeyboardInterrupt``) stops the training, which keeps what it has; the result
    then says ``stopped``. A second one kills it; what it kept before stays. No process is left
    in any case.

    Args:
        request: What to train.
        limits: What it may use; all there is by default.
        on_progress: Told how far it is, a few times a second at most.
        on_warning: Told what a person should know.
        on_stopping: Told when the first Ctrl-C was passed on.
        grace_s: Seconds the training has to stop when asked.

    Raises:
        UsageError: The request cannot be carried out as it is; says what to change.
        WorkerLaunchError: The process could not be started.
        TrainingFailedError: It went wrong while running.
    """
    check_ready(request.definition)
    folder = RunFolder(request.out)
    new, before = not request.out.exists(), folder.read(REQUEST) if request.resume else None
    process = TrainingProcess.launch(request, limits, tied=True, gpus=detected_gpus(), grace_s=grace_s)
    try:
        _follow(process, _Teller(process.events(), on_progress, on_warning), on_stopping)
    finally:
        if process.alive:
            process.kill()
        outcome = process.outcome()
        if outcome is not None and outcome.refused:
            _take_back(folder, before, new=new)
    assert outcome is not None  # it is over
    return _result(request, outcome)


def _take_back(folder: RunFolder, before: Mapping[str, Any] | None, *, new: bool) -> None:
    """Leave the folder of a training that the worker refused as it was asked for before."""
    if new:
        folder.discard()
    elif before is not None:
        folder.write(REQUEST, before)  # or a setting that cannot change would be asked for ever after


def check_ready(definition: WorkerTypeDefinition) -> None:
    """See that what a worker needs is installed.

    Raises:
        MissingDependencyError: It is not; says what installs it.
    """
    status = check_installed(definition)
    if status.missing:
        lacking = ", ".join(status.missing)
        raise MissingDependencyError(f"what {definition.type_id} needs ({lacking})", status.install)


def _follow(process: TrainingProcess, teller: _Teller, on_stopping: Callable[[], None]) -> None:
    """Pass on what it says until it is over; the first Ctrl-C asks it to stop, the second kills it."""
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


class _Teller:
    """Reads the events and tells of them."""

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
        kept = f"What it kept before is in {request.out}" if folder.holds_policy else ""
        reason = outcome.reason or "it was stopped before it had kept anything"
        raise TrainingFailedError(f"the training in {request.env_id} failed: {reason}", fix=kept)
    return TrainResult(request.out, outcome.state, outcome.step, outcome.mean_return, outcome.wall_s)
