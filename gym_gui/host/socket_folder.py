"""Folder for one socket that is removed even if all processes that should remove it are killed."""

from __future__ import annotations

import fcntl
import os
import re
import secrets
import shutil
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

_NAME = re.compile(r"h[0-9a-f]{12}")


class SocketFolder:
    """New private folder for a socket, locked as long as this process needs it.

    The kernel releases the lock when the process ends, for whatever reason. The next process that makes
    such a folder removes all unlocked folders.

    Args:
        runtime: Parent folder, which only the user can read.

    Raises:
        OSError: The folder cannot be made.
    """

    def __init__(self, runtime: Path) -> None:
        with _locked(runtime):  # no other process sees the folder before it is locked
            _sweep(runtime)
            self.path = runtime / f"h{secrets.token_hex(6)}"
            self.path.mkdir(mode=0o700)
            self._lock: int | None = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY)
            with suppress(OSError):  # a file system without locks, where no process sweeps
                fcntl.flock(self._lock, fcntl.LOCK_EX)

    def remove(self) -> None:
        """Remove the folder with its contents."""
        if self._lock is not None:
            shutil.rmtree(self.path, ignore_errors=True)
            os.close(self._lock)
            self._lock = None


@contextmanager
def _locked(folder: Path) -> Generator[None]:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _sweep(runtime: Path) -> None:
    """Remove the socket folders of processes that were killed."""
    for entry in runtime.iterdir():
        if _NAME.fullmatch(entry.name) is None:
            continue
        with suppress(OSError):
            handle = os.open(entry, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(entry, ignore_errors=True)
            finally:
                os.close(handle)
