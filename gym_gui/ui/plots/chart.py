"""What painted charts share: the theme, a scale with round numbers, the empty state."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from PyQt6.QtCore import QPointF, QRect, QRectF, QSize, Qt
from PyQt6.QtGui import QFont, QFontMetrics, QPainter, QPaintEvent, QPen
from PyQt6.QtWidgets import QSizePolicy, QWidget

from gym_gui.ui import theme as themes
from gym_gui.ui.theme import GAP, SECTION_PX, SMALL_PX, TEXT_PX, Theme

MOST_TICKS: Final = 5
SAME: Final = 1e-6
"""Numbers closer than this, by themselves or relative to their size, are drawn as one."""


@dataclass(frozen=True, slots=True)
class Scale:
    """Numbers onto pixels.

    Attributes:
        ticks: Round numbers, from the smallest to the largest.
        start: Pixel of the first tick.
        end: Pixel of the last one.
        low: Smallest number.
        high: Largest number.
    """

    ticks: tuple[float, ...]
    start: float
    end: float
    low: float
    high: float

    @classmethod
    def over(cls, values: Iterable[float], start: float, end: float, *, zero: bool = False) -> Scale:
        """A scale that spans the values, and zero where it is asked for."""
        known = [value for value in values if math.isfinite(value)] or [0.0]
        low, high = min(known), max(known)
        if zero:
            low, high = min(low, 0.0), max(high, 0.0)
        size = max(abs(low), abs(high))
        if high - low <= max(SAME, SAME * size):
            pad = size * 0.1 if size > 10 * SAME else 1.0
            # What cannot be negative does not begin below 0.
            low, high = (max(low - pad, 0.0) if low >= 0 else low - pad), high + pad
        step = round_step((high - low) / MOST_TICKS)
        first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
        ticks = tuple(round(i * step, 12) for i in range(first, last + 1))
        return cls(ticks, start, end, ticks[0], ticks[-1])

    def __call__(self, value: float) -> float:
        """Where a number lies."""
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)

    def words(self) -> list[str]:
        """The ticks, written with as many digits as tell them apart."""
        step = self.ticks[1] - self.ticks[0]
        digits = 0
        while digits < 8 and abs(round(step, digits) - step) > step * 1e-6:
            digits += 1
        return [f"{tick:,.{digits}f}" if tick else "0" for tick in self.ticks]


def round_step(rough: float) -> float:
    """The next larger of 1, 2, 2.5, 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(rough))
    return next(power * m for m in (1, 2, 2.5, 5, 10) if power * m >= rough * (1 - 1e-9))


class Chart(QWidget):
    """A chart that paints itself.

    Args:
        theme: Colours.
        hint: What stands here while there is nothing to draw.
        parent: Qt owner.
    """

    def __init__(self, theme: Theme, hint: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self._hint = hint
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        theme.changed.connect(self.update)

    def has_values(self) -> bool:
        """Whether there is something to draw."""
        raise NotImplementedError

    def draw(self, painter: QPainter) -> None:
        """Paint what there is."""
        raise NotImplementedError

    def describe(self) -> str:
        """What the chart shows, as sentences."""
        raise NotImplementedError

    def renewed(self) -> None:
        """Values changed."""
        self.setAccessibleDescription(self.describe() if self.has_values() else self._hint)
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        """Room for a chart beside another one."""
        return QSize(420, 260)

    def minimumSizeHint(self) -> QSize:
        """Smaller than this it cannot be read."""
        return QSize(220, 120)

    def paintEvent(self, a0: QPaintEvent | None) -> None:
        """The chart, or its hint."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self.has_values():
            self.draw(painter)
        else:
            painter.setFont(themes.font(TEXT_PX))
            painter.setPen(self.theme.colour("muted"))
            flags = int(Qt.AlignmentFlag.AlignCenter) | int(Qt.TextFlag.TextWordWrap)
            painter.drawText(self.rect().adjusted(GAP, GAP, -GAP, -GAP), flags, self._hint)

    # ----------------------------------------------------------------------------------- drawing

    def letters(self, pixels: int = SECTION_PX) -> QFont:
        """The chart's font, with digits of one width."""
        return themes.tabular(themes.font(pixels))

    def rule(self, painter: QPainter, start: QPointF, end: QPointF, token: str = "line") -> None:
        """A thin line on whole pixels."""
        painter.setPen(QPen(self.theme.colour(token), 1))
        half = QPointF(0.5, 0.5)
        painter.drawLine(start.toPoint().toPointF() + half, end.toPoint().toPointF() + half)

    def write(
        self,
        painter: QPainter,
        box: QRect | QRectF,
        text: str,
        align: Qt.AlignmentFlag,
        *,
        token: str = "muted",
        pixels: int = SMALL_PX + 1,
    ) -> None:
        """One line of text, cut with dots where it does not fit."""
        font = self.letters(pixels)
        painter.setFont(font)
        painter.setPen(self.theme.colour(token))
        area = QRectF(box)
        shown = QFontMetrics(font).elidedText(text, Qt.TextElideMode.ElideRight, int(area.width()) + 1)
        painter.drawText(area, int(align | Qt.AlignmentFlag.AlignVCenter), shown)

    def advance(self, text: str, pixels: int = SMALL_PX + 1) -> int:
        """How wide a text is."""
        return QFontMetrics(self.letters(pixels)).horizontalAdvance(text)
