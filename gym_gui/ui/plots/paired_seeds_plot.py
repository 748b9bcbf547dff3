"""Two operators on the same seeds: a bar for each, up where the first did better."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from PyQt6.QtCore import QEvent, QPointF, QRectF, Qt, pyqtSignal
from PyQt6.QtGui import QHelpEvent, QKeyEvent, QMouseEvent, QPainter, QPen
from PyQt6.QtWidgets import QToolTip, QWidget

from gym_gui.ui import theme as themes
from gym_gui.ui.plots.chart import Chart, Scale
from gym_gui.ui.renderers.agent_words import number_words
from gym_gui.ui.theme import GAP, ROW, SECTION_PX, STEP, Theme

MOST_BARS: Final = 240
HEAD: Final = 26
FOOT: Final = 24


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two: its name and its kind of agent."""

    name: str
    kind: str


@dataclass(frozen=True, slots=True)
class _Bar:
    pair: int
    seed: int | None
    value: float


class PairedSeedsPlot(Chart):
    """A bar for each seed; a click on one asks for its replay.

    Left and right move along the bars, Enter chooses. With more than 240 pairs a selection
    is drawn, from the largest to the smallest difference.

    Args:
        theme: Colours.
        parent: Qt owner.
    """

    seed_chosen = pyqtSignal(int)
    pair_chosen = pyqtSignal(int)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, "Two operators that played the same seeds are compared here.", parent)
        self.setObjectName("pairedSeedsPlot")
        self.setAccessibleName("Difference on each seed")
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._first = self._second = Side("", "")
        self._measure = "return"
        self._all: tuple[float, ...] = ()
        self._bars: list[_Bar] = []
        self._hover: int | None = None
        self._current: int | None = None
        self.renewed()

    def set_pairs(
        self,
        first: Side,
        second: Side,
        seeds: Sequence[int | None],
        differences: Sequence[float],
        measure: str = "return",
    ) -> None:
        """Show first minus second on each seed.

        Raises:
            ValueError: There are not as many seeds as differences.
        """
        if len(seeds) != len(differences):
            raise ValueError(f"{len(seeds)} seeds do not fit {len(differences)} differences.")
        self._first, self._second, self._measure = first, second, measure
        self._all = tuple(differences)
        bars = [_Bar(i, seed, value) for i, (seed, value) in enumerate(zip(seeds, differences, strict=True))]
        self._bars = _thinned(bars)
        self._hover = self._current = None
        self.renewed()

    def has_values(self) -> bool:
        """Whether there is a pair."""
        return bool(self._bars)

    @property
    def summary(self) -> str:
        """Who is ahead on how many seeds."""
        ahead = sum(value > 0 for value in self._all)
        behind = sum(value < 0 for value in self._all)
        level = len(self._all) - ahead - behind
        text = f"{self._first.name} ahead on {ahead} seeds, level on {level}, behind on {behind}."
        text = text.replace(" 1 seeds", " 1 seed")
        if len(self._all) > len(self._bars):
            text += f" {len(self._bars)} shown, from largest to smallest."
        return text

    def describe(self) -> str:
        """The summary, and the bar under the keyboard's cursor."""
        bar = self._bars[self._current] if self._current is not None else None
        return f"{self.summary} {self._sentence(bar)}" if bar is not None else self.summary

    def bar_rect(self, index: int) -> QRectF:
        """Where a bar can be clicked, from the top of the chart to its foot."""
        left, width = self._span()
        slot = width / len(self._bars)
        return QRectF(left + index * slot, HEAD, slot, self.height() - HEAD - FOOT)

    # ------------------------------------------------------------------------------------- pointing

    def mouseMoveEvent(self, a0: QMouseEvent | None) -> None:
        """Mark the bar under the pointer."""
        at = self._at(a0.position()) if a0 is not None else None
        if at != self._hover:
            self._hover = at
            hand = Qt.CursorShape.PointingHandCursor if at is not None else Qt.CursorShape.ArrowCursor
            self.setCursor(hand)
            self.update()

    def leaveEvent(self, a0: QEvent | None) -> None:
        """Nothing is pointed at."""
        self._hover = None
        self.update()

    def mouseReleaseEvent(self, a0: QMouseEvent | None) -> None:
        """Choose a seed."""
        if a0 is not None and a0.button() == Qt.MouseButton.LeftButton:
            at = self._at(a0.position())
            if at is not None:
                self._current = at
                self._choose(at)

    def keyPressEvent(self, a0: QKeyEvent | None) -> None:
        """Left, right, Home and End move; Enter chooses."""
        if a0 is None or not self._bars:
            super().keyPressEvent(a0)
            return
        last = len(self._bars) - 1
        current = -1 if self._current is None else self._current
        steps = {
            Qt.Key.Key_Left: max(current - 1, 0),
            Qt.Key.Key_Right: min(current + 1, last),
            Qt.Key.Key_Home: 0,
            Qt.Key.Key_End: last,
        }
        key = Qt.Key(a0.key())
        if key in steps:
            self._current = steps[key]
            self.renewed()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space) and self._current is not None:
            self._choose(self._current)
        else:
            super().keyPressEvent(a0)

    def event(self, a0: QEvent | None) -> bool:
        """A bar's tooltip is its sentence."""
        if isinstance(a0, QHelpEvent) and a0.type() == QEvent.Type.ToolTip:
            at = self._at(QPointF(a0.pos()))
            if at is not None:
                QToolTip.showText(a0.globalPos(), self._sentence(self._bars[at]), self)
            return True
        return super().event(a0)

    def _choose(self, at: int) -> None:
        bar = self._bars[at]
        self.renewed()
        self.pair_chosen.emit(bar.pair)
        if bar.seed is not None:
            self.seed_chosen.emit(bar.seed)

    def _at(self, point: QPointF) -> int | None:
        if not self._bars:
            return None
        left, width = self._span()
        at = int((point.x() - left) // (width / len(self._bars)))
        inside = 0 <= at < len(self._bars) and HEAD <= point.y() <= self.height() - FOOT
        return at if inside else None

    def _sentence(self, bar: _Bar) -> str:
        where = f"Seed {bar.seed}" if bar.seed is not None else f"Pair {bar.pair + 1}"
        if not bar.value:
            return f"{where}: no difference. Click to replay both."
        ahead = self._first if bar.value > 0 else self._second
        amount = number_words(abs(bar.value))
        return f"{where}: {ahead.name} ahead by {amount} in {self._measure}. Click to replay both."

    # -------------------------------------------------------------------------------------- drawing

    def draw(self, painter: QPainter) -> None:
        """Summary, bars, the line of no difference, words for both directions."""
        box = QRectF(0, 0, self.width(), HEAD - ROW)
        text = f"{self.summary} Click a bar to replay both."
        text = text if self.advance(text, SECTION_PX) <= self.width() else self.summary
        self.write(painter, box, text, Qt.AlignmentFlag.AlignLeft, pixels=SECTION_PX)
        scale = self._scale()
        left, width = self._span()
        for tick, word in zip(scale.ticks, scale.words(), strict=True):
            y = scale(tick)
            self.rule(painter, QPointF(left, y), QPointF(left + width, y), "muted" if tick == 0 else "line")
            self.write(painter, QRectF(0, y - 9, left - ROW, 18), word, Qt.AlignmentFlag.AlignRight)
        slot = width / len(self._bars)
        thick = max(1.0, min(18.0, slot * 0.7))
        for index, bar in enumerate(self._bars):
            self._paint_bar(painter, index, bar, scale, left + (index + 0.5) * slot, thick)
        self._paint_words(painter, left, width)

    def _paint_bar(
        self, painter: QPainter, index: int, bar: _Bar, scale: Scale, x: float, thick: float
    ) -> None:
        zero, end = scale(0.0), scale(bar.value)
        colour = themes.kind_colour((self._first if bar.value > 0 else self._second).kind)
        if bar.value < 0 and self._first.kind == self._second.kind:
            colour = colour.lighter(135) if self.theme.dark else colour.darker(150)
        if not bar.value:
            colour, end = self.theme.colour("muted"), zero - 2
        marked = index in (self._hover, self._current if self.hasFocus() else None)
        colour.setAlphaF(1.0 if marked else 0.78)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        shape = QRectF(x - thick / 2, min(zero, end), thick, max(abs(end - zero), 2.0))
        painter.drawRect(shape)
        if marked:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(self.theme.colour("text"), 1.2))
            painter.drawRect(shape.adjusted(-1.5, -1.5, 1.5, 1.5))

    def _paint_words(self, painter: QPainter, left: float, width: float) -> None:
        y = self.height() - FOOT + STEP
        align = Qt.AlignmentFlag
        order = "Largest difference first" if len(self._all) > len(self._bars) else "Seeds in order"
        right = min(self.advance(order) + STEP, width / 2)
        sides = f"↑ {self._first.name} ahead   ↓ {self._second.name} ahead"
        self.write(painter, QRectF(left, y, width - right - GAP, 18), sides, align.AlignLeft)
        self.write(painter, QRectF(left + width - right, y, right, 18), order, align.AlignRight)

    def _scale(self) -> Scale:
        bottom, top = self.height() - FOOT - STEP, HEAD + STEP
        return Scale.over([bar.value for bar in self._bars] or [0.0], bottom, top, zero=True)

    def _span(self) -> tuple[float, float]:
        widest = max((self.advance(word) for word in self._scale().words()), default=0)
        left = widest + GAP
        return left, max(self.width() - left - STEP, 1.0)


def _thinned(bars: list[_Bar]) -> list[_Bar]:
    """All of them, or 240 spread over the whole range of differences."""
    if len(bars) <= MOST_BARS:
        return bars
    ranked = sorted(bars, key=lambda bar: -bar.value)
    last = len(ranked) - 1
    return [ranked[round(k * last / (MOST_BARS - 1))] for k in range(MOST_BARS)]
