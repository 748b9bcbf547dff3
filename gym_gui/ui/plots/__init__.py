"""Plots of results and of running operators.

:mod:`gym_gui.analysis.charts` creates charts of results, which a view paints. Live plots import pyqtgraph
when they first become visible.
"""

from __future__ import annotations

from gym_gui.ui.plots.action_plot import ActionPlot
from gym_gui.ui.plots.chart_view import ChartView
from gym_gui.ui.plots.line_plots import LinePlot, ReturnPlot, RewardPlot
from gym_gui.ui.plots.series import Series

__all__ = ["ActionPlot", "ChartView", "LinePlot", "ReturnPlot", "RewardPlot", "Series"]
