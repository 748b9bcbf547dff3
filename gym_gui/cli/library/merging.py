"""Implements ``mosaic runs merge``: merges shards into one run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from gym_gui.analysis.words import wording
from gym_gui.cli.errors import DONE, print_message
from gym_gui.cli.output import write_json, write_line
from gym_gui.cli.progress import bytes_progress, count_progress
from gym_gui.core.errors import UsageError
from gym_gui.core.paths import find_run, runs_dir
from gym_gui.services.shards.run_merge import MergedRun, merge_shards
from gym_gui.services.shards.shard_set import UnmergeableError

_MAX_REASONS = 10
"""Largest number of reasons that are printed, each on a line."""


def merge_runs(
    shards: Sequence[Path],
    *,
    out: Path | None,
    allow_differences: bool,
    partial: bool,
    as_json: bool,
) -> int:
    """Merge shards into one run and print its folder.

    Args:
        shards: Run folders of the shards, or folders that contain them.
        out: Folder for the run folder; ``None`` for the default folder of runs.
        allow_differences: Whether to merge shards of different versions.
        partial: Whether to merge even if shards are missing.
        as_json: Whether to print JSON.

    Returns:
        Exit status.

    Raises:
        UsageError: The shards cannot be merged; nothing was written.
    """
    try:
        with count_progress("Reading shards") as read, bytes_progress("Merging", as_json=as_json) as copied:
            merged = merge_shards(
                [find_run(path) for path in shards],
                out or runs_dir(),
                allow_differences=allow_differences,
                partial=partial,
                on_part=read,
                on_bytes=copied,
            )
    except UnmergeableError as error:
        if as_json or len(error.lines) == 1:
            raise
        for line in error.lines[:_MAX_REASONS]:
            print_message(line)
        more = (
            f" ({len(error.lines) - _MAX_REASONS} further reasons)" if len(error.lines) > _MAX_REASONS else ""
        )
        raise UsageError(f"nothing was merged{more}", fix=error.fix) from None
    if as_json:
        row = asdict(merged)
        write_json({"run": str(row.pop("folder")), **row})
        return DONE
    for line in (*merged.differences, *merged.missing):
        print_message(line)
    write_line(_in_words(merged))
    write_line(f"Run:  {merged.folder}")
    return DONE


def _in_words(merged: MergedRun) -> str:
    words = f"{wording.count(merged.shards, 'shard')}, {wording.count(merged.episodes, 'episode')}"
    words += f", {merged.failed:,} of them failed" if merged.failed else ""
    if merged.twice:
        words += f"; {merged.twice:,} played more than once with the same result are counted once"
    return f"{words}."
