"""Implements ``mosaic export``: writes a run as tables, TensorBoard events, Minari datasets or W&B files."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path

from gym_gui.analysis.exports.event_files import write_events
from gym_gui.analysis.exports.export import STEP_COLUMNS, episode_rows, operator_rows, step_rows, write_table
from gym_gui.analysis.exports.wandb_files import write_wandb_runs
from gym_gui.analysis.records.reader import Run, open_run
from gym_gui.analysis.records.record_check import check_records
from gym_gui.cli.errors import print_message
from gym_gui.cli.output import write_json, write_line
from gym_gui.core.errors import UnknownNameError, UsageError
from gym_gui.core.paths import find_run


def export_run(run: Path, *, to: str, out: Path | None, as_json: bool) -> None:
    """Write a run in another format and print the written files.

    Args:
        run: The run folder, or its name.
        to: The format: ``parquet``, ``csv``, ``tensorboard``, ``minari`` or ``wandb``.
        out: Output folder; by default ``RUN-FORMAT`` in the working directory.
        as_json: Whether to print one object instead of lines.

    Raises:
        UsageError: There is no run, it has no episode, or the folder cannot be written.
        UnknownNameError: There is no such format.
        NotAllowedError: The run names code that the user has not allowed.
        MissingDependencyError: A package for this format is not installed.
    """
    write = _FORMATS.get(to.lower())
    if write is None:
        raise UnknownNameError("format", to, list(_FORMATS))
    opened = open_run(find_run(run))
    folder = out or Path(f"{opened.path.absolute().name}-{to.lower()}")
    if problem := check_records(opened).sentence:
        print_message(problem)
    left_out: list[str] = []
    written = write(opened, folder, left_out)
    if as_json:
        row = {"run": str(opened.path), "format": to.lower(), "folder": str(folder), "rows": written}
        write_json(row | ({"left_out": left_out} if left_out else {}))
        return
    for name, count in written.items():
        write_line(f"{folder / name}: {count:,} {'rows' if Path(name).suffix else 'episodes'}")
    for sentence in left_out:
        print_message(f"left out: {sentence}")


_Write = Callable[[Run, Path, list[str]], Mapping[str, int]]
"""Function that writes a run into a folder, appends notes on what it left out, and returns the number of rows
or episodes by file."""


def _tables(suffix: str) -> _Write:
    def write(run: Run, folder: Path, _left_out: list[str]) -> Mapping[str, int]:
        from gym_gui.analysis import summarize

        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(
                f"{folder} cannot be written: {error.strerror}", fix="Choose another folder with -o"
            ) from error
        return {
            f"operators{suffix}": write_table(operator_rows(summarize([run])), folder / f"operators{suffix}"),
            f"episodes{suffix}": write_table(episode_rows(run), folder / f"episodes{suffix}"),
            f"steps{suffix}": write_table(step_rows(run), folder / f"steps{suffix}", STEP_COLUMNS),
        }

    return write


def _events(run: Run, folder: Path, _left_out: list[str]) -> Mapping[str, int]:
    return {"": write_events(run, folder)}


def _datasets(run: Run, folder: Path, left_out: list[str]) -> Mapping[str, int]:
    from gym_gui.controllers.child_jobs.minari_export import write_datasets_in_child

    written, sentences = asyncio.run(write_datasets_in_child(run, folder))
    left_out += sentences
    return written


def _wandb_runs(run: Run, folder: Path, _left_out: list[str]) -> Mapping[str, int]:
    return write_wandb_runs(run, folder)


_FORMATS: Mapping[str, _Write] = {
    "parquet": _tables(".parquet"),
    "csv": _tables(".csv"),
    "tensorboard": _events,
    "minari": _datasets,
    "wandb": _wandb_runs,
}
