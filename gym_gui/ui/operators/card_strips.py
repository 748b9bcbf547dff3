"""What a card says below its frame.

It paints itself: labels that change thirty times a second would have the whole card laid
out again each time.
"""

from __future__ import annotations

from PyQt6.QtCore import QRect, QSize, Qt
from PyQt6.QtGui import QFont, QFontMetrics, QPainter, QPaintEvent
from PyQt6.QtWidgets import QSizePolicy, QWidget

from gym_gui.ui import theme

_LEAST = 28
"""Pixels of the narrowest figure."""


class FactsStrip(QWidget):
    """A few figures under their names, always in the same places."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("operator-facts")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._facts: tuple[tuple[str, str], ...] = ()
        self._widths: dict[str, int] = {}

    @property
    def facts(self) -> dict[str, str]:
        """What it says."""
        return dict(self._facts)

    @property
    def needed(self) -> int:
        """Pixels from the left in which all of them fit, as wide as each has been so far."""
        return sum(self._widths.values()) + self._gap * max(0, len(self._widths) - 1)

    @property
    def _gap(self) -> int:
        return 16 if self.width() > 200 else 10

    def set_facts(self, *facts: tuple[str, str]) -> None:
        """Say these: (name, value). Each keeps the widest place that it has had as long as it is said."""
        if facts != self._facts:
            self._facts = facts
            narrow, wide = (QFontMetrics(font) for font in self._fonts())
            self._widths = {
                name: max(
                    narrow.horizontalAdvance(name),
                    wide.horizontalAdvance(value),
                    _LEAST,
                    self._widths.get(name, 0),
                )
                for name, value in facts
            }
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
        small, large = self._fonts()
        now, left, gap = theme.current(), 0, self._gap
        for name, value in self._facts:
            width = self._widths[name]
            if left + width > self.width() and left:
                break
            painter.setFont(small)
            painter.setPen(now.color("muted"))
            painter.drawText(QRect(left, 0, width + 2, 16), Qt.AlignmentFlag.AlignVCenter, name)
            painter.setFont(large)
            painter.setPen(now.color("text"))
            painter.drawText(QRect(left, 17, width + 2, 20), Qt.AlignmentFlag.AlignVCenter, value)
            left += width + gap

    @staticmethod
    def _fonts() -> tuple[QFont, QFont]:
        """Of names and of values."""
        small = theme.tabular(theme.font(theme.SMALL_PX))
        return small, theme.tabular(theme.font(theme.TEXT_PX + 1, weight=QFont.Weight.DemiBold))
