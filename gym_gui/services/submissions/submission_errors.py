"""What goes wrong with a place where shards are played, and may pass; or here."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
from pathlib import Path
from typing import Final

from gym_gui.core.errors import MosaicError, UsageError

MOST_BYTES: Final = 64 << 30
"""What one part may bring at most."""
_LEAST_BYTES: Final = 1 << 16
_LEFT_BYTES, _LEFT_SHARE = 1 << 30, 20
"""Bytes, or one in so many of a smaller disk, that stay free while something comes."""
_FULL: Final = (errno.ENOSPC, errno.EDQUOT)


class HostAwayError(MosaicError):
    """A host, or a scheduler, cannot be reached, or does not answer."""


class HostFailedError(MosaicError):
    """It was reached, and what it was told to do has failed."""


class HereError(UsageError):
    """This machine cannot go on; what is being played elsewhere goes on without it."""


def raise_if_full(error: BaseException, where: Path) -> None:
    """Tell a full disk of this machine from trouble elsewhere.

    Args:
        error: What has failed; programs that copy do not always say why.
        where: The folder that was written to.

    Raises:
        HereError: There is no room.
    """
    code = error.errno if isinstance(error, OSError) else None
    full = shutil.disk_usage(where).free < _LEAST_BYTES
    if full or code in _FULL or any(os.strerror(each) in str(error) for each in _FULL):
        raise HereError(
            f"there is no room in {where}",
            fix="Make some, then resume it; running shards continue",
        ) from error


def raise_if_too_much(coming: Path, what: str, most: int = MOST_BYTES) -> None:
    """Have nothing that comes from elsewhere fill the disk here.

    Args:
        coming: The file or folder that grows.
        what: What it is, and who sends it.
        most: Bytes that it may have.

    Raises:
        HereError: There is hardly any room left.
        UsageError: It is more than that.
    """
    size = size_of(coming)
    if size > most:
        raise too_much(what, most)
    if not room_in(coming.parent):
        raise HereError(
            f"there is no room in {coming.parent}: {what} has {size / 2**20:.0f} MiB so far",
            fix="Look at it there, or make room, then resume it; running shards continue",
        )


def room_in(folder: Path) -> int:
    """Bytes that one part may bring there."""
    disk = shutil.disk_usage(folder)
    return max(0, min(MOST_BYTES, disk.free - min(_LEFT_BYTES, disk.total // _LEFT_SHARE)))


def too_much(what: str, most: int) -> UsageError:
    """Who sends that much is asked for nothing more."""
    return UsageError(
        f"{what} has more than {most / 2**30:.3g} GiB",
        fix="Look at it there; or make room here, or have more parts",
    )


def size_of(path: Path) -> int:
    """Bytes of a file, or of all files below a folder; some may be going just now."""
    found = 0
    for each in (path, *path.rglob("*")):
        with contextlib.suppress(FileNotFoundError):
            status = each.lstat()
            found += status.st_size if stat.S_ISREG(status.st_mode) else 0
    return found


def not_ours(place: str) -> UsageError:
    """A place is there that this submission did not put there: its commands are another person's."""
    return UsageError(
        f"{place} is there, and this submission did not put it there",
        fix="Look at it, and remove it: what is missing is played again",
    )
