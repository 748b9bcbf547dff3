"""Queue that decides which training runs start next and with which resources, without files or processes."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from gym_gui.core.errors import QueueFullError, UsageError
from gym_gui.services.trainer.training_records import RunLimits

CAPACITY = 1000
"""Default for the largest number of runs that may wait."""
AGEING_S = 60.0
"""Seconds of waiting that raise the rank of a run as much as one step of priority."""
PATIENCE_S = 120.0
"""Seconds of waiting after which the resources that a run lacks are reserved for it."""
UNKNOWN_MEMORY_MB = 1024
"""Expected memory in MB of a run without a limit. Once the run uses more, its actual use counts."""
RESERVE_MB = 512
"""Memory in MB that is reserved for the system and the daemon."""


@dataclass(frozen=True)
class Machine:
    """Resources of a machine for training runs.

    Attributes:
        cores: Numbers of the cores that this process may use.
        memory_mb: Memory in MB.
        gpus: Names of the GPU devices.
    """

    cores: tuple[int, ...]
    memory_mb: int
    gpus: tuple[str, ...] = ()

    @classmethod
    def here(cls, gpus: Sequence[str]) -> Machine:
        """Return this machine's resources, within the limits of this process (affinity, control group)."""
        return cls(tuple(sorted(os.sched_getaffinity(0))), max(_memory_mb() - RESERVE_MB, 1), tuple(gpus))

    def share_mb(self, cores: int) -> int:
        """Return the share of the memory in MB for a number of cores, so that one run per core fits."""
        return self.memory_mb * min(cores, len(self.cores)) // max(len(self.cores), 1)


@dataclass(frozen=True)
class Claim:
    """Resources that a run needs.

    Attributes:
        cores: Number of cores.
        memory_mb: Memory in MB.
        gpus: Number of GPUs.
    """

    cores: int = 1
    memory_mb: int = UNKNOWN_MEMORY_MB
    gpus: int = 0

    @classmethod
    def of(cls, limits: RunLimits) -> Claim:
        """Return the claim for a run's limits, whose number of GPUs has been decided."""
        memory = UNKNOWN_MEMORY_MB if limits.memory_mb is None else limits.memory_mb
        return cls(limits.cpu_cores, memory, limits.gpus or 0)


@dataclass(frozen=True)
class Grant:
    """Resources that a run has been given.

    Attributes:
        cores: Numbers of its cores; empty if it uses cores outside this machine's set.
        memory_mb: Memory in MB.
        gpus: Names of its GPU devices.
        elsewhere: Number of cores that it uses without known numbers.
    """

    cores: tuple[int, ...] = ()
    memory_mb: int = 0
    gpus: tuple[str, ...] = ()
    elsewhere: int = 0


@dataclass(frozen=True)
class WaitingRun:
    """A run that waits in the queue.

    Attributes:
        run_id: Id of the run.
        claim: Resources that it needs.
        priority: Runs with a higher priority start first.
        since: Time when it was queued.
        held: Whether a person has paused it.
    """

    run_id: str
    claim: Claim
    priority: int
    since: float
    held: bool = False

    def rank(self, now: float) -> float:
        """Return the priority plus an amount for the waiting time, so that no run waits forever."""
        return self.priority + max(now - self.since, 0.0) / AGEING_S


@dataclass
class _Room:
    """Free resources during a round of starts."""

    cores: list[int]
    memory_mb: int
    gpus: list[str]
    spare: int  # cores to give: fewer than are free if runs use cores of unknown numbers
    lacks: list[str] = field(default_factory=list[str])

    def lacking(self, claim: Claim) -> list[str]:
        short: list[str] = []
        if claim.cores > min(self.spare, len(self.cores)):
            short.append("cores")
        if claim.memory_mb > self.memory_mb:
            short.append("memory")
        if claim.gpus > len(self.gpus):
            short.append("GPUs")
        return short

    def take(self, claim: Claim) -> Grant:
        cores = tuple(self.cores[: claim.cores])
        gpus = tuple(self.gpus[: claim.gpus])
        del self.cores[: claim.cores], self.gpus[: claim.gpus]
        self.spare -= claim.cores
        self.memory_mb -= claim.memory_mb
        return Grant(cores, claim.memory_mb, gpus)

    def hold(self, claim: Claim, short: Collection[str]) -> None:
        """Reserve the resources that a run lacks, after the run has waited long."""
        if "cores" in short:
            self.spare = max(self.spare - claim.cores, 0)
        if "memory" in short:
            self.memory_mb = max(self.memory_mb - claim.memory_mb, 0)
        del self.gpus[: claim.gpus]


