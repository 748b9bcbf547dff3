"""Draws charts of cross-play: the mean score of each team of two policies, as a matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from gym_gui.analysis.charts.intervals import Interval, IntervalChart
from gym_gui.analysis.charts.squares import PARTLY, Shade, SquareChart, played_words, share_played
from gym_gui.analysis.findings.cross_play import CrossPlay
from gym_gui.analysis.words import wording
from gym_gui.analysis.words.cross_play_text import cell_sentence, matrix_title
from gym_gui.analysis.words.report_text import clean
from gym_gui.core.drawing.colors import kind_role


@dataclass(frozen=True)
class CrossPlayChart(SquareChart):
    """Matrix of teams: the row's policy plays one seat, the column's the others; diagonal: self-play."""

    square: ClassVar[int] = 44
    found: CrossPlay
    title: str

    @classmethod
    def of(cls, found: CrossPlay) -> CrossPlayChart:
        """Return the chart of a tournament's cross-play."""
        return cls(found, matrix_title(found))

    def __bool__(self) -> bool:
        return bool(self.found.teams or self.found.fixtures)

    @property
    def caption(self) -> str:
        """Caption that explains how to read the chart."""
        partly = any(each.played < each.planned for each in self.found.fixtures)
        return (
            "The diagonal is self-play. Green: above the middle of all values; red: below."
            f"{f' {PARTLY}' if partly else ''}"
        )

    def describe(self) -> str:
        """Return the numbers of policies and teams, as text."""
        return f"{len(self.names)} policies, {len(self.found.teams)} teams of two."

    @property
    def names(self) -> list[str]:
        """Names of the policies."""
        return [mate.policy for mate in self.found.policies]

    def shade(self, i: int, j: int) -> Shade | None:
        """Return the square with the value of the team of policies ``i`` and ``j``; ``None`` if unplanned."""
        row, column = self.names[i], self.names[j]
        team = self.found.cell(row, column)
        played, planned = self.found.on_record(row, column)
        far, share = played_words(played, planned), share_played(played, planned)
        if team is None or team.value.value is None:
            who = f"{clean(row)} with {'itself' if row == column else clean(column)}"
            return Shade(0.0, "", f"{who}: {far}.", share) if far else None
        shown = self.found.seated if self.found.by_seat else self.found.teams
        made = [t.value.value for t in shown if t.value.value is not None]
        low, high = min(made), max(made)
        away = 0.0 if low == high else 2 * (team.value.value - low) / (high - low) - 1
        sentence = clean(cell_sentence(self.found, team)) + (f" {far[:1].upper()}{far[1:]}." if far else "")
        return Shade(away, wording.number(team.value.value), sentence, share)


def cross_play_chart(found: CrossPlay) -> IntervalChart:
    """Return a chart of self-play, cross-play and play with held-out partners, averaged over the pool."""
    rows = (("Self-play", found.own), ("Cross-play", found.cross), ("Held-out partners", found.held))
    kinds = [mate.kind for mate in found.policies if not mate.held_out]
    return IntervalChart(
        f"Mean {found.measure} of the pool, 95 % interval",
        tuple(Interval(name, kind_role(next(iter(kinds), "")), e) for name, e in rows if e is not None),
    )
