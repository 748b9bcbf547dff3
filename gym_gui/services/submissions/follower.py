"""Starts, finds and ends the single process that follows a submission: that plays and records its shards."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gym_gui.core.errors import UsageError, WorkerLaunchError
from gym_gui.processes.tree import TAG
from gym_gui.services.last_log_line import last_log_line
from gym_gui.services.run_lock import is_being_written, lock_run
from gym_gui.services.submissions.submission_record import Submission
from mosaic_worker.plain_files import open_file, read_file, replace_file

LOG: Final = "follow.log"
"""Log of a follower that was started as a detached process."""
_WHO: Final = "followed-by"
_BEGUN_S: Final = 60.0
_LOOK_S: Final = 0.05
_MOST_BYTES: Final = 4096


@dataclass(frozen=True)
class Follower:
    """A process that follows a submission: that plays its shards and records their progress.

    Attributes:
        machine: Machine of the process; empty if unknown.
        pid: Process id on that machine; 0 if unknown.
    """

    machine: str = ""
    pid: int = 0

    @property
    def is_here(self) -> bool:
        """Whether the process is on this machine and can be signaled."""
        return self.machine == socket.gethostname() and self.pid > 0


@contextmanager
def following(folder: Path) -> Generator[None]:
    """Hold the lock of a submission for the time that this process follows the submission.

    Raises:
        UsageError: Another process follows the submission, or its folder cannot be written.
    """
    lock = lock_run(folder)
    who = folder / _WHO
    try:
        replace_file(who, f"{socket.gethostname()} {os.getpid()}\n".encode(), mode=0o600, sync=False)
        yield
    except OSError as error:
        if error.filename is None or Path(error.filename).parent != folder:
            raise
        raise UsageError(f"{folder} cannot be written: {error.strerror}") from error
    finally:
        with contextlib.suppress(OSError):
            who.unlink()
        os.close(lock)


def follower_of(folder: Path) -> Follower | None:
    """Return the process that follows a submission, or ``None`` if no such process is visible.

    Locks of another machine may be invisible here. A process that the folder names counts as the follower
    only if there is a lock.
    """
    try:
        if not is_being_written(folder):
            return None
        machine, number = read_file(folder / _WHO, limit=_MOST_BYTES).decode().split()
        pid = int(number)
        # The file may contain anything, and the process that it names may be signaled. So check the process.
        believed = machine != socket.gethostname() or _has_open(pid, folder)
        return Follower(machine, pid) if believed else Follower()
    except FileNotFoundError:
        return Follower() if folder.is_dir() else None
    except (OSError, ValueError):
        return Follower()


def begin_following(submission: Submission) -> None:
    """Start a detached process that follows a submission and writes its output to the submission's log.

    Args:
        submission: The submission, as it is on disk.

    Raises:
        UsageError: The submission cannot be resumed. The message is that of the process.
        WorkerLaunchError: That process could not be started.
    """
    folder = submission.folder
    command = [sys.executable, "-P", "-m", "gym_gui", submission.command, "--resume", str(folder.absolute())]
    # The follower gets no tag, because all processes with a program's tag are ended with the program.
    environment = {name: value for name, value in os.environ.items() if name != TAG}
    try:
        with open_file(folder / LOG, "ab", permissions=0o600) as said:
            began = said.tell()
            process = subprocess.Popen(
                command,
                env={**environment, "PYTHONUNBUFFERED": "1"},
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                start_new_session=True,
            )
    except OSError as error:
        raise WorkerLaunchError(f"no process could be started to follow {folder}: {error}") from error
    deadline = time.monotonic() + _BEGUN_S
    while process.poll() is None and follower_of(folder) is None and time.monotonic() < deadline:
        time.sleep(_LOOK_S)
    if process.poll() not in (None, 0):
        raise UsageError(
            last_log_line(folder / LOG, began) or f"the process ended at once; its log is {folder / LOG}"
        )


def end_following(folder: Path, follower: Follower) -> None:
    """Make the follower of a submission end the current shards, and wait for the follower's end.

    Raises:
        UsageError: The follower is on another machine.
    """
    if not follower.is_here:
        where = f" on {follower.machine}" if follower.machine else ""
        raise UsageError(f"{folder} is followed by another process{where}", fix="Press Ctrl+C there")
    with contextlib.suppress(ProcessLookupError):
        os.kill(follower.pid, signal.SIGTERM)
    while follower_of(folder) == follower:
        time.sleep(_LOOK_S)


def _has_open(pid: int, folder: Path) -> bool:
    """Return whether a process of this machine has a folder open, as a process that locks it must."""
    wanted = folder.stat()
    try:
        held = list(os.scandir(f"/proc/{pid}/fd"))
    except OSError:  # it has ended, or belongs to another user
        return False
    for each in held:
        with contextlib.suppress(OSError):
            if os.path.samestat(each.stat(), wanted):
                return True
    return False
