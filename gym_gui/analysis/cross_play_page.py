"""Cross-play as one HTML page that needs nothing but itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gym_gui.analysis.charts.cross_play import CrossPlayChart, mate_chart
from gym_gui.analysis.cross_play import CrossPlay
from gym_gui.analysis.cross_play_text import LEGEND, columns_of, heading, means_sentence, team_sentence
from gym_gui.analysis.film_page import film_section
from gym_gui.analysis.markup import safe
from gym_gui.analysis.page import chart_panel, html_table, missing_lines, page
from gym_gui.analysis.reader import Run
from gym_gui.analysis.scenes import Films, scenes_of
from gym_gui.analysis.standings_page import MOST_PAIRS, page_end, page_header
from gym_gui.analysis.summary import Summary


def render_cross_play_page(
    found: CrossPlay,
    summary: Summary,
    *,
    turns: str = "",
    films: Films | None = None,
    runs: Sequence[Run] = (),
) -> str:
    """The page.

    Args:
        found: What it says.
        summary: Of the same run: its failures and where it comes from.
        turns: What the transcript beside it shows, in words; empty: there is none.
        films: Replays, by episode.
        runs: Where what was said in these stands.
    """
    shown = film_section(scenes_of(summary), films or {}, runs)
    return page(f"Cross-play {found.run_id}", _parts(found, summary, turns, shown, runs), films=bool(films))


def _parts(found: CrossPlay, summary: Summary, turns: str, films: str, runs: Sequence[Run]) -> Iterator[str]:
    yield page_header("Cross-play", cross_play_facts(found), turns)
    yield from cross_play_body(found, summary)
    yield films
    yield page_end(summary, runs, found.notes, found.methods)


def cross_play_facts(found: CrossPlay) -> str:
    """How much was played, in words."""
    return f"{heading(found)} \N{MIDDLE DOT} run {found.run_id} ({found.status})"


def cross_play_body(found: CrossPlay, summary: Summary) -> Iterator[str]:
    """The verdict, the policies, charts, and who played with whom."""
    said = "".join(f"<p><strong>{safe(v.claim)}</strong>{safe(v.detail)}.</p>" for v in found.verdicts)
    lifted = "".join(f"<p>{safe(sentence)}</p>" for sentence in found.lifted)
    yield f'<section class="verdict">{said}{lifted}{missing_lines(summary)}</section>'
    yield f"<h2>{safe(found.task)}</h2>"
    columns = columns_of(found.policies)
    rows = [[safe(column.show(each)) for column in columns] for each in found.policies]
    yield html_table([c.heading for c in columns], rows, [c.heading for c in columns if c.words])
    yield f'<p>{safe(means_sentence(found))}</p><p class="muted">{safe(LEGEND)}</p>'
    charts = [chart for chart in (mate_chart(found), CrossPlayChart.of(found)) if chart]
    yield f'<div class="grid">{"".join(map(chart_panel, charts))}</div>'
    teams = "".join(f"<p>{safe(team_sentence(found, team))}</p>" for team in found.teams[:MOST_PAIRS])
    if (rest := len(found.teams) - MOST_PAIRS) > 0:
        teams += f'<p class="muted">and {rest:,} more, all in tournament.json</p>'
    yield f'<h2>Who played with whom</h2><section class="panel">{teams}</section>'
