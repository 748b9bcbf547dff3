"""A tournament as one HTML page that needs nothing but itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from gym_gui.analysis import wording
from gym_gui.analysis.charts.payoffs import PayoffChart
from gym_gui.analysis.charts.ratings import rating_chart
from gym_gui.analysis.film_page import film_section
from gym_gui.analysis.markup import safe
from gym_gui.analysis.page import (
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
from gym_gui.analysis.reader import Run
from gym_gui.analysis.scenes import Films, scenes_of
from gym_gui.analysis.standings import Standings
from gym_gui.analysis.standings_text import columns_of, pair_sentence, seat_lines
from gym_gui.analysis.summary import Summary

MOST_PAIRS = 400


def render_standings_page(
    standings: Standings,
    summary: Summary,
    *,
    turns: str = "",
    films: Films | None = None,
    runs: Sequence[Run] = (),
) -> str:
    """The page.

    Args:
        standings: What it says.
        summary: Of the same run: its failures and where it comes from.
        turns: What the transcript beside it shows, in words; empty: there is none.
        films: Replays, by episode.
        runs: Where what was said in these stands.
    """
    shown = film_section(scenes_of(summary), films or {}, runs)
    parts = _parts(standings, summary, turns, shown, runs)
    return page(f"Tournament {standings.run_id}", parts, films=bool(films))


def _parts(
    standings: Standings, summary: Summary, turns: str, films: str, runs: Sequence[Run]
) -> Iterator[str]:
    yield page_header("Tournament", standings_facts(standings), turns)
    yield from standings_body(standings, summary)
    yield films
    yield page_end(summary, runs, standings.notes, standings.methods)


def standings_facts(standings: Standings) -> str:
    """How much was played, in words."""
    return (
        f"{len(standings.policies):,} policies, "
        f"{wording.count(standings.games, 'game')} on {wording.count(standings.seeds, 'seed')}, "
        f"{standings.schedule} \N{MIDDLE DOT} run {standings.run_id} ({standings.status})"
    )


def standings_body(standings: Standings, summary: Summary) -> Iterator[str]:
    """The verdict, the ratings, charts, seats, and who met whom."""
    circles = "".join(f'<p class="note">{safe(sentence)}</p>' for sentence in standings.cycles)
    said = f"<p><strong>{safe(standings.claim)}</strong>{safe(standings.detail)}.</p>"
    yield f'<section class="verdict">{said}{circles}{missing_lines(summary)}</section>'
    yield f"<h2>{safe(standings.task)}</h2>"
    columns = columns_of(standings.policies)
    rows = [[safe(column.show(each)) for column in columns] for each in standings.policies]
    yield html_table([c.heading for c in columns], rows, [c.heading for c in columns if c.words])
    charts = [chart for chart in (rating_chart(standings), PayoffChart(standings)) if chart]
    yield f'<div class="grid">{"".join(map(chart_panel, charts))}</div>'
    seats = "".join(f"<p>{safe(sentence)}</p>" for sentence in seat_lines(standings))
    yield f'<h2>Seats</h2><section class="panel">{seats}</section>' if seats else ""
    pairs = "".join(f"<p>{safe(pair_sentence(each))}</p>" for each in standings.payoffs[:MOST_PAIRS])
    if (rest := len(standings.payoffs) - MOST_PAIRS) > 0:
        pairs += f'<p class="muted">and {rest:,} more, all in tournament.json</p>'
    yield f'<h2>Who met whom</h2><section class="panel">{pairs}</section>'


def page_header(title: str, facts: str, turns: str) -> str:
    """What stands on top: facts, and a link to the transcript, of what it says in words."""
    link = f'<a href="{TRANSCRIPT}">{safe(f"Transcript of {turns}")}</a>' if turns else ""
    return f'<header><h1>{safe(title)}</h1><span class="muted">{safe(facts)}</span>{link}</header>'


def page_end(summary: Summary, runs: Sequence[Run], notes: Sequence[str], methods: Mapping[str, str]) -> str:
    """What stands below: failures, notes, where all of it comes from and how it was made."""
    whence = f"<h2>Where this comes from</h2>{run_panels(summary, runs)}{methods_panel(methods)}"
    return f"{failure_table(summary)}{notes_section(notes)}{whence}"
