"""Finding and ending every process that descends from one of ours.

Children inherit the environment, so a tag put there marks the whole tree: also those
that left their process group (Ray does) or whose parent is gone. ``/proc`` is the only
place that knows; elsewhere the tree is what psutil finds below the process.
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
"""Environment variable that holds the tags of the trees a process belongs to, colon-separated."""

_PR_SET_CHILD_SUBREAPER = 36


_program: dict[int, str] = {}


def program_tag() -> str:
    """The tag of everything that this process starts; a forked child of it has its own."""
    here = os.getpid()
    if here not in _program:
        _program[here] = f"{here}-{os.urandom(8).hex()}"
    return _program[here]


def tagged(environment: dict[str, str], tag: str) -> dict[str, str]:
    """``environment`` with ``tag`` added to the trees that a child will belong to."""
    return {**environment, TAG: f"{os.environ.get(TAG) or program_tag()}:{tag}"}


def adopt_orphans() -> None:
    """Make this process the parent of descendants whose own parent ends (Linux)."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def members(tag: str) -> Iterator[int]:
    """Process ids of all living processes of the tree, this one excepted."""
    return (pid for pid, belongs in _look(tag) if belongs)


def _look(tag: str) -> Iterator[tuple[int, bool]]:
    """Members of a tree, and (with ``False``) processes that may turn out to be one."""
    needle = tag.encode()
    for entry in Path("/proc").iterdir() if sys.platform == "linux" else ():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        with contextlib.suppress(OSError):
            environment = (entry / "environ").read_bytes()
            if not environment:
                # Kernel threads and processes that are being torn down have no program: an OSError.
                # One that is in the midst of ``exec`` has, and shows its environment in a moment.
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
    """SIGKILL every member of the tree until none is left.

    A process that is being torn down has no environment any more and still runs: what was
    killed is waited for by its id. One that is becoming another program shows none yet: it
    is looked at again.

    Args:
        tag: Of the tree.
        rounds: Of 10 ms, after which it is given up.
        found: Takes the process ids of all that were killed.

    Returns:
        How many were still there after ``rounds`` rounds of 10 ms (0 unless stuck in the kernel).
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
    """SIGKILL descendants of this process that threw their environment away and lost their parent.

    They have become its children (:func:`adopt_orphans`). What this process starts itself bears the
    tag of the tree that it belongs to; where it belongs to none, nothing is done.
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
        # Without arguments it is in the midst of ``exec``, or over.
        return tag not in (place / "environ").read_bytes() and (place / "cmdline").read_bytes() != b""
    except OSError:
        return False


def signal_name(number: int) -> str:
    """``signal 9, SIGKILL``; real-time signals have no name of their own."""
    try:
        return f"signal {number}, {signal.Signals(number).name}"
    except ValueError:
        return f"signal {number}"


def resident_mb(tag: str) -> float:
    """Resident memory of the tree in MB (shared pages counted once per process)."""
    return sum(map(own_mb, members(tag)))


def own_mb(pid: int) -> float:
    """Resident memory of one process in MB; 0 where it is gone."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20
    return 0.0


def proportional_mb(tag: str) -> float:
    """Memory of the tree in MB, each shared page counted once; dearer to find than :func:`resident_mb`."""
    return sum(map(_own_share_mb, members(tag)))


def _own_share_mb(pid: int) -> float:
    with contextlib.suppress(OSError, ValueError, IndexError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) / 1024
    return own_mb(pid)
