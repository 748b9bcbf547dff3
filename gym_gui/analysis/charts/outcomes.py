"""Draws a chart of the games that each team won, drew and lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from gym_gui.analysis.charts.shapes import (
    LABEL_PX,
    ROW,
    SMALL_PX,
    STEP,
    TEXT_PX,
    Area,
    Box,
    Chart,
    Drawing,
    HoverRegion,
    Mark,
    Measure,
    TextLine,
    baseline,
    cut,
)
from gym_gui.analysis.findings.summary import OperatorSummary
from gym_gui.analysis.statistics.summary_numbers import Share
from gym_gui.analysis.words import wording
from gym_gui.analysis.words.report_text import clean

PITCH: Final = 58
HEADING: Final = 22
BAR: Final = 20


@dataclass(frozen=True, slots=True)
class TeamOutcome:
    """Name of a team with its players, and its shares of games won, drawn and lost."""

    name: str
    won: Share
    drawn: Share
    lost: Share

    def words(self) -> str:
        """Return the counts as text."""
        return f"won {self.won.hits}, drawn {self.drawn.hits}, lost {self.lost.hits}"


@dataclass(frozen=True)
class OutcomeChart(Chart):
    """Chart with one bar per team, divided into labeled parts for games won, drawn and lost."""

    teams: tuple[TeamOutcome, ...]
    title: str = "Outcomes by team"

    def __bool__(self) -> bool:
        return bool(self.teams)

    def describe(self) -> str:
        """Return every team's counts as text."""
        return " ".join(f"{team.name}: {team.words()}." for team in self.teams)

    @property
    def heights(self) -> tuple[float, float]:
        """Least and usual height in pixels, which are equal, so that all teams are visible."""
        height = max(len(self.teams), 2) * PITCH
        return height, height

    def draw(self, width: float, height: float, measure: Measure) -> Drawing:
        """Draw each team's name, counts and bar in a size in pixels."""
        marks: list[Mark] = []
        spots: list[HoverRegion] = []
        for key, team in enumerate(self.teams):
            top, counts = key * PITCH, team.words()
            y, room = top + HEADING / 2, width - measure(counts, LABEL_PX) - 2 * ROW
            name = cut(team.name, room, measure, TEXT_PX)
            marks.append(TextLine(0, baseline(y, TEXT_PX), name, "text", TEXT_PX))
            marks.append(TextLine(width, baseline(y), counts, anchor="end"))
            spots += _parts(key, team, Area(0, top + HEADING + STEP, width, BAR), measure)
        return Drawing(width, height, tuple(marks), tuple(spots))


def _parts(key: int, team: TeamOutcome, bar: Area, measure: Measure) -> list[HoverRegion]:
    spots: list[HoverRegion] = []
    left = bar.x
    for word, games, role in (
        ("won", team.won, "ok"),
        ("drawn", team.drawn, "raised"),
        ("lost", team.lost, "error"),
    ):
        if not games.hits:
            continue
        wide = bar.width * games.hits / games.n
        area = bar._replace(x=left, width=max(wide - 2, 1.0))
        left += wide
        marks: list[Mark] = [Box(area, role, radius=STEP)]
        if role == "raised":  # the color hardly differs from the background, so draw an edge
            marks = [Box(area, "muted", radius=STEP), Box(area.inset(1), role, radius=STEP - 1)]
        share = f"{word} {wording.percent(games.value)}"
        if measure(share, SMALL_PX) + 2 * ROW <= area.width:
            y = baseline(area.y + BAR / 2, SMALL_PX)
            marks.append(TextLine(area.x + ROW, y, share, f"on-{role}", SMALL_PX))
        spots.append(HoverRegion(key, area, f"{team.name}: {word} {wording.share(games)}.", tuple(marks)))
    return spots


def outcome_chart(operators: Sequence[OperatorSummary]) -> OutcomeChart:
    """Return the chart of one environment's competing teams; teams without games are left out."""
    found: list[TeamOutcome] = []
    for operator in operators:
        for team in operator.teams if len(operator.teams) > 1 else ():
            if team.win and team.draw and team.loss and team.win.n:
                name = f"{operator.name}: {team.title}" if len(operators) > 1 else team.title
                members = f": {', '.join(team.members)}" if team.members else ""
                found.append(TeamOutcome(clean(name + members), team.win, team.draw, team.loss))
    return OutcomeChart(tuple(found))
