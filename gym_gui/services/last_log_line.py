"""What a process that goes on by itself has said last, in a log that others wrote to before it."""

from __future__ import annotations

import contextlib
from pathlib import Path

from mosaic_worker.plain_files import open_file


def last_log_line(log: Path, began: int) -> str:
    """The last line that is not empty, without the program's name; ``""`` where there is none.

    Args:
        log: What it writes to.
        began: Bytes that were there before it.
    """
    with contextlib.suppress(OSError), open_file(log) as file:
        file.seek(began)
        lines = [line.strip() for line in file.read().decode(errors="replace").splitlines() if line.strip()]
        return lines[-1].removeprefix("mosaic: ") if lines else ""
    return ""
