"""Errors of hosts that play shards and of this machine, and checks of the free disk space."""

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
"""Largest number of bytes that one shard or training may send."""
_LEAST_BYTES: Final = 1 << 16
_LEFT_BYTES, _LEFT_SHARE = 1 << 30, 20
"""Bytes that stay free during a copy: ``_LEFT_BYTES``, or one part in ``_LEFT_SHARE`` of a smaller disk."""
_FULL: Final = (errno.ENOSPC, errno.EDQUOT)


class HostUnreachableError(MosaicError):
    """Error for a host or a scheduler that cannot be reached or does not answer."""


class HostFailedError(MosaicError):
    """Error for a host that was reached, but on which a command has failed."""


class LocalMachineError(UsageError):
    """Error for a failure of this machine. Shards that run elsewhere continue."""


def raise_if_full(error: BaseException, where: Path) -> None:
    """Raise an error if a failure was caused by a full disk of this machine.

    Args:
        error: The failure. Programs that copy do not always report the cause.
        where: Folder that was written to.

    Raises:
        HereError: The disk is full.
    """
    code = error.errno if isinstance(error, OSError) else None
    full = shutil.disk_usage(where).free < _LEAST_BYTES
    if full or code in _FULL or any(os.strerror(each) in str(error) for each in _FULL):
        raise LocalMachineError(
            f"there is no space left in {where}",
            fix="Free some space, then resume; running shards continue",
        ) from error


def raise_if_too_much(coming: Path, what: str, most: int = MOST_BYTES) -> None:
    """Raise an error if data from elsewhere is about to fill the local disk.

    Args:
        coming: The growing file or folder.
        what: Name of the data and its sender, for messages.
        most: Largest allowed number of bytes.

    Raises:
        HereError: There is hardly any free space left.
        UsageError: The data is larger than allowed.
    """
    size = size_of(coming)
    if size > most:
        raise too_much(what, most)
    if not bytes_allowed(coming.parent):
        raise LocalMachineError(
            f"there is no space left in {coming.parent}: {what} has {size / 2**20:.0f} MiB so far",
            fix="Check it there, or free some space, then resume; running shards continue",
        )


def bytes_allowed(folder: Path) -> int:
    """Return how many bytes one shard or training may write to a folder."""
    disk = shutil.disk_usage(folder)
    return max(0, min(MOST_BYTES, disk.free - min(_LEFT_BYTES, disk.total // _LEFT_SHARE)))


def too_much(what: str, most: int) -> UsageError:
    """Return the error for data that is larger than allowed, after which the sender is no longer used."""
    return UsageError(
        f"{what} has more than {most / 2**30:.3g} GiB",
        fix="Check it there, free some space here, or make more parts",
    )


def size_of(path: Path) -> int:
    """Return the bytes of a file or of all files below a folder. Files may vanish during the count."""
    found = 0
    for each in (path, *path.rglob("*")):
        with contextlib.suppress(FileNotFoundError):
            status = each.lstat()
            found += status.st_size if stat.S_ISREG(status.st_mode) else 0
    return found


def not_ours(place: str) -> UsageError:
    """Return the error for a folder of another submission, whose commands may be another user's."""
    return UsageError(
        f"{place} exists, but this submission did not create it",
        fix="Check it, then remove it: missing shards are played again",
    )
