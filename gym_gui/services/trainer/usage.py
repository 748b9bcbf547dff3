"""Measures the CPU and memory use of process trees (Linux: ``/proc``)."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE_MB = os.sysconf("SC_PAGE_SIZE") / 2**20


@dataclass(frozen=True)
class Usage:
    """CPU and memory use of a process tree.

    Attributes:
        cpu_percent: CPU use since the previous call, in percent of one core.
        memory_mb: Resident memory in MB.
    """

    cpu_percent: float = 0.0
    memory_mb: float = 0.0


@dataclass(frozen=True)
class _Seen:
    parent: int
    cpu_s: float
    memory_mb: float


class UsageMeter:
    """Measures process trees. Each call of :meth:`measure` reads ``/proc`` once for all trees."""

    def __init__(self) -> None:
        self._before: dict[int, float] = {}
        self._at = time.monotonic()

    def measure(self, roots: Iterable[int]) -> dict[int, Usage]:
        """Return the use of each tree by the process id of its root; 0 for a root that has ended."""
        wanted = set(roots)
        if not wanted:
            self._before = {}
            return {}
        seen, now = _processes(), time.monotonic()
        passed, found = max(now - self._at, 1e-3), dict.fromkeys(wanted, Usage())
        cpu: dict[int, float] = {}
        for pid, process in seen.items():
            root = _root(pid, seen, wanted)
            if root:
                cpu[pid] = process.cpu_s
                # A new process has used all of its time since the previous call.
                share = max(process.cpu_s - self._before.get(pid, 0.0), 0.0) / passed * 100.0
                so_far = found[root]
                found[root] = Usage(so_far.cpu_percent + share, so_far.memory_mb + process.memory_mb)
        first = not self._before
        self._before, self._at = cpu, now
        return {pid: Usage(0.0, usage.memory_mb) for pid, usage in found.items()} if first else found


def available_mb() -> float:
    """Return the memory in MB that the system can provide without swapping."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) / 1024
    return os.sysconf("SC_AVPHYS_PAGES") * _PAGE_MB


def _root(pid: int, seen: Mapping[int, _Seen], wanted: set[int]) -> int:
    """Return the wanted process that ``pid`` is or descends from; 0 if there is none."""
    for _ in range(64):
        if pid in wanted:
            return pid
        process = seen.get(pid)
        if process is None or process.parent <= 1:
            return 0
        pid = process.parent
    return 0


def _processes() -> dict[int, _Seen]:
    seen: dict[int, _Seen] = {}
    for entry in Path("/proc").iterdir() if Path("/proc/self/stat").exists() else ():
        if entry.name.isdigit():
            with contextlib.suppress(OSError, ValueError, IndexError):
                # Read the fields after the program's name, as the name may contain anything.
                fields = (entry / "stat").read_bytes().rpartition(b")")[2].split()
                cpu_s = (int(fields[11]) + int(fields[12])) / _TICKS
                seen[int(entry.name)] = _Seen(int(fields[1]), cpu_s, int(fields[21]) * _PAGE_MB)
    return seen
