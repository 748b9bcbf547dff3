"""Reads the last line that a detached process wrote to a shared log."""

from __future__ import annotations

import contextlib
from pathlib import Path

from mosaic_worker.plain_files import open_file


def last_log_line(log: Path, began: int) -> str:
    """Return the last non-empty line of a log without the program's name, or ``""`` if there is none.

    Args:
        log: Log of the process.
        began: Size of the log in bytes before the process began to write.
    """
    with contextlib.suppress(OSError), open_file(log) as file:
        file.seek(began)
        lines = [line.strip() for line in file.read().decode(errors="replace").splitlines() if line.strip()]
        return lines[-1].removeprefix("mosaic: ") if lines else ""
    return ""
