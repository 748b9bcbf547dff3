"""Line plots of the return per episode and the reward per step, with one line per operator."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any, Final

from PyQt6.QtCore import QPointF
from PyQt6.QtWidgets import QWidget

from gym_gui.analysis.charts.scale import ticks_within
from gym_gui.ui.numbers import local
from gym_gui.ui.plots.live_plot import LivePlot
from gym_gui.ui.plots.series import SeriesStyle
from gym_gui.ui.renderers.agent_words import number_words
from gym_gui.ui.theme import Theme

LINE_WIDTH: Final = 1.8
REMEMBERED_STEPS: Final = 2000
FEW: Final = 40
"""Largest number of values of a series that are drawn with dots and a wider line."""
MOST_POINTS: Final = 160
"""Largest number of points of a drawn line, since a plot of usual width cannot show more."""


class LinePlot(LivePlot):
    """Live plot of lines over episodes or steps, with a tooltip of the values at the pointer.

    Args:
        theme: Color theme.
        x_word: Label of the x axis.
        y_word: Label of the y axis.
        hint: Text shown while there is nothing to draw.
        keep: Largest number of values kept of each series; ``None`` for all.
        parent: Qt owner.
    """

    def __init__(
        self,
        theme: Theme,
        x_word: str,
        y_word: str,
        hint: str,
        *,
        keep: int | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(theme, hint, parent)
        self._words = (x_word, y_word)
        self._keep = keep
        self._values: dict[str, deque[tuple[float, float]]] = {}
        self._lines: dict[str, Any] = {}
        self.setAccessibleName(f"{y_word} by {x_word.lower()}")

    def add(self, series_id: str, x: float, y: float) -> None:
        """Append a value to a series; an x below the previous one clears the series first."""
        values = self._values.setdefault(series_id, deque(maxlen=self._keep))
        if values and x < values[-1][0]:
            values.clear()
        values.append((x, y))
        self.renewed()

    def set_values(self, series_id: str, values: Iterable[tuple[float, float]]) -> None:
        """Replace all (x, y) values of a series."""
        self._values[series_id] = deque(values, maxlen=self._keep)
        self.renewed()

    def values(self, series_id: str) -> list[tuple[float, float]]:
        """Return the pairs of x and y of a series."""
        return list(self._values.get(series_id, ()))

    def clear(self, series_id: str | None = None) -> None:
        """Remove the values of one series, or of all series."""
        if series_id is None:
            self._values.clear()
        else:
            self._values.pop(series_id, None)
        self.renewed()

    def has_values(self) -> bool:
        """Return whether any series has a value."""
        return any(self._values.get(one.id) for one in self._series)

    def describe(self) -> str:
        """Return the last value of each series, as sentences."""
        x_word, y_word = self._words
        parts = [
            f"{one.name}: {y_word.lower()} {number_words(values[-1][1])} "
            f"at {x_word.lower()} {local(values[-1][0]):g}."
            for one in self._series
            if (values := self._values.get(one.id))
        ]
        return " ".join(parts)

    def build(self, pg: Any, plot: Any) -> None:
        """Set up axis labels, grid and tooltips."""
        x_word, y_word = self._words
        color = self._theme.tokens.muted
        if not self.compact:
            plot.setLabel("bottom", x_word, color=color)
            plot.setLabel("left", y_word, color=color)
        plot.showGrid(x=False, y=True, alpha=0.6)
        plot.getAxis("bottom").enableAutoSIPrefix(False)
        plot.getAxis("left").enableAutoSIPrefix(False)
        plot.getViewBox().sigRangeChanged.connect(self._on_range_changed)
        plot.getViewBox().sigResized.connect(self._on_range_changed)
        plot.scene().sigMouseMoved.connect(self._on_pointed)

    def draw(self, pg: Any, plot: Any, look: dict[str, SeriesStyle]) -> None:
        """Draw a line for each series; a series with few values also gets dots."""
        for gone in set(self._lines) - {one.id for one in self._series}:
            plot.removeItem(self._lines.pop(gone))
        for one in self._series:
            line = self._lines.get(one.id)
            if line is None:
                line = self._lines[one.id] = plot.plot()
            values = thinned(list(self._values.get(one.id, ())))
            style = look[one.id]
            few = len(values) <= FEW
            # Qt takes a hundred times longer for a long line that is wider than one pixel.
            pen = pg.mkPen(style.color, width=LINE_WIDTH if few else 1, style=style.dash)
            line.setData(
                [x for x, _ in values],
                [y for _, y in values],
                pen=pen,
                symbol="o" if few else None,
                symbolSize=5,
                symbolBrush=style.color,
                symbolPen=None,
            )
        self._set_span(plot)
        self._name_ends()

    def _set_span(self, plot: Any) -> None:
        """Set range and ticks of the x axis; ticks are whole numbers, because episodes and steps are."""
        known = [values for one in self._series if (values := self._values.get(one.id))]
        low = min(values[0][0] for values in known)
        high = max(values[-1][0] for values in known)
        ticks = [(tick, f"{local(tick):,.0f}") for tick in ticks_within(low, high, whole=True)]
        plot.getAxis("bottom").setTicks([ticks, []])
        plot.setXRange(low - 0.5 if low == high else low, high + 0.5 if low == high else high, padding=0.02)

    def _name_ends(self) -> None:
        if self._plot is None:
            return
        if self.compact or len(self._series) < 2:
            self._names.show_names(())  # A single line needs no name.
            return
        look = self._looks()
        box = self._plot.getViewBox()
        entries: list[tuple[str, SeriesStyle, float]] = []
        for one in self._series:
            values = self._values.get(one.id)
            if values:
                scene = box.mapViewToScene(QPointF(*values[-1]))
                entries.append((one.name, look[one.id], float(self._plot.mapFromScene(scene).y())))
        self._names.show_names(entries)

    def _on_range_changed(self) -> None:
        self._name_ends()

    def _on_pointed(self, position: QPointF) -> None:
        self.show_tip(position, self.text_at(self._plot.getViewBox().mapSceneToView(position).x()))

    def text_at(self, x: float) -> str:
        """Return the values nearest to an x coordinate, one text line per series."""
        nearest = {
            one: min(values, key=lambda value: abs(value[0] - x))
            for one in self._series
            if (values := self._values.get(one.id))
        }
        if not nearest:
            return ""
        place = min((value[0] for value in nearest.values()), key=lambda value: abs(value - x))
        rows = [f"{one.name}  {number_words(y)}" for one, (at, y) in nearest.items() if at == place]
        return "\n".join([f"{self._words[0]} {local(place):g}", *rows])


class ReturnPlot(LinePlot):
    """Live plot of the return of each finished episode, counted from 1."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        hint = "Returns appear after the first finished episode."
        super().__init__(theme, "Episode", "Return", hint, parent=parent)
        self.setObjectName("returnPlot")


class RewardPlot(LinePlot):
    """Live plot of the reward at each step of the current episode, for the last 2,000 steps."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        hint = "Rewards appear after the first step."
        super().__init__(theme, "Step", "Reward", hint, keep=REMEMBERED_STEPS, parent=parent)
        self.setObjectName("rewardPlot")


def thinned(values: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return at most :data:`MOST_POINTS` values: the lowest and the highest of each section of the line."""
    if len(values) <= MOST_POINTS:
        return values
    stretches = MOST_POINTS // 2
    kept: list[tuple[float, float]] = []
    for i in range(stretches):
        part = values[i * len(values) // stretches : (i + 1) * len(values) // stretches]
        ends = {min(part, key=_height), max(part, key=_height)}
        kept.extend(sorted(ends))
    return kept


def _height(value: tuple[float, float]) -> float:
    return value[1]
