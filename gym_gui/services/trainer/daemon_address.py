"""Finds the single daemon of a data folder, and makes sure that there is only one.

A daemon holds the lock of ``training/daemon.lock`` in the data folder for its whole life and writes its
address into that file. Socket and token are in a private folder of the runtime files, because the data
folder's path may be too long for sockets, or its disk may not support them.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import secrets
import shutil
import socket
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

from gym_gui.core.errors import UsageError
from gym_gui.services.store import Store

LOCK, LOG = "daemon.lock", "daemon.log"
NOTIFY = "MOSAIC_DAEMON_NOTIFY"
"""Environment variable with the file descriptor that gets ``ready`` once a daemon listens."""
_TRIES, _TRY_S = 20, 0.05


@dataclass(frozen=True)
class Address:
    """Address of a daemon.

    Attributes:
        pid: Process id of the daemon.
        socket: Path of its Unix socket.
        token: Path of the file with its token.
        version: Its version of MOSAIC.
        tcp: ``host:port`` if it also listens there; empty otherwise.
    """

    pid: int
    socket: str
    token: str
    version: str = ""
    tcp: str = ""

    def read_token(self) -> str:
        """Return the token.

        Raises:
            UsageError: The file is gone or cannot be read.
        """
        try:
            return Path(self.token).read_text(encoding="ascii").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(
                f"the token of the trainer daemon (process {self.pid}) cannot be read: {error}",
                fix="Stop the daemon (`mosaic daemon --stop`) and start it again",
            ) from error


class DaemonRunningError(UsageError):
    """Error for a data folder that another daemon serves already."""


class DaemonLock:
    """Lock, private folder and token of a running daemon.

    Args:
        store: Provides the folders.

    Attributes:
        folder: Private folder of the socket and the token.
        token: Token that clients must send.

    Raises:
        DaemonHeldError: Another daemon serves the data folder. The message says which.
        UsageError: The folders cannot be used.
    """

    def __init__(self, store: Store) -> None:
        self._path = store.data_dir("training") / LOCK
        self._lock = _locked(self._path)
        self.token = secrets.token_urlsafe(24)
        self.folder = _runtime_folder(store)
        try:
            self._make()
        except BaseException:
            os.close(self._lock)
            raise

    def _make(self) -> None:
        if answers(self.socket):
            raise UsageError(
                f"another process listens on {self.socket}",
                fix="End that process, or set MOSAIC_RUNTIME_DIR to another folder",
            )
        # Remove the files of an earlier daemon that was killed.
        shutil.rmtree(self.folder, ignore_errors=True)
        try:
            self.folder.mkdir(mode=0o700)
            token = os.open(self.token_file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(token, "w") as file:
                file.write(self.token)
        except OSError as error:
            raise UsageError(
                f"{self.folder} cannot be created: {error.strerror}", fix="Remove that folder"
            ) from error

    @property
    def socket(self) -> Path:
        """Path of the Unix socket."""
        return self.folder / "s"

    @property
    def token_file(self) -> Path:
        """Path of the file with the token."""
        return self.folder / "token"

    def announce(self, version: str, tcp: str = "") -> None:
        """Write the daemon's address into the lock file, once it listens."""
        address = Address(os.getpid(), str(self.socket), str(self.token_file), version, tcp)
        data = json.dumps(asdict(address)).encode() + b"\n"
        os.ftruncate(self._lock, 0)
        os.pwrite(self._lock, data, 0)

    @property
    def lost(self) -> bool:
        """Whether the lock file was removed or replaced."""
        try:
            return self._path.stat().st_ino != os.fstat(self._lock).st_ino
        except OSError:
            return True

    def release(self) -> None:
        """Remove the private folder and release the lock."""
        shutil.rmtree(self.folder, ignore_errors=True)
        with contextlib.suppress(OSError):
            os.ftruncate(self._lock, 0)
        os.close(self._lock)


def log_file(store: Store) -> Path:
    """Return the log file of a daemon that runs without a terminal."""
    return store.data_dir("training") / LOG


def find(store: Store) -> Address | None:
    """Return the address of a data folder's daemon.

    Returns:
        The address, or ``None`` if there is no daemon or it does not listen yet.

    Raises:
        UsageError: The data folder cannot be used.
    """
    path = store.data_dir("training") / LOCK
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    try:
        if not _held(file):
            return None
        return _address_of(os.pread(file, 1 << 16, 0))
    finally:
        os.close(file)


def answers(path: Path) -> bool:
    """Return whether a process listens on a socket."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as trial:
        trial.settimeout(5.0)
        try:
            trial.connect(str(path))
        except OSError:
            return False
    return True


def _locked(path: Path) -> int:
    try:
        lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from error
    for _ in range(_TRIES):
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            time.sleep(_TRY_S)  # another process may hold the lock briefly to check for a daemon
        else:
            os.ftruncate(lock, 0)  # remove the address of the earlier daemon
            return lock
    holder = _address_of(os.pread(lock, 1 << 16, 0))
    os.close(lock)
    who = f"process {holder.pid}" if holder else "it is just starting"
    raise DaemonRunningError(
        f"a trainer daemon serves {path.parent.parent} already ({who})",
        fix="Use that daemon, or stop it: mosaic daemon --stop",
    )


def _held(file: int) -> bool:
    """Return whether a process holds the lock. This call takes a shared lock for a moment."""
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    fcntl.flock(file, fcntl.LOCK_UN)
    return False


def _address_of(data: bytes) -> Address | None:
    try:
        value = json.loads(data)
        fields = cast("dict[str, Any]", value)
        return Address(**{name: fields[name] for name in Address.__dataclass_fields__ if name in fields})
    except (ValueError, TypeError):
        return None


def _runtime_folder(store: Store) -> Path:
    name = hashlib.sha256(os.fsencode(store.data.resolve())).hexdigest()[:12]
    return store.runtime_dir() / f"trainer-{name}"
