"""Writes the pages of a site one after the other, so that only one list of episodes is in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from gym_gui.analysis.findings.cross_play import Found
from gym_gui.analysis.findings.summary import Summary
from gym_gui.analysis.pages.film_choice import Films
from gym_gui.analysis.records.reader import Run
from gym_gui.analysis.reporting import write_standings, write_summary
from gym_gui.analysis.site.episodes import EpisodePages, PageWriter, SiteWritten
from gym_gui.analysis.site.file_names import AGENTS, EPISODES, INDEX, RUNS, Addresses
from gym_gui.analysis.site.page_template import site_page, write_shared
from gym_gui.analysis.site.pages import MainPages
from gym_gui.analysis.site.site_folder import write_mark

OnEpisode = Callable[[int, int], None]
"""Function that receives the number of episodes written so far, and the total number."""


@dataclass(frozen=True)
class SiteContent:
    """Content of a site.

    Attributes:
        runs: Runs of the site.
        summary: Summary of the runs.
        found: Results of the tournament, if the run is one.
        films: Replays, by episode.
        notes: Further notes for the leaderboard.
    """

    runs: Sequence[Run]
    summary: Summary
    found: Found | None
    films: Films
    notes: Sequence[str] = ()


def write_site(
    folder: Path,
    content: SiteContent,
    *,
    on_episode: OnEpisode | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> SiteWritten:
    """Write all pages of a site.

    Args:
        folder: Empty folder for the site.
        content: Content of the site.
        on_episode: Called after each episode.
        stopped: Called before each replay and transcript. After it has returned true, replays and transcripts
            are left out.

    Returns:
        Counts of the written pages.

    Raises:
        RunFormatError: A row is damaged.
        OSError: A page cannot be written.
    """
    writer = PageWriter(folder)
    addresses = Addresses(content.summary)
    write_shared(folder)
    done, total = 0, sum(o.recorded for o in content.summary.operators)
    for pages in _episode_pages(content, addresses, writer, stopped):
        for more in pages.write():
            done += more
            if on_episode is not None:
                on_episode(done, total)
    main = MainPages(
        content.summary, content.found, content.runs, content.notes, addresses, writer.written, writer.has
    )
    _write_main(main, writer)
    write_summary(content.summary, folder)
    write_standings(content.found, folder)
    runs = [run.run_id for run in content.runs]
    write_mark(folder, {"runs": runs, "episodes": total, "replays": writer.written.replays})
    return writer.written


def _episode_pages(
    content: SiteContent, addresses: Addresses, writer: PageWriter, stopped: Callable[[], bool]
) -> Iterator[EpisodePages]:
    runs = {run.run_id: run for run in content.runs}
    for each in content.summary.operators:
        run = runs[each.run_id]
        operator = run.operators[each.operator_id]
        yield EpisodePages(run, operator, each, content.films, addresses, writer, stopped)


def _write_main(pages: MainPages, writer: PageWriter) -> None:
    addresses = pages.addresses
    for operator in pages.summary.operators:
        path = addresses.agent(operator.key)
        writer.write(path, site_page(operator.name, pages.agent(operator), path, place=AGENTS))
    for run in pages.runs:
        path = addresses.run(run.run_id)
        writer.write(path, site_page(f"Run {run.run_id}", pages.run(run), path, place=RUNS))
    writer.write(RUNS, site_page("Runs", pages.run_table(), RUNS))
    writer.write(AGENTS, site_page("Agents", pages.agents(), AGENTS))
    writer.write(EPISODES, site_page("Episodes", pages.episodes(), EPISODES))
    writer.write(INDEX, site_page("Leaderboard", pages.leaderboard(), INDEX))
