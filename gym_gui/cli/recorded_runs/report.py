"""Implements ``mosaic report`` for runs: prints the comparison and writes the report page."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gym_gui.analysis import Run, open_run
from gym_gui.analysis.compute.highlights import shown_episodes
from gym_gui.analysis.exports.pgn import is_chess, write_pgn
from gym_gui.analysis.findings.summary import Summary
from gym_gui.analysis.pages.film import Film
from gym_gui.analysis.pages.film_choice import Films
from gym_gui.analysis.read_runs import read_runs
from gym_gui.analysis.reporting import report_read
from gym_gui.cli.errors import print_message
from gym_gui.cli.output import write_line
from gym_gui.core.errors import MissingDependencyError

if TYPE_CHECKING:
    from gym_gui.analysis.compute.pairing import Entry
    from gym_gui.cli.recorded_runs.report_films import ReportFilms


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

    paged = out is not None or len(runs) == 1
    with tempfile.TemporaryDirectory(prefix="mosaic-films-") as folder:
        if not (replays and paged):
            return _report(runs, out, as_json=as_json)
        from gym_gui.cli.recorded_runs.report_films import ReportFilms  # imports the engine

        with ReportFilms(Path(folder)) as films:
            return _report(runs, out, as_json=as_json, films=films)


def _report(
    runs: Sequence[Path], out: Path | None, *, as_json: bool, films: ReportFilms | None = None
) -> Summary:
    def begin(opened: Sequence[Run], entries: Sequence[Entry]) -> None:
        from gym_gui.controllers.child_jobs.films import FilmOrder

        if films is not None:
            films.begin(opened, FilmOrder.some(shown_episodes(entries)))

    def finished() -> Films:
        if films is None or films.order is None:
            return {}
        made = films.wait(as_json=as_json)
        return {key: made.get(key) or Film(*key, missing="replays were stopped") for key in films.order}

    read = read_runs(runs, begin if films is not None else None)
    for sentence in (*read.summary.unread, *read.summary.unverified):
        print_message(sentence)
    report_read(read, as_json=as_json, out=out, film=finished)
    if out is not None or read.named == 1:
        _write_games([run.path for run in read.runs], out, as_json=as_json)
    return read.summary


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
