"""Renders a tournament or a cross-play as a single self-contained HTML page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from gym_gui.analysis.charts.cross_play import CrossPlayChart, cross_play_chart
from gym_gui.analysis.charts.payoffs import PayoffChart
from gym_gui.analysis.charts.ratings import rating_chart
from gym_gui.analysis.charts.shapes import Chart
from gym_gui.analysis.findings.cross_play import CrossPlay, Found
from gym_gui.analysis.findings.standings import Standings
from gym_gui.analysis.findings.summary import Summary
from gym_gui.analysis.pages.algorithm_page import algorithm_parts
from gym_gui.analysis.pages.film_choice import Films, scenes_of
from gym_gui.analysis.pages.film_page import film_section
from gym_gui.analysis.pages.report_page import (
    TRANSCRIPT,
    chart_panel,
    failure_table,
    html_table,
    methods_panel,
    missing_lines,
    notes_section,
    page,
    run_panels,
)
from gym_gui.analysis.records.reader import Run
from gym_gui.analysis.words.cross_play_text import (
    LEGEND,
    TRAINED_LEGEND,
    heading,
    means_sentence,
    seat_sentences,
    team_sentence,
    trained_columns,
)
from gym_gui.analysis.words.cross_play_text import columns_of as mate_columns
from gym_gui.analysis.words.html_markup import safe
from gym_gui.analysis.words.plain_columns import Column
from gym_gui.analysis.words.standings_text import columns_of, pair_sentence, played_words, seat_lines

MOST_PAIRS = 400

Row = TypeVar("Row")


def render_found_page(
    found: Found,
    summary: Summary,
    *,
    turns: str = "",
    films: Films | None = None,
    runs: Sequence[Run] = (),
) -> str:
    """Return the HTML page of a tournament or of a cross-play.

    Args:
        found: Results of the tournament.
        summary: Summary of the same run, for failures and versions.
        turns: Description of the transcript page's content, for a link; empty without such a page.
        films: Replays, by episode.
        runs: Opened runs, for transcripts beside replays and for experiments.
    """
    title = "Cross-play" if isinstance(found, CrossPlay) else "Tournament"
    shown = film_section(scenes_of(summary), films or {}, runs)

    def parts() -> Iterator[str]:
        yield page_header(title, found_facts(found), turns)
        yield from found_body(found, summary)
        yield shown
        yield page_end(summary, runs, found.notes, found.methods)

    return page(f"{title} {found.run_id}", parts(), films=bool(films))


def found_facts(found: Found) -> str:
    """Return the numbers of policies and games, and the run with its status, as text."""
    played = heading(found) if isinstance(found, CrossPlay) else played_words(found)
    return f"{played} \N{MIDDLE DOT} run {found.run_id} ({found.status})"


def found_body(found: Found, summary: Summary) -> Iterator[str]:
    """Yield the HTML of verdicts, policies, charts, and results of pairs."""
    said = "".join(
        f"<p><strong>{safe(v.claim)}</strong>{safe(v.detail)}.</p>" for v in found.opening_verdicts
    )
    rest = "".join(f'<p class="note">{safe(sentence)}</p>' for sentence in found.remarks)
    yield f'<section class="verdict">{said}{rest}{missing_lines(summary)}</section>'
    yield f"<h2>{safe(found.task)}</h2>"
    yield from _cross_play_parts(found) if isinstance(found, CrossPlay) else _standings_parts(found)


def _standings_parts(found: Standings) -> Iterator[str]:
    yield _table(columns_of(found.policies), found.policies)
    yield _charts(rating_chart(found), PayoffChart(found))
    yield _sentences("Seats", seat_lines(found))
    yield _sentences("Results by pair", map(pair_sentence, found.payoffs), most=MOST_PAIRS)
    if found.algorithms is not None:
        yield from algorithm_parts(found.algorithms)


def _cross_play_parts(found: CrossPlay) -> Iterator[str]:
    yield _table(mate_columns(found.policies), found.policies)
    yield f'<p>{safe(means_sentence(found))}</p><p class="muted">{safe(LEGEND)}</p>'
    if found.algorithms:
        yield f"<h2>Trainings</h2>{_table(trained_columns(found.algorithms), found.algorithms)}"
        yield f'<p class="muted">{safe(TRAINED_LEGEND)}</p>'
    yield _charts(cross_play_chart(found), CrossPlayChart.of(found))
    teams = (team_sentence(found, team) for team in found.teams)
    yield _sentences("Results by team", teams, most=MOST_PAIRS)
    yield _sentences("Results by seat", seat_sentences(found), most=MOST_PAIRS)


def _table(columns: Sequence[Column[Row]], rows: Sequence[Row]) -> str:
    cells = [[safe(column.show(row)) for column in columns] for row in rows]
    return html_table([c.heading for c in columns], cells, [c.heading for c in columns if c.words])


def _charts(*charts: Chart) -> str:
    return f'<div class="grid">{"".join(chart_panel(chart) for chart in charts if chart)}</div>'


def _sentences(title: str, sentences: Iterable[str], most: int | None = None) -> str:
    """Return an HTML panel with at most ``most`` sentences, and the number of further sentences."""
    listed = list(sentences)
    lines = "".join(f"<p>{safe(sentence)}</p>" for sentence in listed[:most])
    if most is not None and (rest := len(listed) - most) > 0:
        lines += f'<p class="muted">and {rest:,} more, all in tournament.json</p>'
    return f'<h2>{safe(title)}</h2><section class="panel">{lines}</section>' if lines else ""


def page_header(title: str, facts: str, turns: str) -> str:
    """Return the header of a page: title, facts and, unless ``turns`` is empty, a link to a transcript."""
    link = f'<a href="{TRANSCRIPT}">{safe(f"Transcript of {turns}")}</a>' if turns else ""
    return f'<header><h1>{safe(title)}</h1><span class="muted">{safe(facts)}</span>{link}</header>'


def page_end(summary: Summary, runs: Sequence[Run], notes: Sequence[str], methods: Mapping[str, str]) -> str:
    """Return the HTML end of a page: failures, notes, runs and methods."""
    whence = f"<h2>Runs and methods</h2>{run_panels(summary, runs)}{methods_panel(methods)}"
    return f"{failure_table(summary)}{notes_section(notes)}{whence}"
