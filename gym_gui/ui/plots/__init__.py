"""Plots of what operators did. The live ones import pyqtgraph when they are first looked at."""

from __future__ import annotations

from gym_gui.ui.plots.action_plot import ActionPlot
from gym_gui.ui.plots.interval_plot import Interval, IntervalPlot
from gym_gui.ui.plots.line_plots import LinePlot, ReturnPlot, RewardPlot
from gym_gui.ui.plots.outcome_plot import OutcomePlot, TeamOutcome
from gym_gui.ui.plots.paired_seeds_plot import PairedSeedsPlot, Side
from gym_gui.ui.plots.series import Series

__all__ = [
    "ActionPlot",
    "Interval",
    "IntervalPlot",
    "LinePlot",
    "OutcomePlot",
    "PairedSeedsPlot",
    "ReturnPlot",
    "RewardPlot",
    "Series",
    "Side",
    "TeamOutcome",
]
