"""Bar plot of how often an operator's agents took each action."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from PyQt6.QtCore import QPointF
from PyQt6.QtGui import QFontMetrics, QResizeEvent
from PyQt6.QtWidgets import QWidget

from gym_gui.analysis.charts.scale import ticks_within
from gym_gui.ui import theme as themes
from gym_gui.ui.numbers import local
from gym_gui.ui.plots.live_plot import Legend, LivePlot
from gym_gui.ui.plots.series import Series, SeriesStyle
from gym_gui.ui.theme import SMALL_PX, Theme

MOST_WORDS: Final = 12
FEWEST_WORDS: Final = 4
WORD_PX: Final = 15
"""Smallest height in pixels of a row with the name of an action."""
FIGURE_PX: Final = 9
"""Smallest bar height in pixels at which a bar has its number beside it, so that numbers do not overlap."""
LONGEST: Final = 18
OTHERS: Final = "all others"
_MOST_SHARES: Final = 4
"""Largest number of tick labels on the axis below the bars."""
_APART: Final = 1.4
"""Smallest distance between the centers of two tick labels, in widths of a label."""


class ActionPlot(LivePlot):
    """Bar plot with each operator's share of decisions per action, as a percentage.

    Args:
        theme: Color theme.
        parent: Qt owner.
    """

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, "The share of each action appears after the first step.", parent)
        self.setObjectName("actionPlot")
        self.setAccessibleName("Share of each action")
        self._words: list[str] = []
        self._counts: dict[str, Counter[str]] = {}
        self._bars: dict[str, Any] = {}
        self._labels: dict[str, list[Any]] = {}
        self._layout: tuple[list[str], list[str]] = ([], [])
        self._reach = 0.0
        self._shares = 0
        self._key = Legend(theme, parent=self)
        self._grid.addWidget(self._key, 1, 0, 1, 2)

    def set_actions(self, words: Sequence[str]) -> None:
        """Set the names of actions in the environment's order; other actions are appended when they occur."""
        self._words = list(dict.fromkeys(words))
        self.renewed()

    def add(self, series_id: str, word: str, count: int = 1) -> None:
        """Count decisions for an action of an operator."""
        if word not in self._words:
            self._words.append(word)
        self._counts.setdefault(series_id, Counter())[word] += count
        self.renewed()

    def set_counts(self, series_id: str, counts: Mapping[str, int]) -> None:
        """Replace all action counts of an operator."""
        self._words.extend(word for word in counts if word not in self._words)
        self._counts[series_id] = Counter(counts)
        self.renewed()

    def clear(self, series_id: str | None = None) -> None:
        """Remove the counts of one operator, or of all operators."""
        if series_id is None:
            self._counts.clear()
        else:
            self._counts.pop(series_id, None)
        self.renewed()

    def has_values(self) -> bool:
        """Return whether any operator has acted."""
        return any(self._total(one.id) for one in self._series)

    def shares(self, series_id: str) -> dict[str, float]:
        """Return an operator's share of each shown action, 0 to 1, from top to bottom."""
        counts, total = self._counts.get(series_id, Counter()), self._total(series_id)
        shown = self._shown()
        result = {word: counts[word] / total if total else 0.0 for word in shown if word != OTHERS}
        if OTHERS in shown:
            result[OTHERS] = 1.0 - sum(result.values()) if total else 0.0
        return result

    def figures(self, series_id: str) -> list[Any]:
        """Return the pyqtgraph text items with an operator's percentages, from top to bottom."""
        return list(self._labels.get(series_id, ()))

    def describe(self) -> str:
        """Return the three most common actions of each operator as sentences."""
        parts: list[str] = []
        for one in self._series:
            if self._total(one.id):
                common = sorted(self.shares(one.id).items(), key=lambda item: -item[1])[:3]
                words = ", ".join(f"{word} {share:.0%}" for word, share in common if share)
                parts.append(f"{one.name}: {words}.")
        return " ".join(parts)

    def build(self, pg: Any, plot: Any) -> None:
        """Set up the axes: actions at the left, shares below."""
        if not self.compact:
            plot.setLabel("bottom", "Share of decisions", color=self._theme.tokens.muted)
        plot.showGrid(x=True, y=False, alpha=0.6)
        plot.invertY(True)
        plot.scene().sigMouseMoved.connect(self._on_pointed)
        bottom = plot.getAxis("bottom")
        bottom.enableAutoSIPrefix(False)
        bottom.setZValue(-1)  # The grid lies behind the bars.

    def draw(self, pg: Any, plot: Any, look: dict[str, SeriesStyle]) -> None:
        """Draw the bars of all operators side by side for each action."""
        words = self._shown()
        active = [one for one in self._series if self._total(one.id)]
        if (words, [one.id for one in active]) != self._layout:
            self._lay_out(pg, plot, words, active)
        thick = 0.72 / len(active)
        roomy = thick * self._plot.height() / max(len(words), 1) >= FIGURE_PX
        longest = 0.0
        for nth, one in enumerate(active):
            shares = list(self.shares(one.id).values())
            longest = max(longest, *shares)
            middle = [row - 0.36 + thick * (nth + 0.5) for row in range(len(words))]
            self._bars[one.id].setOpts(
                x0=0, y=middle, width=shares, height=thick * 0.86, brush=look[one.id].color, pen=None
            )
            for label, y, share in zip(self._labels[one.id], middle, shares, strict=True):
                label.setPos(share, y)
                label.setVisible(roomy)
                label.setText(f"{share:.0%}".replace("%", " %"), color=self._theme.color("muted"))
        named = len(active) > 1 and not self.compact
        self._key.show_names([(one.name, look[one.id]) for one in active] if named else ())
        self._set_reach(plot, max(longest * 1.18, 0.1))

    def _lay_out(self, pg: Any, plot: Any, words: list[str], active: Sequence[Series]) -> None:
        """Create the bars and percentages for all shown actions and operators."""
        for item in [*self._bars.values(), *(label for labels in self._labels.values() for label in labels)]:
            plot.removeItem(item)
        self._bars, self._labels = {}, {}
        font = themes.tabular(themes.font(SMALL_PX))
        for one in active:
            self._bars[one.id] = pg.BarGraphItem(x0=0, y=[0], width=[0], height=0)
            plot.addItem(self._bars[one.id])
            self._labels[one.id] = []
            for _ in words:
                label = pg.TextItem(anchor=(0, 0.5))
                label.setFont(font)
                plot.addItem(label, ignoreBounds=True)
                self._labels[one.id].append(label)
        plot.getAxis("left").setTicks([[(row, _short(word)) for row, word in enumerate(words)], []])
        plot.setYRange(-0.5, len(words) - 0.5, padding=0.02)
        self._layout = (words, [one.id for one in active])

    def _set_reach(self, plot: Any, reach: float) -> None:
        """Set the range of the share axis so that the longest bar's number fits, without a change at every
        step.
        """
        figure = QFontMetrics(themes.tabular(themes.font(SMALL_PX))).horizontalAdvance("100 %")
        room = int(plot.getViewBox().width() // (_APART * figure))
        shares = max(1, min(room, _MOST_SHARES))
        if self._reach * 0.8 <= reach <= self._reach and shares == self._shares:
            return
        if not self._reach * 0.8 <= reach <= self._reach:
            self._reach = min(reach * 1.08, 1.18)
            plot.setXRange(0, self._reach, padding=0)
        self._shares = shares
        ticks = ticks_within(0.0, min(self._reach, 1.0), most=shares, least=0.01)
        plot.getAxis("bottom").setTicks([[(tick, f"{local(100 * tick):.0f} %") for tick in ticks], []])

    def text_at(self, y: float) -> str:
        """Return the shares of the action in row ``y``, one line per operator; the top row is 0."""
        words, row = self._shown(), round(y)
        if not 0 <= row < len(words):
            return ""
        active = [one for one in self._series if self._total(one.id)]
        shares = [f"{one.name}  {self.shares(one.id)[words[row]]:.0%}".replace("%", " %") for one in active]
        return "\n".join([words[row], *shares])

    def _on_pointed(self, position: QPointF) -> None:
        self.show_tip(position, self.text_at(self._plot.getViewBox().mapSceneToView(position).y()))

    def resizeEvent(self, a0: QResizeEvent | None) -> None:
        """Show as many actions as fit the new height."""
        super().resizeEvent(a0)
        self.renewed()

    def _shown(self) -> list[str]:
        most = max(FEWEST_WORDS, min(MOST_WORDS, self.height() // WORD_PX))
        if len(self._words) <= most:
            return list(self._words)
        total: Counter[str] = Counter()
        for one in self._series:
            total.update(self._counts.get(one.id, Counter()))
        common = {word for word, _ in total.most_common(most - 1)}
        return [*(word for word in self._words if word in common), OTHERS]

    def _total(self, series_id: str) -> int:
        return sum(self._counts.get(series_id, Counter()).values())


def _short(word: str) -> str:
    return word if len(word) <= LONGEST else word[: LONGEST - 1] + "…"
