"""Reads and summarizes the runs of a report; unreadable runs are listed, and the other runs reported."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from gym_gui.analysis.compute.summary_builder import OnCollected, summarize
from gym_gui.analysis.printed_summary import PrintedSummary
from gym_gui.analysis.records.reader import Run, open_run
from gym_gui.analysis.records.record_check import check_records
from gym_gui.core.errors import UsageError


class ReadRuns(NamedTuple):
    """Runs of a report with their summary.

    Attributes:
        named: Number of requested runs.
        runs: Runs that can be read.
        summary: Summary of these runs; its ``unread`` lists the runs that cannot be read.
    """

    named: int
    runs: list[Run]
    summary: PrintedSummary


def read_runs(paths: Sequence[str | Path], on_collected: OnCollected | None = None) -> ReadRuns:
    """Open runs and summarize them.

    Of several folders, those that are damaged, of a newer version or no runs are left out and listed.

    Args:
        paths: Run folders.
        on_collected: Called once the episodes of all runs are read; the runs may then turn out to be damaged.

    Raises:
        UsageError: No run was named, a path does not exist, a run is named twice, or none can be read.
        RunFormatError: The only run, or each of them, is damaged.
    """
    if not paths:
        raise UsageError("no run was named", fix="Give one or more run folders; see: mosaic runs list")
    runs, errors = _opened(paths)
    _check_named_once(runs)
    try:
        summary = checked(runs, summarize(runs, on_collected=on_collected))
    except UsageError:
        if len(paths) == 1:
            raise
        runs, broken = _readable(runs)
        if not broken:
            raise
        errors |= broken
        summary = checked(runs, summarize(runs))
    if not errors:
        return ReadRuns(len(paths), runs, summary)
    # A page may be published: it contains the name of a run's folder but not its path.
    unread = tuple(
        f"{path.name} is not in this report: "
        f"{error.message.replace(f'{path}/', '').replace(str(path), path.name)}."
        for path, error in errors.items()
    )
    missing, notes = (*unread, *summary.missing), (*unread, *summary.notes)
    return ReadRuns(len(paths), runs, replace(summary, unread=unread, missing=missing, notes=notes))


def checked(runs: Sequence[Run], summary: PrintedSummary) -> PrintedSummary:
    """Return a summary with warnings about records that differ from their digests.

    Raises:
        RunFormatError: A row is damaged.
    """
    checks = [check_records(run) for run in runs]
    unverified = tuple(check.sentence for check in checks if not check.agrees)
    notes = [check.note for check in checks if check.note]
    if not unverified and not notes:
        return summary
    missing = (*unverified, *summary.missing)
    return replace(
        summary, unverified=unverified, missing=missing, notes=(*unverified, *summary.notes, *notes)
    )


def _opened(paths: Sequence[str | Path]) -> tuple[list[Run], dict[Path, UsageError]]:
    runs: list[Run] = []
    errors: dict[Path, UsageError] = {}
    for path in map(Path, paths):
        try:
            runs.append(open_run(path))
        except UsageError as error:
            if not path.exists():  # a typing error, not a damaged run
                raise
            errors[path] = error
    return _require_any(runs, errors)


def _readable(runs: Sequence[Run]) -> tuple[list[Run], dict[Path, UsageError]]:
    """Return the runs that can be read completely, and the errors of the others by run folder."""
    good: list[Run] = []
    errors: dict[Path, UsageError] = {}
    for run in runs:
        try:
            summarize(run)
            good.append(run)
        except UsageError as error:
            errors[run.path] = error
    return _require_any(good, errors)


def _require_any(runs: list[Run], errors: dict[Path, UsageError]) -> tuple[list[Run], dict[Path, UsageError]]:
    if not runs:
        raise next(iter(errors.values()))
    return runs, errors


def _check_named_once(runs: Sequence[Run]) -> None:
    seen: set[str] = set()
    for run in runs:
        if run.run_id in seen:
            raise UsageError(f"run {run.run_id} was named twice", fix="Name each run once")
        seen.add(run.run_id)
