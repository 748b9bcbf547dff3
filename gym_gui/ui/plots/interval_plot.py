"""Estimates with their uncertainty, one under the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from PyQt6.QtCore import QEvent, QPointF, QRect, QRectF, QSize, Qt
from PyQt6.QtGui import QHelpEvent, QPainter
from PyQt6.QtWidgets import QToolTip, QWidget

from gym_gui.ui import theme as themes
from gym_gui.ui.plots.chart import Chart, Scale
from gym_gui.ui.renderers.agent_words import number_words
from gym_gui.ui.theme import GAP, STEP, TEXT_PX, Theme

AXIS: Final = 28
PITCH: Final = (30, 180)
"""Height of a row, at least and at most."""
LABEL_SHARE: Final = 0.32
LABEL_MOST: Final = 200


@dataclass(frozen=True, slots=True)
class Interval:
    """One estimate.

    Attributes:
        name: Whose it is.
        kind: Kind of agent, which gives the colour.
        value: The estimate, ``None`` with nothing to estimate from.
        low: Lower end of its interval, ``None`` where none can be given.
        high: Upper end.
        note: Why there is no interval, or what to know about it.
    """

    name: str
    kind: str
    value: float | None
    low: float | None = None
    high: float | None = None
    note: str = ""

    def sentence(self) -> str:
        """The estimate in words."""
        if self.value is None:
            return f"{self.name}: {self.note or 'nothing to estimate from'}."
        text = f"{self.name}: {number_words(self.value)}"
        if self.low is not None and self.high is not None:
            text += f", 95 % interval {number_words(self.low)} to {number_words(self.high)}"
        return f"{text} ({self.note})." if self.note else f"{text}."


class IntervalPlot(Chart):
    """A bar for each interval, a mark for the value.

    Args:
        theme: Colours.
        parent: Qt owner.
    """

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        hint = "No completed episodes yet. Intervals appear with the first ones."
        super().__init__(theme, hint, parent)
        self.setObjectName("intervalPlot")
        self._rows: tuple[Interval, ...] = ()
        self.set_intervals(())

    def set_intervals(self, rows: Sequence[Interval], axis: str = "IQM return") -> None:
        """Show estimates, in this order; ``axis`` says in words what they are."""
        self._rows = tuple(rows)
        self.setAccessibleName(f"{axis} with 95 % intervals")
        self.renewed()

    def has_values(self) -> bool:
        """Whether any value is known."""
        return any(row.value is not None for row in self._rows)

    def describe(self) -> str:
        """All rows in words."""
        return " ".join(row.sentence() for row in self._rows)

    def sizeHint(self) -> QSize:
        """A row has room for its name."""
        return QSize(420, max(len(self._rows), 3) * 52 + AXIS)

    def minimumSizeHint(self) -> QSize:
        """A row needs a line of text."""
        return QSize(220, max(len(self._rows), 2) * PITCH[0] + AXIS)

    def event(self, a0: QEvent | None) -> bool:
        """A row's tooltip is its sentence."""
        if isinstance(a0, QHelpEvent) and a0.type() == QEvent.Type.ToolTip and self._rows:
            at = next((i for i in range(len(self._rows)) if self.row_rect(i).contains(a0.pos())), None)
            if at is not None:
                QToolTip.showText(a0.globalPos(), self._rows[at].sentence(), self)
            return True
        return super().event(a0)

    def row_rect(self, index: int) -> QRect:
        """Where a row lies, over the whole width; few rows stand in the middle of the chart."""
        least, most = PITCH
        rows = max(len(self._rows), 1)
        room = self.height() - AXIS
        pitch = min(max(room / rows, least), most)
        top = max((room - pitch * rows) / 2, 0.0)
        return QRectF(0, top + index * pitch, self.width(), pitch).toAlignedRect()

    def draw(self, painter: QPainter) -> None:
        """Names, grid, bars, axis."""
        widest = max(self.advance(row.name, TEXT_PX) for row in self._rows)
        label = min(widest + 2 * GAP, int(self.width() * LABEL_SHARE), LABEL_MOST)
        first, last = self.row_rect(0), self.row_rect(len(self._rows) - 1)
        top, bottom = first.top(), last.bottom()
        known = [v for r in self._rows for v in (r.value, r.low, r.high) if v is not None]
        scale = Scale.over(known, label + STEP, self.width() - 2 * GAP)
        for tick, word in zip(scale.ticks, scale.words(), strict=True):
            x = scale(tick)
            self.rule(painter, QPointF(x, top + STEP), QPointF(x, bottom))
            box = QRectF(x - 40, bottom + STEP, 80, 18)
            self.write(painter, box, word, Qt.AlignmentFlag.AlignHCenter)
        for i, row in enumerate(self._rows):
            area = self.row_rect(i)
            self._paint_row(painter, row, scale, area.center().y(), area.height())
            area.setWidth(label - GAP)
            self.write(painter, area, row.name, Qt.AlignmentFlag.AlignLeft, token="text", pixels=TEXT_PX)

    def _paint_row(self, painter: QPainter, row: Interval, scale: Scale, y: float, pitch: float) -> None:
        half = min(max(12.0, pitch * 0.13), pitch * 0.3)
        colour = themes.kind_colour(row.kind)
        painter.setPen(Qt.PenStyle.NoPen)
        if row.low is not None and row.high is not None:
            wash = themes.kind_colour(row.kind)
            wash.setAlphaF(0.38)
            painter.setBrush(wash)
            width = max(scale(row.high) - scale(row.low), 2.0)
            painter.drawRoundedRect(QRectF(scale(row.low), y - half, width, 2 * half), STEP, STEP)
        if row.value is not None:
            painter.setBrush(colour)
            painter.drawRect(QRectF(scale(row.value) - 1.5, y - half - STEP, 3, 2 * half + 2 * STEP))
        if row.note:
            self._paint_note(painter, row, scale, y)

    def _paint_note(self, painter: QPainter, row: Interval, scale: Scale, y: float) -> None:
        """Beside the value, on the side that has more room."""
        at = scale.start if row.value is None else scale(row.value)
        if at > (scale.start + scale.end) / 2:
            box = QRectF(scale.start, y - 9, at - scale.start - GAP, 18)
            self.write(painter, box, row.note, Qt.AlignmentFlag.AlignRight)
        else:
            box = QRectF(at + GAP, y - 9, scale.end - at - GAP, 18)
            self.write(painter, box, row.note, Qt.AlignmentFlag.AlignLeft)
