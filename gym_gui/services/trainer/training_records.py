"""What can be known of a training run, and what is asked of the daemon that keeps it."""

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
"""Where a run stands. ``removed`` comes once, for a run that is in no list any more."""

OVER: frozenset[str] = frozenset({"completed", "stopped", "failed", "removed"})
"""States that a run does not leave again by itself."""


@dataclass(frozen=True)
class RunLimits:
    """What a run may use.

    Attributes:
        cpu_cores: Cores of its own.
        memory_mb: Resident memory of all its processes in MB; it is ended when it uses more.
            ``None``: see :meth:`TrainRequest.memory_mb`; without a worker's word only the machine limits it.
        gpus: GPUs of its own; ``None``: one where its settings or its worker ask for one.
        max_s: Seconds after which it is asked to keep what it has and end; ``None`` for no limit.
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
        """Limits as JSON holds them; what is not there is as by default.

        Raises:
            UsageError: They make no sense.
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
    """One training run, as it stands now.

    Attributes:
        run_id: Its id.
        title: What a person calls it; empty for none.
        worker_id: The worker that trains.
        algorithm: One of its algorithms.
        env_id: The environment's canonical id.
        seed: The one seed of the training.
        settings: The worker's settings as given.
        state: Where it stands.
        reason: Why it stands there, as a sentence; empty where there is nothing to say.
        step: Environment steps so far.
        total_steps: Environment steps in all; 0 before it is known.
        mean_return: Of the last finished episodes, or of its evaluation.
        episodes: Finished so far.
        steps_per_s: Environment steps per second just now.
        remaining_s: Estimated seconds until it ends.
        elapsed_s: Seconds of training, pauses left out.
        priority: Higher runs first.
        position: Place in the queue from 1; 0 where it is not queued.
        folder: Its run folder.
        submitted_at: Unix time.
        started_at: Unix time of its (last) start.
        ended_at: Unix time of its end.
        cpu_percent: Of one core, all its processes together.
        memory_mb: Resident memory of all its processes in MB.
        gpu: Devices that are its own, comma-separated.
        policy: Folder of the policy it has kept, or empty.
        video: Newest picture or video of its policy at play, or empty.
        limits: What it may use.
        warning: The last thing a person should know, or empty.
        evaluated: Whether ``mean_return`` is that of its evaluation.
        group: What its group is called: trainings that differ in their seed alone; empty for none.
        place: Which other machine it is on, or was; empty for none.
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
    def over(self) -> bool:
        """It has ended."""
        return self.state in OVER

    @property
    def live(self) -> bool:
        """A process of it may be there."""
        return not self.over and self.state != "queued" and self.started_at is not None


@dataclass(frozen=True)
class Health:
    """How the daemon and its machine are.

    Attributes:
        version: Of MOSAIC.
        pid: The daemon's process id.
        uptime_s: Seconds since it started.
        cores: Cores it may hand out.
        memory_mb: Memory it may hand out, in MB.
        free_memory_mb: What is free of it just now.
        gpus: Devices it may hand out.
        running: Runs that hold a place on the machine, paused ones included.
        queued: Runs that wait.
        capacity: Runs that may wait at most.
        data_folder: The data folder it serves.
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
    """A record as plain data, for JSON."""
    return {**asdict(record), "folder": str(record.folder), "settings": dict(record.settings)}


def record_from_data(data: Mapping[str, Any]) -> TrainingRecord:
    """The opposite of :func:`record_to_data`; fields that another version wrote are left out.

    Raises:
        TypeError: A field that is needed is missing.
    """
    known = {name: data[name] for name in TrainingRecord.__dataclass_fields__ if name in data}
    try:
        known["limits"] = RunLimits.from_data(known.get("limits"))
    except UsageError as error:  # an earlier version took them: the run stays, they do not
        known["limits"], known["warning"] = DEFAULT_LIMITS, f"its limits were dropped: {error.message}"
    if "folder" in known:
        known["folder"] = Path(known["folder"])
    return TrainingRecord(**known)
