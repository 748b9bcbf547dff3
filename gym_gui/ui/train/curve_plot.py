"""Plot of the curves of several training runs over environment steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from PyQt6.QtCore import QPointF
from PyQt6.QtWidgets import QWidget

from gym_gui.analysis.charts.scale import MOST_TICKS, spread, tick_words, ticks_within
from gym_gui.services.trainings.training_series import Curve
from gym_gui.ui.numbers import in_sentences, local
from gym_gui.ui.plots.live_plot import LivePlot
from gym_gui.ui.plots.series import Series, SeriesStyle
from gym_gui.ui.theme import Theme
from gym_gui.ui.train.run_colors import RunColors
from gym_gui.ui.training_numbers import steps_in_words, value_in_words

LINE: Final = 1.8
BAND_ALPHA: Final = 34
FEW: Final = 40
"""Largest number of points of a curve that are marked by dots."""
_APART: Final = 10
"""Smallest gap between two step labels, in pixels."""


def steps_below(high: float, room: float, wide: Callable[[str], float]) -> list[tuple[float, str]]:
    """Return round step numbers from 0 on with their labels, as many as fit without overlap.

    Args:
        high: Last step.
        room: Width from 0 to the last step, in pixels.
        wide: Returns the width of a label, in pixels.
    """
    high = max(high, 1.0)
    for most in range(MOST_TICKS, 0, -1):
        ticks = [(tick, steps_in_words(tick)) for tick in ticks_within(0, high, most=most, whole=True)]
        widest = max(wide(word) for _, word in ticks)
        if len(ticks) < 2 or ticks[1][0] / high * room >= widest + _APART:
            return ticks
    return [(0.0, "0")]


def heights_beside(bottom: float, top: float) -> list[tuple[float, str]]:
    """Return round tick values for the vertical axis with their labels in the user's locale."""
    rows = ticks_within(bottom, top)
    with in_sentences():
        return list(zip(rows, tick_words(rows), strict=True))


