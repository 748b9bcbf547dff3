"""Implements ``mosaic report`` for runs: prints the comparison and writes the report page."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gym_gui.analysis import Run, open_run
from gym_gui.analysis.exports.pgn import is_chess, write_pgn
from gym_gui.analysis.findings.summary import Summary
from gym_gui.analysis.pages.film import Film
from gym_gui.analysis.pages.film_choice import Films
from gym_gui.analysis.pages.film_folder import FilmFolder
from gym_gui.analysis.read_runs import read_runs
from gym_gui.analysis.reporting import report_read
from gym_gui.cli.errors import print_message
from gym_gui.cli.output import write_line
from gym_gui.cli.progress import run_progress
from gym_gui.core.errors import MissingDependencyError

if TYPE_CHECKING:
    from gym_gui.analysis.pages.film_folder import FilmFolder
    from gym_gui.controllers.child_jobs.films import FilmOrder


def report_runs(runs: Sequence[Path], *, out: Path | None, replays: bool, as_json: bool) -> Summary:
    """Print the comparison of runs and write the report page.

    Args:
        runs: Run folders.
        out: Folder for the files; by default the run folder if there is only one run.
        replays: Whether the page contains playable episodes.
        as_json: Whether to print JSON.

    Returns:
        Summary of the runs.

    Raises:
        UsageError: There is no run, or the files cannot be written.
        RunFormatError: No run can be read.
    """

    def film(opened: Sequence[Run], summary: Summary) -> Films:
        from gym_gui.controllers.child_jobs.films import FilmOrder

        order = FilmOrder.some(summary)
        with tempfile.TemporaryDirectory(prefix="mosaic-films-") as folder:
            made = make_report_films(opened, order, Path(folder), as_json=as_json)
            return {key: made.get(key) or Film(*key, missing="replays were stopped") for key in order}

    read = read_runs(runs)
    for sentence in (*read.summary.unread, *read.summary.unverified):
        print_message(sentence)
    report_read(read, as_json=as_json, out=out, film=film if replays else None)
    if out is not None or read.named == 1:
        _write_games([run.path for run in read.runs], out, as_json=as_json)
    return read.summary


def make_report_films(runs: Sequence[Run], order: FilmOrder, folder: Path, *, as_json: bool) -> FilmFolder:
    """Record replays of episodes for a report; after Ctrl-C, return the replays that are finished.

    Args:
        runs: The runs of the report.
        order: Episodes to replay.
        folder: Folder for the replays until the report is written.
        as_json: Whether to show progress as JSON lines.
    """
    from gym_gui.controllers.child_jobs.films import make_films
    from gym_gui.controllers.runs.operator_execution import OperatorProgress

    films = FilmFolder(folder)
    try:
        with run_progress(as_json=as_json) as show:

            def tell_progress(done: int, total: int) -> None:
                show([OperatorProgress("replays", "Replays", done, total, 0, 0, 0)])

            asyncio.run(make_films(runs, order, films, tell_progress))
    except KeyboardInterrupt:
        print_message(f"replays were stopped; {len(films):,} of {len(order):,} are in the report")
    return films


def _write_games(paths: Sequence[Path], out: Path | None, *, as_json: bool) -> None:
    """Write ``games.pgn`` if a run has games of chess.

    Games of different runs may have the same number, so with several runs each run gets its own file.

    Args:
        paths: Run folders.
        out: Folder for the files; ``None`` for the run folder of a single run, or no file for several runs.
        as_json: Whether to print nothing on standard output.

    Raises:
        UsageError: The file cannot be written.
        RunFormatError: A row is damaged.
    """
    folder = out if out is not None else paths[0] if len(paths) == 1 else None
    if folder is None:
        return
    for path in paths:
        run = open_run(path)
        if not any(map(is_chess, run.operators.values())):
            continue
        file = folder / ("games.pgn" if len(paths) == 1 else f"games-{run.run_id}.pgn")
        try:
            count = write_pgn(run, file)
        except MissingDependencyError as error:
            print_message(str(error))
            return
        if not as_json:
            write_line(f"Games: {file} ({count} game{'s' * (count != 1)})")