class RunQueue:
    """Queue of waiting runs, with the resources of the running ones.

    Args:
        machine: Resources to distribute.
        capacity: Largest number of runs that may wait.
    """

    def __init__(self, machine: Machine, capacity: int = CAPACITY) -> None:
        self.machine, self.capacity = machine, capacity
        self._waiting: dict[str, WaitingRun] = {}
        self._granted: dict[str, Grant] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def running(self) -> int:
        """Number of runs that have resources."""
        return len(self._granted)

    def check(self, limits: RunLimits) -> None:
        """Refuse limits that this machine can never provide.

        Raises:
            UsageError: The machine has less, or the limits are invalid. The message contains the numbers.
        """
        m = self.machine
        if limits.cpu_cores < 1:
            raise UsageError(f"a run needs at least 1 core, not {limits.cpu_cores}")
        if limits.cpu_cores > len(m.cores):
            have = f"{len(m.cores)} {'core' if len(m.cores) == 1 else 'cores'}"
            raise UsageError(f"{limits.cpu_cores} cores are requested, but this machine has {have}")
        if limits.memory_mb is not None and limits.memory_mb > m.memory_mb:
            raise UsageError(
                f"{limits.memory_mb} MB of memory are requested, but a run may have 1 to {m.memory_mb} MB"
            )
        if limits.gpus is not None and limits.gpus > len(m.gpus):
            have = f"GPUs {', '.join(m.gpus)}" if m.gpus else "no GPU"
            raise UsageError(f"{limits.gpus} GPUs are requested, but this machine has {have}")

    def check_length(self) -> None:
        """Check that one more run may wait.

        Raises:
            QueueFullError: The queue is full.
        """
        if len(self._waiting) >= self.capacity:
            raise QueueFullError(
                f"the queue is full: {self.capacity} trainings wait",
                fix="Wait until some are done, or cancel some",
            )

    def add(self, run_id: str, claim: Claim, priority: int, since: float, *, held: bool = False) -> None:
        """Add a run to the queue. A claim that was checked on a larger machine is cut to this one."""
        m = self.machine
        fitting = Claim(
            min(claim.cores, len(m.cores)), min(claim.memory_mb, m.memory_mb), min(claim.gpus, len(m.gpus))
        )
        self._waiting[run_id] = WaitingRun(run_id, fitting, priority, since, held)

    def set_paused(self, run_id: str, held: bool) -> None:
        """Pause a waiting run, or resume it."""
        if run_id in self._waiting:
            self._waiting[run_id] = replace(self._waiting[run_id], held=held)

    def drop(self, run_id: str) -> None:
        """Remove a run from the queue."""
        self._waiting.pop(run_id, None)

    def occupy(self, run_id: str, grant: Grant) -> None:
        """Record the resources of a run that is already running."""
        self._waiting.pop(run_id, None)
        self._granted[run_id] = grant

    def uses(self, run_id: str, memory_mb: float) -> None:
        """Raise a run's memory to its actual use if it uses more than expected."""
        grant = self._granted.get(run_id)
        if grant is not None and memory_mb > grant.memory_mb:
            self._granted[run_id] = replace(grant, memory_mb=int(memory_mb) + 1)

    def release(self, run_id: str) -> None:
        """Free the resources of a run that has ended."""
        self._granted.pop(run_id, None)

    def order(self, now: float) -> list[str]:
        """Return the ids of the waiting runs in the order of their starts."""
        return [waiting.run_id for waiting in self._ordered(now)]

    def granted(self, run_id: str) -> Grant | None:
        """Return the resources of a run, or ``None``."""
        return self._granted.get(run_id)

    def start(self, now: float, available_mb: float | None = None) -> list[tuple[str, Grant]]:
        """Grant free resources to waiting runs, and remove these runs from the queue.

        Args:
            now: Present time, on the clock of :meth:`add`.
            available_mb: Memory in MB that the system has free at present.

        Returns:
            Ids of the runs to start, with their resources.
        """
        room, started = self._room(available_mb), list[tuple[str, Grant]]()
        for waiting in self._ordered(now):
            if waiting.held:
                continue
            short = room.lacking(waiting.claim)
            if not short:
                grant = room.take(waiting.claim)
                self.occupy(waiting.run_id, grant)
                started.append((waiting.run_id, grant))
            elif now - waiting.since >= PATIENCE_S:
                room.hold(waiting.claim, short)
        return started

    def lacking(self, run_id: str, available_mb: float | None = None) -> str:
        """Return the names of the resources that a waiting run lacks; empty if it lacks none."""
        waiting = self._waiting.get(run_id)
        if waiting is None or waiting.held:
            return ""
        short = self._room(available_mb).lacking(waiting.claim)
        return " and ".join(short)

    def _ordered(self, now: float) -> list[WaitingRun]:
        return sorted(self._waiting.values(), key=lambda w: (-w.rank(now), w.since, w.run_id))

    def _room(self, available_mb: float | None) -> _Room:
        grants: Iterable[Grant] = self._granted.values()
        taken = {core for grant in grants for core in grant.cores}
        used = {gpu for grant in grants for gpu in grant.gpus}
        cores = [core for core in self.machine.cores if core not in taken]
        memory = self.machine.memory_mb - sum(grant.memory_mb for grant in grants)
        if available_mb is not None and self._granted:
            # Without a running training, one start is tried: else a full machine would stop all training.
            memory = min(memory, int(available_mb))
        return _Room(
            cores,
            memory,
            [gpu for gpu in self.machine.gpus if gpu not in used],
            max(len(cores) - sum(grant.elsewhere for grant in grants), 0),
        )


def _memory_mb() -> int:
    """Return the memory in MB of this machine, or of this process's control group if that is less."""
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    for limit in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            total = min(total, int(Path(limit).read_text()))
        except (OSError, ValueError):  # no such file, or its content is "max"
            continue
    return total // 2**20
