"""Draws a chart of a tournament's ratings with their intervals."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from gym_gui.analysis.charts.intervals import Interval, IntervalChart
from gym_gui.analysis.findings.standings import Standings
from gym_gui.analysis.words.report_text import clean
from gym_gui.core.drawing.colors import FURTHER_COLORS, distinct_roles, kind_role

MOST_RATINGS: Final = 60


def rating_chart(standings: Standings) -> IntervalChart:
    """Return a chart of the ratings by rank, at most :data:`MOST_RATINGS`."""
    kinds = [each.kind for each in standings.policies]
    few = len(kinds) <= len(FURTHER_COLORS) + 1  # with more policies, colors would repeat
    roles = distinct_roles(kinds) if few else [kind_role(kind) for kind in kinds]
    rows = [
        Interval(clean(each.policy), role, replace(each.rating, note=each.note or each.rating.note))
        for each, role in zip(standings.policies[:MOST_RATINGS], roles, strict=False)
    ]
    return IntervalChart("Rating, 95 % interval", tuple(rows))
