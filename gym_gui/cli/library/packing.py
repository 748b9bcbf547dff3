"""Implements ``mosaic runs compress``: compresses and decompresses finished runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from gym_gui.analysis.words import wording
from gym_gui.cli.errors import DONE, USAGE, WORK_FAILED, print_error
from gym_gui.cli.output import write_json, write_line
from gym_gui.cli.progress import bytes_progress
from gym_gui.core.errors import MosaicError, UsageError
from gym_gui.core.paths import find_run
from gym_gui.services.runs.run_packing import Packing, compress_run, decompress_run


def compress_runs(runs: Sequence[Path], *, undo: bool, as_json: bool) -> int:
    """Compress runs one after the other; a run that cannot be compressed does not stop the others.

    Args:
        runs: The run folders, or their names.
        undo: Whether to decompress the runs instead.
        as_json: Whether to print a list with an object for each compressed run, instead of lines.

    Returns:
        Exit status: 0 if all succeeded, 1 if one failed, 2 if one is not a run that has ended.
    """
    statuses: set[int] = {DONE}
    done: list[dict[str, object]] = []
    for run in runs:
        folder = find_run(run)
        try:
            with bytes_progress(str(run), as_json=as_json) as show:
                packing = (decompress_run if undo else compress_run)(folder, show)
        except MosaicError as error:
            print_error(error, as_json=as_json)
            statuses.add(USAGE if isinstance(error, UsageError) else WORK_FAILED)
            continue
        done.append({"run": str(folder), "compressed": not undo, **asdict(packing)})
        if not as_json:
            write_line(f"{folder}: {_in_words(packing, undo)}")
    if as_json:
        write_json(done)
    return WORK_FAILED if WORK_FAILED in statuses else max(statuses)


def _in_words(packing: Packing, undo: bool) -> str:
    if not packing.files:
        return "no rows are compressed" if undo else "no rows are left to compress"
    words = f"{packing.rows:,} rows, {wording.size(packing.before)} before, {wording.size(packing.after)} now"
    return words if undo else f"{words} ({packing.after / max(packing.rows, 1):.0f} bytes a row)"
