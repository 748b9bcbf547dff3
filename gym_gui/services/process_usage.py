"""What this program and everything it started use, read from outside the GUI thread."""

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
    """One sample.

    Attributes:
        workers: Worker processes that live.
        stopped: Those of them that are stopped and cannot answer.
        hosts: Session hosts.
        cpu: Processor time used since the sample before, in cores (1.0: one core busy).
        memory: Resident memory in bytes; shared pages count in each process.
    """

    workers: int = 0
    stopped: int = 0
    hosts: int = 0
    cpu: float = 0.0
    memory: int = 0


class ProcessSampler:
    """Walks our own process tree in ``/proc``: far cheaper than looking at every process there is.

    Where ``/proc`` does not tell children, psutil is asked.
    """

    def __init__(self, pid: int | None = None) -> None:
        self._pid = pid or os.getpid()
        self._roles: dict[tuple[int, int], str] = {}
        self._ticks: dict[int, int] = {}
        self._at = 0.0

    def sample(self, spare: int = 0) -> Usage:
        """Look at the tree now.

        Args:
            spare: A session host that no session has yet: its memory counts, and it does not.
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
    """What a process is, told by its command line."""
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
    # Every thread is asked, once a second: paths as text, files without buffers.
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
    """Of a small file of the kernel's; a list of children that is longer is read to its end."""
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
    """State letter, ticks used, resident bytes, which program it runs; ``None`` where it has ended."""
    try:
        text = _content(f"/proc/{pid}/stat")
    except OSError:
        return _status_by_psutil(pid) if not Path("/proc/self").exists() else None
    # The name in parentheses may hold spaces and parentheses.
    parts = text[text.rindex(b")") + 2 :].split()
    state = parts[0].decode()
    if state in "ZX":
        return None
    # Where its arguments end: before its exec a child has its parent's, in the midst of it none that show.
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
