"""Charts of made-up results."""

from __future__ import annotations

from collections.abc import Sequence

from gym_gui.analysis.charts import ChartSide, Interval, IntervalChart, OutcomeChart, PairChart, TeamOutcome
from gym_gui.analysis.findings.comparison import Comparison
from gym_gui.analysis.statistics.summary_numbers import Estimate, Share


def interval(
    name: str,
    role: str,
    value: float | None,
    low: float | None = None,
    high: float | None = None,
    note: str = "",
) -> Interval:
    """One row."""
    return Interval(name, role, Estimate(value, low, high, 20, 20, "iqm", note=note))


def intervals(*rows: Interval) -> IntervalChart:
    """A chart of rows."""
    return IntervalChart("IQM return, 95 % interval", rows)


def pairs(
    seeds: Sequence[int | None],
    differences: Sequence[float],
    first: ChartSide = ChartSide("PPO", "rl"),  # noqa: B008  # it cannot be changed
    second: ChartSide = ChartSide("Qwen 2.5", "llm"),  # noqa: B008
) -> PairChart:
    """A chart of first minus second."""
    ahead, behind = sum(d > 0 for d in differences), sum(d < 0 for d in differences)
    n, none = len(differences), Estimate(None, None, None, 0, 0, "mean")
    counts = (ahead, n - ahead - behind, behind)
    numbers = (n, 0, none, None, None, 1, "", *counts)
    told = (tuple(seeds), tuple(differences))
    comparison = Comparison("operators", "", "a", "b", "return", *numbers, "undecided", "", "", *told)
    return PairChart(f"Same seed, {first.name} minus {second.name}", first, second, comparison)


def outcomes(*teams: tuple[str, int, int, int]) -> OutcomeChart:
    """A chart of teams: name, games won, drawn, lost."""

    def share(hits: int, n: int) -> Share:
        return Share(hits, n, hits / n, 0.0, 1.0)

    return OutcomeChart(
        tuple(TeamOutcome(name, *(share(hits, sum(games)) for hits in games)) for name, *games in teams)
    )
