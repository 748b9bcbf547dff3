"""Draws charts of results as lists of shapes and texts in pixels, for the window and for pages."""

from __future__ import annotations

from gym_gui.analysis.charts.intervals import Interval, IntervalChart, interval_charts
from gym_gui.analysis.charts.outcomes import OutcomeChart, TeamOutcome, outcome_chart
from gym_gui.analysis.charts.pairs import ChartSide, PairChart, pair_chart
from gym_gui.analysis.charts.shapes import (
    Area,
    Box,
    Chart,
    Curve,
    Drawing,
    HoverRegion,
    Line,
    Mark,
    Measure,
    Patch,
    TextLine,
)

__all__ = [
    "Area",
    "Box",
    "Chart",
    "ChartSide",
    "Curve",
    "Drawing",
    "HoverRegion",
    "Interval",
    "IntervalChart",
    "Line",
    "Mark",
    "Measure",
    "OutcomeChart",
    "PairChart",
    "Patch",
    "TeamOutcome",
    "TextLine",
    "interval_charts",
    "outcome_chart",
    "pair_chart",
]
