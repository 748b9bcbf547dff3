"""Finding the processes a test started, and proving that none is left."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import psutil

from gym_gui.processes.tree import members
from tests.support.waiting import LONG_S, eventually

_MARK = "MOSAIC_TEST"


class Offspring:
    """All processes that carry a tag: those a test started, and whatever these started.

    Attributes:
        tag: In the environment of each of them.
    """

    def __init__(self, tag: str) -> None:
        self.tag = tag

    @property
    def variables(self) -> dict[str, str]:
        """What makes a process one of these."""
        return {_MARK: self.tag}

    def pids(self) -> list[int]:
        """Those that live now."""
        return list(members(self.tag))

    def command_lines(self) -> dict[int, list[str]]:
        """Arguments of each, as ``ps`` shows them."""
        lines: dict[int, list[str]] = {}
        for pid in self.pids():
            with contextlib.suppress(psutil.Error):
                lines[pid] = psutil.Process(pid).cmdline()
        return lines

    def find(self, *words: str) -> list[int]:
        """Those whose arguments include all of ``words``, oldest first."""
        found = [pid for pid, line in self.command_lines().items() if all(w in line for w in words)]
        return sorted(found)

    def hosts(self, operator: str) -> list[int]:
        """Session host processes of an operator, by their arguments or by the name that they have."""
        ahead = self.find("gym_gui.host")
        named = [pid for pid in ahead if _comm(pid) == operator[:15]]
        return sorted({*named, *self.find("gym_gui.host", operator)})

    def workers(self, operator: str, worker: str = "operators_worker") -> list[int]:
        """Worker processes of an operator."""
        return self.find("mosaic_worker", worker, "--operator", operator)

    def assert_none(self, within: float = LONG_S) -> None:
        """Fail when one is left after so many seconds; ends it, so that the next test is undisturbed."""
        try:
            eventually(lambda: not self.pids(), "every process ended", within)
        except AssertionError:
            left = self.command_lines()
            self.kill()
            raise AssertionError(f"left behind: {left}") from None

    def kill(self) -> None:
        """End them all."""
        while pids := self.pids():
            for pid in pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)


def _comm(pid: int) -> str:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_text().strip()
    return ""


def alive(pid: int) -> bool:
    """Whether a process lives and is no zombie."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def strangers(*places: Path) -> set[Path]:
    """Everything in folders that must be left empty: sockets, shared memory."""
    return {entry for place in places if place.is_dir() for entry in _walk(place)}


def abandoned(entries: set[Path]) -> set[Path]:
    """Those of some files that exist and that no living process has open or mapped.

    Shared memory that a living process holds belongs to another program: processes that the test started
    have ended. Shared memory of a Doom engine that another test has killed stays until the next game
    (test_vizdoom.py).
    """
    if not entries:
        return set()  # to ask all processes what they hold takes as long as most tests
    held = {
        inode for process in Path("/proc").iterdir() if process.name.isdigit() for inode in _held(process)
    }
    found: set[Path] = set()
    for entry in entries:
        with contextlib.suppress(OSError):
            doom = entry.name.startswith("ViZDoom")
            if not doom and entry.is_file() and entry.stat().st_ino not in held:
                found.add(entry)
    return found


def _held(process: Path) -> Iterator[int]:
    """Inodes of files that a process has open or mapped."""
    with contextlib.suppress(OSError):
        for line in (process / "maps").read_text().splitlines():
            words = line.split(maxsplit=5)
            if len(words) == 6 and words[5].startswith("/dev/shm/"):
                yield int(words[4])
    with contextlib.suppress(OSError):
        for handle in (process / "fd").iterdir():
            with contextlib.suppress(OSError):
                if str(handle.readlink()).startswith("/dev/shm/"):
                    yield handle.stat().st_ino


def _walk(folder: Path) -> Iterator[Path]:
    # A folder may vanish while it is read: that is what is being waited for.
    with contextlib.suppress(FileNotFoundError):
        yield from folder.rglob("*")
