"""Lock of a run folder, so that only one process writes a run. The system frees it if the process dies."""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path

from gym_gui.core.errors import UsageError

_TRIES, _PAUSE_S = 5, 0.02
"""Number of tries and seconds between them; a process that lists runs holds the lock for a moment."""


def lock_run(folder: Path) -> int:
    """Lock a run until the returned descriptor is closed or the process ends.

    Returns:
        A descriptor of the folder.

    Raises:
        UsageError: Another process is writing the run.
        OSError: The folder cannot be opened.
    """
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    for left in reversed(range(_TRIES)):
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if left:
                time.sleep(_PAUSE_S)
                continue
            os.close(handle)
            raise UsageError(
                f"the run {folder} is being written by another process",
                fix="Wait for it to end, or stop it first",
            ) from None
        except OSError:  # this file system has no locks, so other writers are not detected
            pass
        break
    return handle


def is_being_written(folder: Path) -> bool:
    """Return whether a process is writing this run. A run with status ``running`` but no writer was cut off.

    Raises:
        OSError: The folder cannot be opened.
    """
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # this file system has no locks
        return False
    finally:
        os.close(handle)
    return False
