"""Implements ``mosaic report --site``: writes a folder of HTML pages for any static web host."""

from __future__ import annotations

import signal
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Literal

from gym_gui.analysis.findings.summary import Summary
from gym_gui.analysis.pages.film_choice import Films, scenes_of
from gym_gui.analysis.read_runs import read_runs
from gym_gui.analysis.reporting import find_standings, print_json, print_report
from gym_gui.analysis.site import SiteContent, SiteWritten, new_site, require_replaceable, write_site
from gym_gui.analysis.words import wording
from gym_gui.analysis.words.report_text import clean
from gym_gui.cli.errors import print_message
from gym_gui.cli.output import console
from gym_gui.cli.progress import run_progress
from gym_gui.cli.recorded_runs.report_films import ReportFilms
from gym_gui.controllers.child_jobs.films import FilmOrder
from gym_gui.controllers.runs.operator_execution import OperatorProgress

Replays = Literal["all", "some", "none"]
_EPISODES_PER_MESSAGE = 50
"""Number of episodes between progress messages; a message takes longer than writing an episode."""


def report_site(runs: Sequence[Path], folder: Path, *, replays: Replays, as_json: bool) -> Summary:
    """Print the comparison of runs and write a site with one page per episode.

    Args:
        runs: Run folders.
        folder: Folder for the site; an existing site is replaced once the new one is complete.
        replays: Which episodes get a replay: ``all``, ``some`` (best, median, worst, failed) or ``none``.
        as_json: Whether to print JSON.

    Returns:
        Summary of the runs.

    Raises:
        UsageError: There is no run, the folder contains other files, or the site cannot be written.
        RunFormatError: No run can be read.
    """
    require_replaceable(folder)
    read = read_runs(runs)
    for sentence in (*read.summary.unread, *read.summary.unverified):
        print_message(sentence)
    found = find_standings(read.runs)
    if not as_json:
        print_report(read.summary, found, console())
    with new_site(folder) as workshop:
        films: Films = {}
        notes: list[str] = []
        if replays != "none":
            some = replays == "some"
            order = FilmOrder.some(scenes_of(read.summary)) if some else FilmOrder.every(read.runs)
            with ReportFilms(workshop.films) as making:
                making.begin(read.runs, order)
                films = making.wait(as_json=as_json)
            if len(films) < len(order):
                notes.append(
                    f"The site was stopped early: {len(films):,} of {len(order):,} replays were made."
                )
        content = SiteContent(read.runs, read.summary, found, films, notes)
        written = _write(workshop.site, content, as_json=as_json)
    index = folder / "index.html"
    if as_json:
        print_json(read.summary, found, console(), site=str(index))
    else:
        console().print(f"Site: {clean(str(index))} ({_words(written)})", markup=False, soft_wrap=True)
    return read.summary


def _write(folder: Path, content: SiteContent, *, as_json: bool) -> SiteWritten:
    with first_interrupt() as stopped, run_progress(as_json=as_json) as show:

        def tell_progress(done: int, total: int) -> None:
            if done == total or done % _EPISODES_PER_MESSAGE == 0:
                show([OperatorProgress("site", "Pages", done, total, 0, 0, 0)])

        return write_site(folder, content, on_episode=tell_progress, stopped=stopped)


@contextmanager
def first_interrupt() -> Generator[Callable[[], bool]]:
    """Yield a function that returns whether Ctrl-C was pressed; a second Ctrl-C raises KeyboardInterrupt."""
    interrupted = False

    def on_signal(_number: int, _frame: FrameType | None) -> None:
        nonlocal interrupted
        if interrupted:
            raise KeyboardInterrupt
        interrupted = True
        print_message(
            "stopping: the site gets no further replays and transcripts; to write nothing, press Ctrl-C again"
        )

    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    for number in before:
        signal.signal(number, on_signal)
    try:
        yield lambda: interrupted
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _words(written: SiteWritten) -> str:
    return f"{written.pages:,} pages, {wording.size(written.size)}, {written.replays:,} of them with a replay"
