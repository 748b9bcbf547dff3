"""Crash reports: a text file for each unexpected error, that a user may send; nothing is sent by itself."""

from __future__ import annotations

import contextlib
import os
import platform
import re
import shlex
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from gym_gui.core import clock
from gym_gui.core.inherited_environment import looks_secret
from gym_gui.core.paths import data_dir
from gym_gui.version import __version__
from mosaic_worker.plain_files import replace_file

_KEPT: Final = 20
"""Number of reports that are kept; older ones are deleted."""
_SHORTEST_SECRET: Final = 6
_reported: set[str] = set()
"""Places of errors that this process has reported; an error of a timer would fill the folder."""
_PASSWORD: Final = re.compile(r"(://[^\s/:@]*:)[^\s/@]+@")
_HEAD: Final = """\
Crash report of MOSAIC {version}. It stays on this machine unless you send it.
MOSAIC has removed the keys that it knows from your variables, and passwords in addresses. Read it before you
send it: it holds paths and messages.

Time: {time}
Python: {python}
Machine: {machine}
Command: {command}

"""


def reports_dir() -> Path:
    """Return the folder of the crash reports."""
    return data_dir() / "crashes"


def write_crash_report(error: BaseException, command: Sequence[str] = ()) -> Path | None:
    """Write the traceback of an error to a new file, and delete the oldest files beyond twenty.

    An error that this process has reported from the same place is not written again. Values of environment
    variables whose names look like those of keys are removed from the text, and so are passwords in
    addresses.

    Args:
        error: The error.
        command: Command line of the program; by default, the running one.

    Returns:
        The new file; ``None`` if there is none. A disk that fails must not hide the error.
    """
    place = f"{type(error).__name__} {traceback.extract_tb(error.__traceback__)[-1:]}"
    if place in _reported:
        return None
    _reported.add(place)
    now = clock.now()
    head = _HEAD.format(
        version=__version__,
        time=now.isoformat(timespec="seconds"),
        python=" ".join(sys.version.split()),
        machine=f"{platform.platform()}, {os.cpu_count()} cores",
        command=shlex.join(command or sys.argv),
    )
    text = _without_secrets(head + "".join(traceback.format_exception(error)))
    folder = reports_dir()
    file = folder / f"{now.strftime('%Y%m%d-%H%M%S-%f')}-{os.getpid()}.txt"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        replace_file(file, text.encode("utf-8", "backslashreplace"), mode=0o600)
    except OSError:
        return None
    for old in sorted(folder.glob("*.txt"))[:-_KEPT]:
        with contextlib.suppress(OSError):
            old.unlink()
    return file


def _without_secrets(text: str) -> str:
    for name, value in os.environ.items():
        if looks_secret(name) and len(value) >= _SHORTEST_SECRET:
            text = text.replace(value, f"[{name}]")
    return _PASSWORD.sub(r"\1[password]@", text)
