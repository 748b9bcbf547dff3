"""Which run may start next, and with what of the machine: no files, no processes, no clock of its own."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from gym_gui.core.errors import QueueFullError, UsageError
from gym_gui.services.trainer.training_records import RunLimits

CAPACITY = 1000
"""Runs that may wait."""
AGEING_S = 60.0
"""Seconds of waiting that count as much as one step of priority."""
PATIENCE_S = 120.0
"""A run that has waited so long for room is not overtaken any more in what it lacks."""
UNKNOWN_MEMORY_MB = 1024
"""What a run is expected to use that does not say; once it runs, what it uses counts."""
RESERVE_MB = 512
"""What the system and the daemon keep."""


@dataclass(frozen=True)
class Machine:
    """What there is to hand out.

    Attributes:
        cores: Numbers of the cores that this process may use.
        memory_mb: Memory in MB.
        gpus: Devices.
    """

    cores: tuple[int, ...]
    memory_mb: int
    gpus: tuple[str, ...] = ()

    @classmethod
    def here(cls, gpus: Sequence[str]) -> Machine:
        """This machine as far as this process may use it (affinity, control group)."""
        return cls(tuple(sorted(os.sched_getaffinity(0))), max(_memory_mb() - RESERVE_MB, 1), tuple(gpus))

    def share_mb(self, cores: int) -> int:
        """Memory in MB that goes with so many cores, so that as many runs fit as there are cores."""
        return self.memory_mb * min(cores, len(self.cores)) // max(len(self.cores), 1)


@dataclass(frozen=True)
class Claim:
    """What a run takes of the machine.

    Attributes:
        cores: How many.
        memory_mb: In MB.
        gpus: How many.
    """

    cores: int = 1
    memory_mb: int = UNKNOWN_MEMORY_MB
    gpus: int = 0

    @classmethod
    def of(cls, limits: RunLimits) -> Claim:
        """What limits amount to, once it is settled how many GPUs a run gets."""
        memory = UNKNOWN_MEMORY_MB if limits.memory_mb is None else limits.memory_mb
        return cls(limits.cpu_cores, memory, limits.gpus or 0)


@dataclass(frozen=True)
class Grant:
    """What of the machine is a run's own.

    Attributes:
        cores: Numbers of its cores; empty where it has some that this machine does not hand out.
        memory_mb: In MB.
        gpus: Its devices.
        elsewhere: Cores that it takes without their numbers being known.
    """

    cores: tuple[int, ...] = ()
    memory_mb: int = 0
    gpus: tuple[str, ...] = ()
    elsewhere: int = 0


@dataclass(frozen=True)
class Waiting:
    """A run that waits.

    Attributes:
        run_id: Its id.
        claim: What it needs.
        priority: Higher first.
        since: When it was queued.
        held: It waits for a person, not for room.
    """

    run_id: str
    claim: Claim
    priority: int
    since: float
    held: bool = False

    def rank(self, now: float) -> float:
        """Its priority with its age: however low, it comes first in the end."""
        return self.priority + max(now - self.since, 0.0) / AGEING_S


@dataclass
class _Room:
    """What is free while a round of starts is being decided."""

    cores: list[int]
    memory_mb: int
    gpus: list[str]
    spare: int  # cores that may be handed out: fewer than are free where runs use cores of unknown numbers
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
        """Keep for a run that has waited long what it has too little of."""
        if "cores" in short:
            self.spare = max(self.spare - claim.cores, 0)
        if "memory" in short:
            self.memory_mb = max(self.memory_mb - claim.memory_mb, 0)
        del self.gpus[: claim.gpus]


class RunQueue:
    """Runs that wait, and what those that run have been granted.

    Args:
        machine: What there is.
        capacity: How many may wait.
    """

    def __init__(self, machine: Machine, capacity: int = CAPACITY) -> None:
        self.machine, self.capacity = machine, capacity
        self._waiting: dict[str, Waiting] = {}
        self._granted: dict[str, Grant] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def running(self) -> int:
        """How many have a place on the machine."""
        return len(self._granted)

    def check(self, limits: RunLimits) -> None:
        """Refuse what this machine can never give.

        Raises:
            UsageError: It has less, or the request makes no sense; names the numbers.
        """
        m = self.machine
        if limits.cpu_cores < 1:
            raise UsageError(f"a run needs at least 1 core, not {limits.cpu_cores}")
        if limits.cpu_cores > len(m.cores):
            have = f"{len(m.cores)} {'core' if len(m.cores) == 1 else 'cores'}"
            raise UsageError(f"{limits.cpu_cores} cores are asked for, but this machine has {have}")
        if limits.memory_mb is not None and limits.memory_mb > m.memory_mb:
            raise UsageError(
                f"{limits.memory_mb} MB of memory are asked for, but a run may have 1 to {m.memory_mb} MB"
            )
        if limits.gpus is not None and limits.gpus > len(m.gpus):
            have = f"GPUs {', '.join(m.gpus)}" if m.gpus else "no GPU"
            raise UsageError(f"{limits.gpus} GPUs are asked for, but this machine has {have}")

    def check_room(self) -> None:
        """See whether one more may wait.

        Raises:
            QueueFullError: No.
        """
        if len(self._waiting) >= self.capacity:
            raise QueueFullError(
                f"the queue is full: {self.capacity} trainings wait",
                fix="Wait until some are done, or cancel some",
            )

    def add(self, run_id: str, claim: Claim, priority: int, since: float, *, held: bool = False) -> None:
        """Let a run wait. A claim that outgrows the machine is cut to it: it was checked elsewhere."""
        m = self.machine
        fitting = Claim(
            min(claim.cores, len(m.cores)), min(claim.memory_mb, m.memory_mb), min(claim.gpus, len(m.gpus))
        )
        self._waiting[run_id] = Waiting(run_id, fitting, priority, since, held)

    def hold(self, run_id: str, held: bool) -> None:
        """Keep a run waiting for a person, or no longer."""
        if run_id in self._waiting:
            self._waiting[run_id] = replace(self._waiting[run_id], held=held)

    def drop(self, run_id: str) -> None:
        """It waits no more."""
        self._waiting.pop(run_id, None)

    def occupy(self, run_id: str, grant: Grant) -> None:
        """A run is there already: found again."""
        self._waiting.pop(run_id, None)
        self._granted[run_id] = grant

    def uses(self, run_id: str, memory_mb: float) -> None:
        """What a run really uses counts where it is more than it was expected to."""
        grant = self._granted.get(run_id)
        if grant is not None and memory_mb > grant.memory_mb:
            self._granted[run_id] = replace(grant, memory_mb=int(memory_mb) + 1)

    def release(self, run_id: str) -> None:
        """A run has ended."""
        self._granted.pop(run_id, None)

    def order(self, now: float) -> list[str]:
        """Ids of those that wait, the next one first."""
        return [waiting.run_id for waiting in self._ordered(now)]

    def granted(self, run_id: str) -> Grant | None:
        """What a run has."""
        return self._granted.get(run_id)

    def start(self, now: float, available_mb: float | None = None) -> list[tuple[str, Grant]]:
        """Hand out what is free.

        Args:
            now: On the clock of :meth:`add`.
            available_mb: Memory in MB that the system can give just now, whichever processes use the rest.

        Returns:
            Runs that are to start, with what is theirs.
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
        """What a run that waits waits for, as words; empty where there is room."""
        waiting = self._waiting.get(run_id)
        if waiting is None or waiting.held:
            return ""
        short = self._room(available_mb).lacking(waiting.claim)
        return " and ".join(short)

    def _ordered(self, now: float) -> list[Waiting]:
        return sorted(self._waiting.values(), key=lambda w: (-w.rank(now), w.since, w.run_id))

    def _room(self, available_mb: float | None) -> _Room:
        grants: Iterable[Grant] = self._granted.values()
        taken = {core for grant in grants for core in grant.cores}
        used = {gpu for grant in grants for gpu in grant.gpus}
        cores = [core for core in self.machine.cores if core not in taken]
        memory = self.machine.memory_mb - sum(grant.memory_mb for grant in grants)
        if available_mb is not None and self._granted:
            # Where nothing of ours runs, one is tried all the same: else a full machine ends all training.
            memory = min(memory, int(available_mb))
        return _Room(
            cores,
            memory,
            [gpu for gpu in self.machine.gpus if gpu not in used],
            max(len(cores) - sum(grant.elsewhere for grant in grants), 0),
        )


def _memory_mb() -> int:
    """Memory of this machine, or of the control group this process is in, where that is less."""
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    for limit in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            total = min(total, int(Path(limit).read_text()))
        except (OSError, ValueError):  # not there, or "max"
            continue
    return total // 2**20
