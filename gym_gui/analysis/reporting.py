"""Prints and writes reports of runs: tables, ``summary.json``, ``report.html`` and other files."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson
from rich.console import Console

from gym_gui.analysis.compute.cross_play_builder import cross_play_of
from gym_gui.analysis.compute.games import is_cross_play, is_tournament
from gym_gui.analysis.findings.cross_play import CrossPlay, Found
from gym_gui.analysis.findings.summary import Summary
from gym_gui.analysis.findings.trainings import AlgorithmReport
from gym_gui.analysis.pages.algorithm_page import algorithm_parts, render_algorithm_page
from gym_gui.analysis.pages.film import Film
from gym_gui.analysis.pages.film_choice import Films
from gym_gui.analysis.pages.report_digest import MADE, SUMMARY, made_with
from gym_gui.analysis.pages.report_page import TRANSCRIPT, render_html
from gym_gui.analysis.pages.tournament_page import render_found_page
from gym_gui.analysis.pages.transcript_page import render_transcript
from gym_gui.analysis.read_runs import ReadRuns, read_runs
from gym_gui.analysis.records.reader import Run
from gym_gui.analysis.terminal_report import render_cross_play, render_standings, render_tables, render_text
from gym_gui.analysis.transcripts.transcript import Transcript, content_words
from gym_gui.analysis.words.report_text import clean
from gym_gui.core import terminal
from gym_gui.core.errors import UsageError
from gym_gui.core.printable_text import visible_json
from mosaic_worker.plain_files import replace_file

MOST_BYTES = 6_000_000
"""Largest size of a page in bytes; larger replays are left out, and listed in a note."""
FilmMaker = Callable[[], Films]
"""Function that returns the replays for a report; called when all but the page is written."""


def report(
    paths: Sequence[str | Path],
    *,
    as_json: bool = False,
    out: str | Path | None = None,
    console: Console | None = None,
    film: FilmMaker | None = None,
) -> Summary:
    """Print the comparison of one or several runs and write it to files.

    ``summary.json`` and ``report.html`` of a single run go into its own folder. ``transcript.html`` is added
    if calls to models or details of decisions were recorded. Several runs get one summary, which is written
    only if ``out`` is given. Of several runs, those that cannot be read are left out and listed.

    Args:
        paths: Run folders.
        as_json: Whether to print the summary as JSON instead of tables.
        out: Folder for the files, in place of the run's own.
        console: Console to print to; standard output by default.
        film: Makes replays for the page; ``None`` for a page without replays.

    Returns:
        The summary that was printed.

    Raises:
        UsageError: There is no run at a path, the same run is named twice, or the
            files cannot be written (the tables are printed nevertheless).
        RunFormatError: The only run folder is damaged, or each of several is.
    """
    return report_read(read_runs(paths), as_json=as_json, out=out, console=console, film=film)


def report_read(
    read: ReadRuns,
    *,
    as_json: bool = False,
    out: str | Path | None = None,
    console: Console | None = None,
    film: FilmMaker | None = None,
) -> Summary:
    """Print and write the report of runs that have been read; for the arguments see :func:`report`.

    Raises:
        UsageError: The files cannot be written.
    """
    runs, summary = read.runs, read.summary
    console = console or terminal.console()
    folder = Path(out) if out is not None else runs[0].path if read.named == 1 else None
    standings = find_standings(runs)
    if not as_json:
        print_report(summary, standings, console)
    page = None if folder is None else write_report(summary, folder, runs, standings, film or dict)
    if as_json:
        print_json(summary, standings, console, report=None if page is None else str(page))
    elif page is not None:
        console.print(f"Page: {clean(str(page))}", markup=False, soft_wrap=True)
    return summary


def print_report(summary: Summary, standings: Found | None, console: Console) -> None:
    """Print the tables of a tournament, or without tournament, those of a summary."""
    if standings is not None:
        _render_found(standings, console, summary.missing)
        return
    render_text(summary, console)
    for trained in summary.trainings:
        console.print()
        render_tables(trained, console)


def print_json(summary: Summary, standings: Found | None, console: Console, **more: Any) -> None:
    """Print the summary as JSON, with the tournament's results and the items of ``more`` as further keys."""
    data = summary.to_json() | more
    data |= {"tournament": standings.to_json()} if standings is not None else {}
    console.file.write(visible_json(_dump(data).decode()) + "\n")


def write_report(
    summary: Summary,
    folder: Path,
    runs: Sequence[Run],
    standings: Found | None = None,
    film: FilmMaker = dict,
) -> Path:
    """Write ``summary.json``, the pages, and for a tournament ``tournament.json``.

    Args:
        summary: The summary to write.
        folder: Folder for the files.
        runs: Runs of the report.
        standings: Results of a tournament; by default computed if the run is a tournament.
        film: Returns the replays for the page.

    Returns:
        Path of the report's page.

    Raises:
        UsageError: A file cannot be written.
    """
    standings = standings or find_standings(runs)
    make = not _is_one_of(folder, runs)
    write_standings(standings, folder, make=make)
    page = write_html(summary, folder, runs, standings, film)
    # Written last, because it contains the digests of the other files.
    write_summary(summary, folder, made_with(folder, runs[0] if len(runs) == 1 else None), make=make)
    return page


