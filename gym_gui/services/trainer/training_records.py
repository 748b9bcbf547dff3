"""Data types of the trainer: record of a run, limits of a run, and state of the daemon."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, cast

from gym_gui.core.errors import UsageError

RunState = Literal[
    "queued", "starting", "running", "paused", "stopping", "completed", "stopped", "failed", "removed"
]
"""State of a run. ``removed`` is sent once, for a run that is no longer in any list."""

OVER: frozenset[str] = frozenset({"completed", "stopped", "failed", "removed"})
"""States of a run that is over."""


@dataclass(frozen=True)
class RunLimits:
    """Resources that a run may use.

    Attributes:
        cpu_cores: Number of cores.
        memory_mb: Resident memory of all its processes in MB. The run is ended if it uses more. ``None``:
            see :meth:`TrainRequest.memory_mb`. If the worker sets no limit, only the machine limits it.
        gpus: Number of GPUs; ``None`` for one GPU if the settings or the worker ask for one.
        max_s: Seconds after which the run is asked to save its policy and end; ``None`` for no limit.
    """

    cpu_cores: int = 1
    memory_mb: int | None = None
    gpus: int | None = None
    max_s: float | None = None

    def __post_init__(self) -> None:
        _check_count("the number of cores", self.cpu_cores, 0)
        if self.memory_mb is not None:
            _check_count("the memory in MB", self.memory_mb, 1)
        if self.gpus is not None:
            _check_count("the number of GPUs", self.gpus, 0)
        if self.max_s is not None and not _is_duration(self.max_s):
            raise UsageError(
                f"the longest duration is {self.max_s} s, but must be a number of seconds more than 0",
                fix="Leave it out for no limit",
            )

    @classmethod
    def from_data(cls, data: object) -> RunLimits:
        """Return the limits in JSON data. Missing values get their defaults.

        Raises:
            UsageError: The data is invalid.
        """
        if data is None:
            return cls()
        if not isinstance(data, dict):
            raise UsageError("the limits of a run must be a JSON object")
        given = cast("dict[str, Any]", data)
        return cls(**{name: given[name] for name in cls.__dataclass_fields__ if name in given})


def _check_count(what: str, value: object, least: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise UsageError(f"{what} is {value}, but must be a whole number of at least {least}")


def _is_duration(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < math.inf


DEFAULT_LIMITS = RunLimits()


@dataclass(frozen=True)
class TrainingRecord:
    """Current state of one training run.

    Attributes:
        run_id: Id of the run.
        title: Title for people; empty for none.
        worker_id: The worker that trains.
        algorithm: Name of the algorithm.
        env_id: Canonical id of the environment.
        seed: The only seed of the training.
        settings: The worker's settings that the user has given.
        state: State of the run.
        reason: Reason for the state, as a sentence; empty if there is none.
        step: Environment steps so far.
        total_steps: Environment steps of the whole training; 0 if not yet known.
        mean_return: Mean return of the last finished episodes, or of the evaluation.
        episodes: Finished episodes so far.
        steps_per_s: Environment steps per second at present.
        remaining_s: Estimated seconds until the end.
        elapsed_s: Seconds of training, without pauses.
        priority: Runs with a higher priority start first.
        position: Position in the queue from 1; 0 if it is not queued.
        folder: The run folder.
        submitted_at: Unix time of the submission.
        started_at: Unix time of the (last) start.
        ended_at: Unix time of the end.
        cpu_percent: CPU use of all its processes, in percent of one core.
        memory_mb: Resident memory of all its processes in MB.
        gpu: Its GPU devices, comma-separated.
        policy: Folder of its saved policy, or empty.
        video: Newest picture or video of its policy at play, or empty.
        limits: Resources that the run may use.
        warning: Its last warning, or empty.
        evaluated: Whether ``mean_return`` is the result of the evaluation.
        group: Name of the group of trainings that differ only in their seed; empty for none.
        place: The other machine that it is or was on; empty for none.
    """

    run_id: str
    worker_id: str
    algorithm: str
    env_id: str
    seed: int
    folder: Path
    submitted_at: float
    title: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    state: RunState = "queued"
    reason: str = ""
    step: int = 0
    total_steps: int = 0
    mean_return: float | None = None
    episodes: int = 0
    steps_per_s: float = 0.0
    remaining_s: float | None = None
    elapsed_s: float = 0.0
    priority: int = 0
    position: int = 0
    started_at: float | None = None
    ended_at: float | None = None
    cpu_percent: float = 0.0
    memory_mb: float = 0.0
    gpu: str = ""
    policy: str = ""
    video: str = ""
    limits: RunLimits = RunLimits()
    warning: str = ""
    evaluated: bool = False
    group: str = ""
    place: str = ""

    @property
    def has_ended(self) -> bool:
        """Whether the run has ended."""
        return self.state in OVER

    @property
    def live(self) -> bool:
        """Whether the run may have a process."""
        return not self.has_ended and self.state != "queued" and self.started_at is not None


@dataclass(frozen=True)
class Health:
    """State of the daemon and its machine.

    Attributes:
        version: Version of MOSAIC.
        pid: Process id of the daemon.
        uptime_s: Seconds since its start.
        cores: Number of cores for runs.
        memory_mb: Memory for runs in MB.
        free_memory_mb: Free part of this memory at present, in MB.
        gpus: GPU devices for runs.
        running: Number of runs with resources, including paused ones.
        queued: Number of waiting runs.
        capacity: Largest number of runs that may wait.
        data_folder: The data folder that it serves.
        log: Its log file.
    """

    version: str
    pid: int
    uptime_s: float
    cores: int
    memory_mb: int
    free_memory_mb: int
    gpus: tuple[str, ...]
    running: int
    queued: int
    capacity: int
    data_folder: Path
    log: Path


def record_to_data(record: TrainingRecord) -> dict[str, Any]:
    """Return a training record as plain data for JSON."""
    return {**asdict(record), "folder": str(record.folder), "settings": dict(record.settings)}


def record_from_data(data: Mapping[str, Any]) -> TrainingRecord:
    """Return the record in data of :func:`record_to_data`, without fields that this version does not know.

    Raises:
        TypeError: A required field is missing.
    """
    known = {name: data[name] for name in TrainingRecord.__dataclass_fields__ if name in data}
    try:
        known["limits"] = RunLimits.from_data(known.get("limits"))
    except UsageError as error:  # an earlier version accepted these limits; keep the run without them
        known["limits"], known["warning"] = DEFAULT_LIMITS, f"its limits were dropped: {error.message}"
    if "folder" in known:
        known["folder"] = Path(known["folder"])
    return TrainingRecord(**known)
