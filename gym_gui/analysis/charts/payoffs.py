"""Draws a matrix of the points that each policy makes against each other policy."""

from __future__ import annotations

from dataclasses import dataclass

from gym_gui.analysis.charts.squares import PARTLY, Shade, SquareChart, played_words, share_played
from gym_gui.analysis.findings.standings import Standings
from gym_gui.analysis.words import wording
from gym_gui.analysis.words.report_text import clean
from gym_gui.analysis.words.standings_text import made


@dataclass(frozen=True)
class PayoffChart(SquareChart):
    """Matrix of the row's points against the column, sorted by rank; half of the points is uncolored."""

    standings: Standings
    title: str = "Points of the row against the column"

    def __bool__(self) -> bool:
        return bool(self.standings.payoffs or self.standings.fixtures)

    @property
    def caption(self) -> str:
        """Caption that explains how to read the chart."""
        partly = any(each.played < each.planned for each in self.standings.fixtures)
        return (
            "Green: the row makes more than half of the points; red: less. "
            f"The stronger the color, the further from half.{f' {PARTLY}' if partly else ''}"
        )

    def describe(self) -> str:
        """Return the number of policies, the best by rating, and how many pairings have games."""
        best = self.standings.policies[0]
        first = f" {clean(best.policy)} is first." if best.games else ""
        met = [each for each in self.standings.fixtures if each.played]
        of = len(self.standings.fixtures)
        left = f" {len(met)} of {wording.count(of, 'pairing')} begun." if len(met) < of else ""
        return f"{len(self.names)} policies by rating.{first}{left}"

    @property
    def names(self) -> list[str]:
        """Names of the policies."""
        return [standing.policy for standing in self.standings.policies]

    def shade(self, i: int, j: int) -> Shade | None:
        """Return the square with the points of policy ``i`` against policy ``j``; ``None`` if unplanned."""
        names = self.names
        if i == j:
            return None
        e = self.standings.payoff(names[i], names[j])
        played, planned = self.standings.on_record(names[i], names[j])
        who, far = f"{clean(names[i])} against {clean(names[j])}", played_words(played, planned)
        share = share_played(played, planned)
        if e is None or e.value is None:
            return Shade(0.0, "", f"{who}: {far}.", share) if far else None
        why = f", {wording.count(e.units, 'seed')}" if e.low is None else ""
        sentence = f"{who}: {made(e)} of the points{why}{f'; {far}' if far else ''}."
        return Shade(2 * e.value - 1, f"{100 * e.value:.0f}", sentence, share)
