"""What goes wrong with a place where shards are played, and may pass; or here."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path
from typing import Final

from gym_gui.core.errors import MosaicError, UsageError

_LEAST_BYTES: Final = 1 << 16
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
            fix="Make some, and go on with it; what is being played goes on meanwhile",
        ) from error
