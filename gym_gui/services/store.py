"""The folders MOSAIC writes to, made when first asked for."""

from __future__ import annotations

import os
import stat
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from gym_gui.core import paths
from gym_gui.core.errors import UsageError

_SOCKET_PATH_BYTES = 107
"""Longest path of a Unix socket on Linux (``sun_path`` less its terminating zero)."""
_SOCKET_NAME_BYTES = 40
"""Room that is kept for the socket's own name."""


@dataclass(eq=False)
class Store:
    """Where things live. Every property makes its folder if it is not there.

    Attributes:
        data: Workers, policies, presets of the user.
        runs: Run folders. May be moved while the window is open: a run that is on stays where it began.
        cache: What can be made again.
        runtime: Sockets; empty for the default.
    """

    data: Path = field(default_factory=paths.data_dir)
    runs: Path = field(default_factory=paths.runs_dir)
    cache: Path = field(default_factory=paths.cache_dir)
    runtime: Path | None = None

    def data_dir(self, *parts: str) -> Path:
        """A folder below the data folder; what is made of them is private (mode 0700).

        Raises:
            UsageError: It cannot be made; names the variable that moves it.
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
        """Where run folders go when no other place is given; raises as :meth:`data_dir`."""
        return _made_folder(self.runs, "MOSAIC_RUNS_DIR")

    def cache_dir(self, *parts: str) -> Path:
        """A folder below the cache folder; raises as :meth:`data_dir`."""
        return _made_folder(self.cache.joinpath(*parts), "MOSAIC_CACHE_DIR")

    def runtime_dir(self) -> Path:
        """A private folder (mode 0700) for sockets, with a path short enough for them.

        ``MOSAIC_RUNTIME_DIR``, else a folder in ``XDG_RUNTIME_DIR``, else one in the
        system's temporary folder.

        Raises:
            UsageError: The folder cannot be made, is too deep, or belongs to another user
                (who could then read and answer our messages).
        """
        folder = self.runtime or _runtime_candidate()
        _check_length(folder)
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            # lstat: a link planted in a shared folder is not ours either.
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
    # A container may name a folder that does not exist; a deep one is no use for sockets.
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
    return UsageError(f"folder {folder} cannot be made: {reason}", fix=f"Set {variable} to one that can")
