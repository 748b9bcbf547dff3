"""One writer of a run folder at a time, however it ends."""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path

from gym_gui.core.errors import UsageError

_TRIES, _PAUSE_S = 5, 0.02
"""Who lists runs holds the lock for an instant; who writes holds it to the end."""


def lock_run(folder: Path) -> int:
    """Lock a run until what is returned is closed; the system frees it where the process ends.

    Returns:
        A descriptor of the folder.

    Raises:
        UsageError: Another process writes it.
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
        except OSError:  # a file system without locks: other writers are not seen, as before
            pass
        break
    return handle


def is_being_written(folder: Path) -> bool:
    """Whether a process writes this run now; one that is ``running`` and has none was cut off.

    Raises:
        OSError: The folder cannot be opened.
    """
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # a file system without locks
        return False
    finally:
        os.close(handle)
    return False
