"""What a card says below its frame.

It paints itself: labels that change thirty times a second would have the whole card laid
out again each time.
"""

from __future__ import annotations

from PyQt6.QtCore import QRect, QSize, Qt
from PyQt6.QtGui import QFont, QFontMetrics, QPainter, QPaintEvent
from PyQt6.QtWidgets import QSizePolicy, QWidget

from gym_gui.ui import theme


class FactsStrip(QWidget):
    """A few figures under their names, always in the same places."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("operator-facts")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._facts: tuple[tuple[str, str], ...] = ()

    @property
    def facts(self) -> dict[str, str]:
        """What it says."""
        return dict(self._facts)

    def set_facts(self, *facts: tuple[str, str]) -> None:
        """Say these: (name, value)."""
        if facts != self._facts:
            self._facts = facts
            self.setAccessibleName(", ".join(f"{name} {value}" for name, value in facts))
            self.update()

    def sizeHint(self) -> QSize:
        """Two lines."""
        return QSize(160, 38)

    def minimumSizeHint(self) -> QSize:
        """Room for the first figures; those that do not fit are left out."""
        return QSize(90, 38)

    def paintEvent(self, a0: QPaintEvent | None) -> None:
        """Draw name over value, from the left, as far as there is room."""
        painter = QPainter(self)
        small = theme.tabular(theme.font(theme.SMALL_PX))
        large = theme.tabular(theme.font(theme.TEXT_PX + 1, weight=QFont.Weight.DemiBold))
        narrow, wide = QFontMetrics(small), QFontMetrics(large)
        now, left = theme.current(), 0
        gap = 16 if self.width() > 200 else 10
        for name, value in self._facts:
            width = max(narrow.horizontalAdvance(name), wide.horizontalAdvance(value), 28)
            if left + width > self.width() and left:
                break
            painter.setFont(small)
            painter.setPen(now.colour("muted"))
            painter.drawText(QRect(left, 0, width + 2, 16), Qt.AlignmentFlag.AlignVCenter, name)
            painter.setFont(large)
            painter.setPen(now.colour("text"))
            painter.drawText(QRect(left, 17, width + 2, 20), Qt.AlignmentFlag.AlignVCenter, value)
            left += width + gap
