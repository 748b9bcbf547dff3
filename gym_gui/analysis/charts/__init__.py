"""Draws charts of results as lists of shapes and texts in pixels, for the window and for pages."""

from __future__ import annotations

from gym_gui.analysis.charts.intervals import Interval, IntervalChart, interval_charts
from gym_gui.analysis.charts.outcomes import OutcomeChart, TeamOutcome, outcome_chart
from gym_gui.analysis.charts.pairs import PairChart, Side, pair_chart
from gym_gui.analysis.charts.shapes import (
    Area,
    Box,
    Chart,
    Curve,
    Drawing,
    Line,
    Mark,
    Measure,
    Patch,
    Spot,
    Words,
)

__all__ = [
    "Area",
    "Box",
    "Chart",
    "Curve",
    "Drawing",
    "Interval",
    "IntervalChart",
    "Line",
    "Mark",
    "Measure",
    "OutcomeChart",
    "PairChart",
    "Patch",
    "Side",
    "Spot",
    "TeamOutcome",
    "Words",
    "interval_charts",
    "outcome_chart",
    "pair_chart",
]
