"""The figures that an operator's card shows below its frame.

The strip paints its text itself: labels that change thirty times a second would make Qt lay out the whole
card each time.
"""

from __future__ import annotations

from PyQt6.QtCore import QRect, QSize, Qt
from PyQt6.QtGui import QFont, QFontMetrics, QPainter, QPaintEvent
from PyQt6.QtWidgets import QSizePolicy, QWidget

from gym_gui.ui import theme

_LEAST = 28
"""Smallest width of a figure, in pixels."""


class FactsStrip(QWidget):
    """Shows a few named figures in one row, each value below its name; the order never changes."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("operator-facts")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._facts: tuple[tuple[str, str], ...] = ()
        self._widths: dict[str, int] = {}

    @property
    def facts(self) -> dict[str, str]:
        """Figures that the strip shows, by name."""
        return dict(self._facts)

    @property
    def needed(self) -> int:
        """Width in pixels that all figures need, each at the largest width it has had so far."""
        return sum(self._widths.values()) + self._gap * max(0, len(self._widths) - 1)

    @property
    def _gap(self) -> int:
        return 16 if self.width() > 200 else 10

    def set_facts(self, *facts: tuple[str, str]) -> None:
        """Show ``(name, value)`` pairs; a figure never becomes narrower while it is shown."""
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
        """Return the size of two lines of text."""
        return QSize(160, 38)

    def minimumSizeHint(self) -> QSize:
        """Return a size that fits the first figures; ``paintEvent`` leaves out figures that do not fit."""
        return QSize(90, 38)

    def paintEvent(self, a0: QPaintEvent | None) -> None:
        """Draw each name above its value, from the left, as far as there is space."""
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
        """Return the fonts for the names and for the values of figures."""
        small = theme.tabular(theme.font(theme.SMALL_PX))
        return small, theme.tabular(theme.font(theme.TEXT_PX + 1, weight=QFont.Weight.DemiBold))
