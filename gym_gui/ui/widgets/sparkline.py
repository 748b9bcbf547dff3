"""Small line plot of past values, for a card."""

from __future__ import annotations

import math
from collections.abc import Sequence

from PyQt6.QtCore import QPointF, QSize, Qt
from PyQt6.QtGui import QColor, QPainter, QPaintEvent, QPen, QPolygonF
from PyQt6.QtWidgets import QSizePolicy, QWidget

from gym_gui.ui import theme
from gym_gui.ui.numbers import count, local


class Sparkline(QWidget):
    """Small line plot of the last values, scaled to the range of the values.

    Args:
        color: Color of the line; ``None`` for the muted color.
        limit: Largest number of values that are shown.
        parent: Qt owner.
    """

    def __init__(
        self, color: QColor | None = None, *, limit: int = 60, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._color = color
        self._limit = limit
        self._values: list[float] = []
        self.setObjectName("sparkline")
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Past returns: none yet")

    @property
    def values(self) -> list[float]:
        """Values that are drawn, oldest first."""
        return list(self._values)

    def set_values(self, values: Sequence[float]) -> None:
        """Replace the values; values that are not finite are left out."""
        self._values = [float(v) for v in values if math.isfinite(v)][-self._limit :]
        self._describe()

    def add(self, value: float) -> None:
        """Append one value at the right."""
        self.set_values([*self._values, value])

    def set_color(self, color: QColor) -> None:
        """Change the color of the line."""
        self._color = color
        self.update()

    def sizeHint(self) -> QSize:
        """Return the preferred size, 90 by 26 pixels."""
        return QSize(90, 26)

    def minimumSizeHint(self) -> QSize:
        """Return the smallest size, 40 by 20 pixels."""
        return QSize(40, 20)

    def paintEvent(self, a0: QPaintEvent | None) -> None:
        """Draw the line, and a dot at its last value."""
        if not self._values:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        color = theme.current().color("muted") if self._color is None else self._color
        pen = QPen(color, 1.5)
        pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
        painter.setPen(pen)
        points = self._points()
        if len(points) > 1:
            painter.drawPolyline(QPolygonF(points))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        painter.drawEllipse(points[-1], 2.2, 2.2)

    def _points(self) -> list[QPointF]:
        low, high = min(self._values), max(self._values)
        width, height = self.width() - 6, self.height() - 6
        across = width / max(len(self._values) - 1, 1)

        def y(value: float) -> float:
            return 3 + height / 2 if high == low else 3 + height * (high - value) / (high - low)

        return [QPointF(3 + i * across, y(value)) for i, value in enumerate(self._values)]

    def _describe(self) -> None:
        if self._values:
            low, high, last = min(self._values), max(self._values), self._values[-1]
            span = f"from {local(low):.4g} to {local(high):.4g}, last {local(last):.4g}"
            text = f"{count(len(self._values), 'past return')}, {span}"
        else:
            text = "Past returns: none yet"
        self.setAccessibleName(text)
        self.setToolTip(text)
        self.update()