class CurvePlot(LivePlot):
    """Plot with a smooth line for each run, and behind the line a band for the spread of the raw values.

    Args:
        theme: Theme with the colors of axes and background.
        colors: Colors of the runs.
        hint: Text shown while no run has values.
        parent: Qt owner.
    """

    def __init__(self, theme: Theme, colors: RunColors, hint: str, parent: QWidget | None = None) -> None:
        super().__init__(theme, hint, parent)
        self._colors = colors
        self._curves: dict[str, Curve] = {}
        self._items: dict[str, tuple[Any, Any, Any, Any]] = {}
        self._word = ""
        self._named = False
        self.set_compact()

    def set_word(self, word: str) -> None:
        """Set the displayed name of the series, such as ``Return``."""
        self._word = word
        self.setAccessibleName(f"{word} over steps")

    def set_named(self, named: bool) -> None:
        """Set whether run names are shown at the right ends of the lines if there are several runs."""
        self._named = named
        self.renewed()

    def set_hint(self, text: str) -> None:
        """Set the text that is shown while no run has values."""
        self._hint.setText(text)

    def show_curves(self, runs: Sequence[Series], curves: Mapping[str, Curve]) -> None:
        """Draw the curves of runs; a run without an entry in ``curves`` has no values yet."""
        self._curves = {run.id: curves[run.id] for run in runs if run.id in curves}
        self.set_series(runs)

    @property
    def curves(self) -> Mapping[str, Curve]:
        """Curves that are drawn, by run id."""
        return self._curves

    # ------------------------------------------------------------- methods that the base calls

    def has_values(self) -> bool:
        """Return whether any run has a value."""
        return bool(self._curves)

    def describe(self) -> str:
        """Return an accessible text with the last value of each run."""
        parts = [
            f"{run.name}: {self._word.lower()} {value_in_words(curve.last)} at step "
            f"{steps_in_words(curve.span[1])}."
            for run in self.series
            if (curve := self._curves.get(run.id)) is not None
        ]
        return " ".join(parts)

    def build(self, pg: Any, plot: Any) -> None:
        """Add a faint horizontal grid, and a tooltip with the values under the mouse."""
        plot.showGrid(x=False, y=True, alpha=0.6)
        for side in ("left", "bottom"):
            axis = plot.getAxis(side)
            axis.enableAutoSIPrefix(False)
            axis.setZValue(-10)  # The grid is drawn behind the lines.
        plot.getViewBox().sigRangeChanged.connect(self._on_range_changed)
        plot.getViewBox().sigResized.connect(self._on_resized)
        plot.scene().sigMouseMoved.connect(self._on_pointed)

    def draw(self, pg: Any, plot: Any, look: dict[str, SeriesStyle]) -> None:
        """Draw a band and a line for each run."""
        for gone in set(self._items) - set(self._curves):
            for item in self._items.pop(gone):
                plot.removeItem(item)
        for run_id, curve in self._curves.items():
            self._draw_one(pg, plot, run_id, curve)
        self._set_range(plot)
        self._name_ends()

    def _looks(self) -> dict[str, SeriesStyle]:
        return {run.id: self._colors.style_of(run.id) for run in self.series}

    # ---------------------------------------------------------------------------------- drawing

    def _draw_one(self, pg: Any, plot: Any, run_id: str, curve: Curve) -> None:
        style = self._colors.style_of(run_id)
        if run_id not in self._items:
            low, high = pg.PlotCurveItem(pen=None), pg.PlotCurveItem(pen=None)
            band, line = pg.FillBetweenItem(low, high), pg.PlotDataItem()
            for item in (low, high, band, line):
                plot.addItem(item, ignoreBounds=True)
            self._items[run_id] = (low, high, band, line)
        low, high, band, line = self._items[run_id]
        ground = style.color.toRgb()
        ground.setAlpha(BAND_ALPHA)
        low.setData(curve.steps, curve.low)
        high.setData(curve.steps, curve.high)
        band.setBrush(ground)
        few = len(curve.steps) <= FEW
        line.setData(
            curve.steps,
            curve.values,
            pen=pg.mkPen(style.color, width=LINE, style=style.dash),
            symbol="o" if few else None,
            symbolSize=4,
            symbolBrush=style.color,
            symbolPen=None,
        )

    def _set_range(self, plot: Any) -> None:
        """Set axis ranges and round tick labels: steps from 0 on, and values that fill the height of the
        plot.
        """
        high = max(curve.span[1] for curve in self._curves.values())
        self._name_steps(plot)
        plot.setXRange(0, max(high, 1.0), padding=0.02)
        bottom, top = spread(*self.heights())
        plot.setYRange(bottom, top, padding=0.06)
        plot.getAxis("left").setTicks([heights_beside(bottom, top), []])

    def _name_steps(self, plot: Any) -> None:
        high = max((curve.span[1] for curve in self._curves.values()), default=1.0)
        wide = self.fontMetrics().horizontalAdvance
        plot.getAxis("bottom").setTicks([steps_below(high, plot.getViewBox().width(), wide), []])

    def heights(self) -> tuple[float, float]:
        """Return the lowest and highest value of all lines and bands."""
        bottom = min(float(np.minimum(c.values, c.low).min()) for c in self._curves.values())
        top = max(float(np.maximum(c.values, c.high).max()) for c in self._curves.values())
        return bottom, top

    def _name_ends(self) -> None:
        if self._plot is None:
            self._names.show_names(())
            return
        box = self._plot.getViewBox()
        entries: list[tuple[str, SeriesStyle, float]] = []
        for name, look, step, height in self.ends():
            scene = box.mapViewToScene(QPointF(step, height))
            entries.append((name, look, float(self._plot.mapFromScene(scene).y())))
        self._names.show_names(entries)

    def ends(self) -> list[tuple[str, SeriesStyle, float, float]]:
        """Return name, line style, last step and last value of each run, for the labels at the right."""
        if not self._named or len(self._curves) < 2:
            return []
        return [
            (run.name, self._colors.style_of(run.id), curve.span[1], float(curve.values[-1]))
            for run in self.series
            if (curve := self._curves.get(run.id)) is not None
        ]

    def _on_resized(self) -> None:
        """Update the step labels and names after a change of the plot's width."""
        if self._plot is not None and self._curves:
            self._name_steps(self._plot)
        self._name_ends()

    def _on_range_changed(self) -> None:
        self._name_ends()

    # -------------------------------------------------------------------- mouse over the plot

    def _on_pointed(self, position: QPointF) -> None:
        self.show_tip(position, self.text_at(self._plot.getViewBox().mapSceneToView(position).x()))

    def text_at(self, step: float) -> str:
        """Return the value of each run at a step, one text line per run with a value there."""
        rows: list[str] = []
        for run in self.series:
            curve = self._curves.get(run.id)
            if curve is not None and 0 <= step <= curve.span[1]:
                value = float(np.interp(step, curve.steps, curve.values))
                rows.append(f"{run.name}  {value_in_words(value)}")
        return "\n".join([f"At step {local(step):,.0f}", *rows]) if rows else ""
