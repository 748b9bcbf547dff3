"""Ratings of a tournament with their intervals."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from gym_gui.analysis.charts.intervals import Interval, IntervalChart
from gym_gui.analysis.charts.marks import kind_role
from gym_gui.analysis.standings import Standings
from gym_gui.analysis.text import clean

MOST_RATINGS: Final = 60


def rating_chart(standings: Standings) -> IntervalChart:
    """Ratings by rank, as far as there is room for them."""
    rows = [
        Interval(
            clean(each.policy),
            kind_role([each.kind]),
            replace(each.rating, note=each.note or each.rating.note),
        )
        for each in standings.policies[:MOST_RATINGS]
    ]
    return IntervalChart("Rating, 95 % interval", tuple(rows))
