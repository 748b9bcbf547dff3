"""Folders that MOSAIC writes to, created on first use."""

from __future__ import annotations

import os
import stat
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from gym_gui.core import paths
from gym_gui.core.errors import UsageError

_SOCKET_PATH_BYTES = 107
"""Longest path of a Unix socket on Linux in bytes (``sun_path`` without its terminating zero)."""
_SOCKET_NAME_BYTES = 40
"""Bytes that are reserved for the socket's own name."""


@dataclass(eq=False)
class Store:
    """Paths of the folders that MOSAIC writes to. The methods create a folder if it does not exist.

    Attributes:
        data: Folder of the user's workers, policies and presets.
        runs: Folder of run folders. It may change while the window is open, but a current run stays in
            its folder.
        cache: Folder of files that can be created again.
        runtime: Folder of sockets; ``None`` for the default.
    """

    data: Path = field(default_factory=paths.data_dir)
    runs: Path = field(default_factory=paths.runs_dir)
    cache: Path = field(default_factory=paths.cache_dir)
    runtime: Path | None = None

    def data_dir(self, *parts: str) -> Path:
        """Return a folder below the data folder. Folders that are created are private (mode 0700).

        Raises:
            UsageError: The folder cannot be created. The message names the variable that changes its path.
        """
        folder = self.data
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            folder.mkdir(mode=0o700, exist_ok=True)
            for part in parts:
                folder /= part
                folder.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise _cannot_make(folder, error, "MOSAIC_DATA_DIR") from error
        return folder

    def runs_dir(self) -> Path:
        """Return the default folder of run folders. Raises like :meth:`data_dir`."""
        return _made_folder(self.runs, "MOSAIC_RUNS_DIR")

    def cache_dir(self, *parts: str) -> Path:
        """Return a folder below the cache folder. Raises like :meth:`data_dir`."""
        return _made_folder(self.cache.joinpath(*parts), "MOSAIC_CACHE_DIR")

    def runtime_dir(self) -> Path:
        """Return a private folder (mode 0700) for sockets, with a path that is short enough for them.

        The folder is ``MOSAIC_RUNTIME_DIR``, else one in ``XDG_RUNTIME_DIR``, else one in the system's
        temporary folder.

        Raises:
            UsageError: The folder cannot be created, its path is too long, or it belongs to another user,
                who could then read and answer messages.
        """
        folder = self.runtime or _runtime_candidate()
        _check_length(folder)
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            # lstat, because a link that another user put into a shared folder must be refused too.
            status = folder.lstat()
            if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
                raise UsageError(
                    f"{folder} belongs to another user",
                    fix="Set MOSAIC_RUNTIME_DIR to a folder of your own",
                )
            if stat.S_IMODE(status.st_mode) != 0o700:
                folder.chmod(0o700)
        except OSError as error:
            raise _cannot_make(folder, error, "MOSAIC_RUNTIME_DIR") from error
        return folder


def _runtime_candidate() -> Path:
    given = os.environ.get("MOSAIC_RUNTIME_DIR", "").strip()
    if given:
        return Path(given).expanduser().absolute()
    base = os.environ.get("XDG_RUNTIME_DIR", "").strip()
    # A container may name a folder that does not exist. A folder with a long path cannot hold sockets.
    if base and Path(base).is_dir() and os.access(base, os.W_OK) and _fits(Path(base) / "mosaic"):
        return Path(base) / "mosaic"
    temporary = Path(tempfile.gettempdir())
    name = f"mosaic-{os.getuid()}"
    return temporary / name if _fits(temporary / name) else Path("/tmp") / name


def _fits(folder: Path) -> bool:
    return len(os.fsencode(folder)) + 1 + _SOCKET_NAME_BYTES <= _SOCKET_PATH_BYTES


def _check_length(folder: Path) -> None:
    if not _fits(folder):
        longest = _SOCKET_PATH_BYTES - _SOCKET_NAME_BYTES - 1
        raise UsageError(
            f"{folder} is too long a path for sockets (at most {longest} bytes)",
            fix="Set MOSAIC_RUNTIME_DIR to a shorter one",
        )


def _made_folder(folder: Path, variable: str) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _cannot_make(folder, error, variable) from error
    return folder


def _cannot_make(folder: Path, error: OSError, variable: str) -> UsageError:
    reason = error.strerror or str(error)
    return UsageError(f"folder {folder} cannot be created: {reason}", fix=f"Set {variable} to another")
