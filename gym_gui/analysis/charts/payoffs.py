"""Who makes how much of the points against whom: a square for each two, shaded by the better one's share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from gym_gui.analysis import wording
from gym_gui.analysis.charts.marks import (
    GAP,
    ROW,
    Area,
    Box,
    Chart,
    Drawing,
    Mark,
    Measure,
    Spot,
    Words,
    baseline,
    cut,
)
from gym_gui.analysis.standings import Standings
from gym_gui.analysis.standings_text import made
from gym_gui.analysis.text import clean

SQUARE: Final = 30
HEAD: Final = 22
_LEGIBLE: Final = 26
"""Narrower squares have no number in them."""


@dataclass(frozen=True)
class PayoffChart(Chart):
    """Rows against columns, both by rank."""

    standings: Standings
    title: str = "Points of the row against the column"

    def __bool__(self) -> bool:
        return bool(self.standings.payoffs)

    @property
    def caption(self) -> str:
        """How it is read."""
        return (
            "Green: the row makes more than half of the points; red: less. The darker, the further from half."
        )

    def describe(self) -> str:
        """Who has made most."""
        best = self.standings.policies[0]
        return f"{len(self._names)} policies by rank; {clean(best.policy)} stands first."

    @property
    def heights(self) -> tuple[float, float]:
        """A square for each policy."""
        rows = len(self._names)
        return HEAD + rows * 12, HEAD + rows * SQUARE

    @property
    def _names(self) -> list[str]:
        return [standing.policy for standing in self.standings.policies]

    def draw(self, width: float, height: float, measure: Measure) -> Drawing:
        """Names at the left, numbers of the columns above, the squares."""
        names = self._names
        labels = [f"{i + 1} {clean(name)}" for i, name in enumerate(names)]
        left = min(max(measure(label, 12) for label in labels) + GAP, width * 0.4)
        side = min((width - left) / len(names), (height - HEAD) / len(names), 48.0)
        marks: list[Mark] = []
        spots: list[Spot] = []
        for i, label in enumerate(labels):
            middle = HEAD + (i + 0.5) * side
            if side >= 11:
                marks.append(Words(0, baseline(middle), cut(label, left - ROW, measure)))
                marks.append(Words(left + (i + 0.5) * side, baseline(HEAD / 2), str(i + 1), anchor="middle"))
            for j in range(len(names)):
                area = Area(left + j * side, HEAD + i * side, side, side)
                if (spot := self._spot(i, j, area)) is not None:
                    spots.append(spot)
        return Drawing(width, height, tuple(marks), tuple(spots))

    def _spot(self, i: int, j: int, area: Area) -> Spot | None:
        names = self._names
        e = self.standings.payoff(names[i], names[j]) if i != j else None
        if e is None or e.value is None:
            return None
        away = 2 * e.value - 1
        role = "ok" if away > 0 else "error" if away < 0 else "raised"
        square: list[Mark] = [Box(area.inset(0.5), "raised")]
        if away:
            square.append(Box(area.inset(0.5), role, 0.15 + 0.6 * abs(away)))
        if area.width >= _LEGIBLE:
            number = f"{100 * e.value:.0f}"
            x, y = area.x + area.width / 2, baseline(area.y + area.height / 2, 11)
            square.append(Words(x, y, number, "text", 11, "middle"))
        sentence = f"{clean(names[i])} against {clean(names[j])}: {made(e)} of the points"
        why = f", {wording.count(e.units, 'seed')}" if e.low is None else ""
        return Spot(i * len(names) + j, area, f"{sentence}{why}.", tuple(square))
