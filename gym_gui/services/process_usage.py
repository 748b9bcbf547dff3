"""Measures the CPU and memory use of this program and of all processes that it started."""

from __future__ import annotations

import contextlib
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_WORKER: Final = ("mosaic_worker",)
_TICKS: Final = os.sysconf("SC_CLK_TCK")
_PAGE: Final = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True)
class Usage:
    """CPU and memory use of this program and of the processes that it started.

    Attributes:
        workers: Number of running worker processes.
        stopped: Number of these workers that are stopped by a signal and cannot answer.
        hosts: Number of session hosts.
        cpu: Processor time used since the previous sample, in cores (1.0: one busy core).
        memory: Resident memory in bytes. Shared pages count once for each process.
    """

    workers: int = 0
    stopped: int = 0
    hosts: int = 0
    cpu: float = 0.0
    memory: int = 0


class ProcessSampler:
    """Samples the process tree of this program from ``/proc``, far faster than by scanning all processes.

    Without ``/proc``, psutil is used.
    """

    def __init__(self, pid: int | None = None) -> None:
        self._pid = pid or os.getpid()
        self._roles: dict[tuple[int, int], str] = {}
        self._ticks: dict[int, int] = {}
        self._at = 0.0

    def sample(self, spare: int = 0) -> Usage:
        """Return the current CPU and memory use of the process tree.

        Args:
            spare: Process id of a session host without a session. It counts for ``memory`` but not for
                ``hosts``.
        """
        pids = [self._pid, *_descendants(self._pid)]
        workers = stopped = hosts = memory = ticks = 0
        seen: dict[int, int] = {}
        roles: dict[tuple[int, int], str] = {}
        for pid in pids:
            status = _status(pid)
            if status is None:
                continue
            state, used, resident, program = status
            key = (pid, program)
            role = roles[key] = self._roles.get(key) or self._role(pid)
            workers += role == "worker"
            hosts += role == "host" and pid != spare
            stopped += role == "worker" and state in "tT"
            memory += resident
            seen[pid] = used
            ticks += used - self._ticks.get(pid, 0 if self._at else used)
        now = time.monotonic()
        passed = now - self._at if self._at else 0.0
        cpu = max(ticks, 0) / _TICKS / passed if passed > 0 else 0.0
        self._at, self._ticks, self._roles = now, seen, roles
        return Usage(workers, stopped, hosts, cpu, memory)

    def _role(self, pid: int) -> str:
        return "window" if pid == self._pid else _role(_command(pid))


def _role(command: list[str]) -> str:
    """Return the role of a process, judged by its command line: ``host``, ``worker`` or ``other``."""
    if "gym_gui.host" in command:
        return "host"
    if any(part in _WORKER or part.endswith("mosaic_worker/launch.py") for part in command[1:5]):
        return "worker"
    return "other"


def _descendants(pid: int) -> list[int]:
    found: list[int] = []
    waiting = [pid]
    while waiting:
        parent = waiting.pop()
        children = _children(parent)
        found += children
        waiting += children
    return found


def _children(pid: int) -> list[int]:
    # All threads are read once a second, so this uses paths as text and files without buffers for speed.
    tasks = f"/proc/{pid}/task"
    result: list[int] = []
    try:
        threads = [entry.name for entry in os.scandir(tasks)]
    except OSError:
        return [] if Path("/proc/self").exists() else _children_by_psutil(pid)
    for thread in threads:
        with contextlib.suppress(OSError):
            result += map(int, _content(f"{tasks}/{thread}/children").split())
    return result


def _content(path: str) -> bytes:
    """Return the whole content of a small kernel file, with more reads for a long list of children."""
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        text = part = os.read(file, 4096)
        while part:
            text += (part := os.read(file, 4096))
        return text
    finally:
        os.close(file)


def _children_by_psutil(pid: int) -> list[int]:
    import psutil

    try:
        return [child.pid for child in psutil.Process(pid).children()]
    except psutil.Error:
        return []


def _status(pid: int) -> tuple[str, int, int, int] | None:
    """Return state letter, used ticks, resident bytes and a number for the running program.

    Return ``None`` if the process has ended.
    """
    try:
        text = _content(f"/proc/{pid}/stat")
    except OSError:
        return _status_by_psutil(pid) if not Path("/proc/self").exists() else None
    # The name in parentheses may hold spaces and parentheses.
    parts = text[text.rindex(b")") + 2 :].split()
    state = parts[0].decode()
    if state in "ZX":
        return None
    # parts[46] is the address where the arguments end (arg_end). It changes when the process calls exec:
    # before, a child has its parent's value, and during exec it has none.
    return state, int(parts[11]) + int(parts[12]), int(parts[21]) * _PAGE, int(parts[46])


def _status_by_psutil(pid: int) -> tuple[str, int, int, int] | None:
    import psutil

    try:
        process = psutil.Process(pid)
        times = process.cpu_times()
        state = "T" if process.status() == psutil.STATUS_STOPPED else "R"
        return state, int((times.user + times.system) * _TICKS), process.memory_info().rss, 0
    except psutil.Error:
        return None


def _command(pid: int) -> list[str]:
    try:
        data = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return []
    return [part.decode(errors="replace") for part in data.split(b"\0") if part]
