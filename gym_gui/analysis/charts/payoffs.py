"""Who makes how much of the points against whom."""

from __future__ import annotations

from dataclasses import dataclass

from gym_gui.analysis import wording
from gym_gui.analysis.charts.squares import Shade, SquareChart
from gym_gui.analysis.standings import Standings
from gym_gui.analysis.standings_text import made
from gym_gui.analysis.text import clean


@dataclass(frozen=True)
class PayoffChart(SquareChart):
    """Rows against columns, both by rank, shaded by the better one's share."""

    standings: Standings
    title: str = "Points of the row against the column"

    def __bool__(self) -> bool:
        return bool(self.standings.payoffs)

    @property
    def caption(self) -> str:
        """How it is read."""
        return (
            "Green: the row makes more than half of the points; red: less. "
            "The stronger, the further from half."
        )

    def describe(self) -> str:
        """Who has made most."""
        best = self.standings.policies[0]
        return f"{len(self.names)} policies by rank; {clean(best.policy)} stands first."

    @property
    def names(self) -> list[str]:
        """The policies."""
        return [standing.policy for standing in self.standings.policies]

    def shade(self, i: int, j: int) -> Shade | None:
        """What one has made against another."""
        names = self.names
        e = self.standings.payoff(names[i], names[j]) if i != j else None
        if e is None or e.value is None:
            return None
        sentence = f"{clean(names[i])} against {clean(names[j])}: {made(e)} of the points"
        why = f", {wording.count(e.units, 'seed')}" if e.low is None else ""
        return Shade(2 * e.value - 1, f"{100 * e.value:.0f}", f"{sentence}{why}.")