def write_standings(standings: Found | None, folder: Path, *, make: bool = True) -> None:
    """Write ``tournament.json``; do nothing if ``standings`` is ``None``.

    Args:
        standings: Results of the tournament; ``None`` for a run that is no tournament.
        folder: Folder for the file.
        make: Whether to create the folder if it does not exist.

    Raises:
        UsageError: The file cannot be written.
    """
    if standings is not None:
        _write(folder / "tournament.json", _dump(standings.to_json()) + b"\n", make=make)


def find_standings(runs: Sequence[Run]) -> Found | None:
    """Return the results of a tournament; ``None`` if there are several runs or the run is no tournament.

    Raises:
        RunFormatError: The run is a tournament but does not record the pairings.
    """
    if len(runs) != 1 or not is_tournament(runs[0]):
        return None
    if is_cross_play(runs[0]):
        return cross_play_of(runs[0])
    from gym_gui.analysis.compute.standings_builder import (
        standings_of,  # importing scipy's sparse matrices takes 0.1 s
    )

    return standings_of(runs[0])


def found_text(found: Found, width: int | None = None) -> str:
    """Return a tournament's report as the text that ``mosaic report`` prints, without colors.

    Args:
        found: Results of the tournament.
        width: Width in characters; by default that of ``COLUMNS``, else 100.
    """
    buffer = io.StringIO()
    _render_found(found, terminal.console(file=buffer, width=width))
    return buffer.getvalue()


def _render_found(found: Found, console: Console, missing: Sequence[str] = ()) -> None:
    if isinstance(found, CrossPlay):
        render_cross_play(found, console, missing)
    else:
        render_standings(found, console, missing)


def write_summary(
    summary: Summary, folder: Path, made: Mapping[str, Any] | None = None, *, make: bool = True
) -> Path:
    """Write ``summary.json``, completely or not at all.

    Args:
        summary: The summary to write.
        folder: Folder for the file.
        made: Version, run digest, and digests of the report's other files.
        make: Whether to create the folder if it does not exist.

    Raises:
        UsageError: The file cannot be written.
    """
    data = summary.to_json() | ({} if made is None else {MADE: made})
    return _write(folder / SUMMARY, _dump(data) + b"\n", make=make)


def write_html(
    summary: Summary,
    folder: Path,
    runs: Sequence[Run] = (),
    standings: Found | None = None,
    film: FilmMaker = dict,
) -> Path:
    """Write ``report.html``, completely or not at all, and ``transcript.html`` beside it.

    Args:
        summary: The summary to show.
        folder: Folder for the pages.
        runs: Runs whose model calls and details of decisions the transcript page shows.
        standings: Results of a tournament; by default computed if the run is a tournament.
        film: Returns the replays for the page.

    Returns:
        Path of the report's page.

    Raises:
        UsageError: A page cannot be written.
        RunFormatError: A row of ``calls.jsonl`` is damaged.
    """
    make = not _is_one_of(folder, runs)
    turns = content_words(Transcript(operator) for run in runs for operator in run.operators.values())
    if turns:
        # A lone surrogate in run data is not valid UTF-8; it becomes a question mark.
        _write(folder / TRANSCRIPT, render_transcript(runs).encode("utf-8", "replace"), make=make)
    standings = standings or find_standings(runs)
    shown = dict(film())
    page = _page(summary, runs, standings, shown, turns)
    while len(page) > MOST_BYTES and any(film.frames for film in shown.values()):
        key = max(shown, key=lambda k: sum(map(len, shown[k].pictures)) + 99 * len(shown[k].frames))
        run_id, operator_id, index = key
        shown[key] = Film(run_id, operator_id, index, missing="the page would be larger than 6 MB")
        page = _page(summary, runs, standings, shown, turns)
    return _write(folder / "report.html", page, make=make)


def _page(summary: Summary, runs: Sequence[Run], standings: Found | None, films: Films, turns: str) -> bytes:
    parts = [part for trained in summary.trainings for part in algorithm_parts(trained)]
    if standings is None:
        page = render_html(summary, turns=turns, parts=parts, films=films, runs=runs)
    else:
        page = render_found_page(standings, summary, turns=turns, films=films, runs=runs)
    return page.encode("utf-8", "replace")


def write_algorithms(report: AlgorithmReport, folder: Path) -> Path:
    """Write ``algorithms.json`` and ``algorithms.html``, each completely or not at all.

    Returns:
        Path of the page.

    Raises:
        UsageError: A file cannot be written.
    """
    _write(folder / "algorithms.json", _dump(report.to_json()) + b"\n")
    return _write(folder / "algorithms.html", render_algorithm_page(report).encode("utf-8", "replace"))


def _dump(data: Mapping[str, Any]) -> bytes:
    return orjson.dumps(data, option=orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS)


def _is_one_of(folder: Path, runs: Sequence[Run]) -> bool:
    """Return whether the folder is a run folder, which must not be created again if it was deleted."""
    return any(folder.absolute() == run.path.absolute() for run in runs)


def _write(path: Path, content: bytes, *, make: bool = True) -> Path:
    """Write a file completely or not at all.

    Args:
        path: The file.
        content: Content of the file.
        make: Whether to create the folder if it does not exist.

    Raises:
        UsageError: The file cannot be written.
    """
    try:
        if make:
            path.parent.mkdir(parents=True, exist_ok=True)
        elif not path.parent.is_dir():
            raise UsageError(
                f"{path.parent} was deleted while its report was made", fix="Name another folder with --out"
            )
        replace_file(path, content, sync=False)
    except OSError as error:
        reason = error.strerror or str(error)
        fix = "Free some space, or name another folder with --out"
        raise UsageError(f"{path} cannot be written: {reason}", fix=fix) from error
    return path
