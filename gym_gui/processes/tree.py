"""Finds and ends all processes that descend from a child of this program.

Children inherit the environment, so a tag in it marks the whole tree, including processes that left their
process group (as Ray's do) or whose parent has ended. The tags are read from ``/proc``, which exists only on
Linux.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

TAG = "MOSAIC_TREE"
"""Environment variable with the tags of the process trees that a process belongs to, separated by colons."""

_PR_SET_CHILD_SUBREAPER = 36


_program: dict[int, str] = {}


def program_tag() -> str:
    """Return the tag of all processes that this process starts. A forked child has its own tag."""
    here = os.getpid()
    if here not in _program:
        _program[here] = f"{here}-{os.urandom(8).hex()}"
    return _program[here]


def tagged(environment: dict[str, str], tag: str) -> dict[str, str]:
    """Return ``environment`` with ``tag`` added to the tags of the process trees of a future child."""
    return {**environment, TAG: f"{os.environ.get(TAG) or program_tag()}:{tag}"}


def adopt_orphans() -> None:
    """Make this process the parent of descendants whose own parent has ended (Linux)."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def members(tag: str) -> Iterator[int]:
    """Return the process ids of all living processes of a process tree except this one."""
    return (pid for pid, belongs in _look(tag) if belongs)


def _look(tag: str) -> Iterator[tuple[int, bool]]:
    """Yield processes with whether they are members of a tree; ``False`` if that is not known yet."""
    needle = tag.encode()
    for entry in Path("/proc").iterdir() if sys.platform == "linux" else ():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        with contextlib.suppress(OSError):
            environment = (entry / "environ").read_bytes()
            if not environment:
                # Kernel threads and processes that are being torn down have no program: an OSError.
                # A process in the middle of ``exec`` has one, and shows its environment in a moment.
                (entry / "exe").readlink()
                arguments = (entry / "cmdline").read_bytes()
                environment = (entry / "environ").read_bytes()
                if not environment and not arguments:
                    yield int(entry.name), False
            if needle in environment and not _is_zombie(entry):
                yield int(entry.name), True


def _is_zombie(entry: Path) -> bool:
    return (entry / "stat").read_bytes().rpartition(b")")[2].split()[0] in (b"Z", b"X")


def _is_over(pid: int) -> bool:
    try:
        return _is_zombie(Path("/proc") / str(pid))
    except OSError:
        return True


def kill_tree(tag: str, *, rounds: int = 300, found: set[int] | None = None) -> int:
    """Kill all members of a process tree with SIGKILL until none is left.

    A process that is being torn down has no environment any more and still runs, so this function waits for
    killed processes by their ids. A process in the middle of ``exec`` has no environment yet and is checked
    again.

    Args:
        tag: Tag of the tree.
        rounds: Number of rounds of 10 ms after which the attempt ends.
        found: Set to which the process ids of all killed processes are added.

    Returns:
        Number of processes that still ran after the last round (0 unless one is stuck in the kernel).
    """
    left: set[int] = set()
    for _ in range(rounds):
        seen = dict(_look(tag))
        living = {pid for pid, belongs in seen.items() if belongs}
        if found is not None:
            found |= living
        left = living | {pid for pid in left if not _is_over(pid)}
        if not left and len(living) == len(seen):
            return 0
        for pid in living:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)
    return len(left)


def kill_strays() -> None:
    """Kill descendants of this process that removed their tag and whose parent has ended, with SIGKILL.

    Such descendants have become children of this process (:func:`adopt_orphans`). Processes that this process
    itself starts have the tag of its own tree; if it belongs to no tree, nothing is killed.
    """
    tag = os.environ.get(TAG, "").encode()
    if not tag or sys.platform != "linux":
        return
    while strays := [pid for pid in _children() if _is_stray(pid, tag)]:
        for pid in strays:
            with contextlib.suppress(ProcessLookupError, PermissionError, ChildProcessError):
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)


def _children() -> list[int]:
    found: list[int] = []
    for thread in Path("/proc/self/task").iterdir():
        with contextlib.suppress(OSError):  # a thread that has just ended
            found += map(int, (thread / "children").read_text().split())
    return found


def _is_stray(pid: int, tag: bytes) -> bool:
    try:
        place = Path(f"/proc/{pid}")
        # A process without arguments is in the middle of ``exec``, or has ended.
        return tag not in (place / "environ").read_bytes() and (place / "cmdline").read_bytes() != b""
    except OSError:
        return False


def signal_name(number: int) -> str:
    """Return a signal as text: ``signal 9, SIGKILL``; real-time signals have only the number."""
    try:
        return f"signal {number}, {signal.Signals(number).name}"
    except ValueError:
        return f"signal {number}"


def resident_mb(tag: str) -> float:
    """Return the resident memory of a process tree in MB; shared pages count once per process."""
    return sum(map(process_mb, members(tag)))


def process_mb(pid: int) -> float:
    """Return the resident memory of one process in MB; 0 if it has ended."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20
    return 0.0


def proportional_mb(tag: str) -> float:
    """Return the memory of a process tree in MB with shared pages counted once.

    Slower than :func:`resident_mb`.
    """
    return sum(map(_own_share_mb, members(tag)))


def _own_share_mb(pid: int) -> float:
    with contextlib.suppress(OSError, ValueError, IndexError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) / 1024
    return process_mb(pid)
