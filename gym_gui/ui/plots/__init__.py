"""Plots of what operators did.

Charts of results are :mod:`gym_gui.analysis.charts`, which a view paints; those that grow while operators
play import pyqtgraph when they are first looked at.
"""

from __future__ import annotations

from gym_gui.ui.plots.action_plot import ActionPlot
from gym_gui.ui.plots.chart_view import ChartView
from gym_gui.ui.plots.line_plots import LinePlot, ReturnPlot, RewardPlot
from gym_gui.ui.plots.series import Series

__all__ = ["ActionPlot", "ChartView", "LinePlot", "ReturnPlot", "RewardPlot", "Series"]
