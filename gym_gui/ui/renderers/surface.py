"""Base widget of frames, boards and texts: an opaque surface with rounded corners."""

from __future__ import annotations

from typing import Final

from PyQt6.QtCore import QEvent, QRect, QRectF, QSize, Qt
from PyQt6.QtGui import QFont, QFontMetrics, QPainter, QPainterPath, QResizeEvent
from PyQt6.QtWidgets import QFrame, QWidget

from gym_gui.ui import theme as themes
from gym_gui.ui.theme import GAP, RADIUS_CONTROL, ROW, SECTION_PX, STEP, TEXT_PX, Theme

SMALLEST: Final = QSize(96, 72)
"""Minimum size of the surface; a smaller picture would not be recognizable."""


class Surface(QFrame):
    """Opaque base widget with rounded corners, which paints its whole area.

    Since the widget is opaque to Qt, a new frame does not repaint the card behind it, which would cost more
    than the frame. The corners are therefore filled with the color of the card.

    Args:
        theme: Color theme.
        parent: Qt owner.
        backdrop: Theme token of the color behind the corners.
    """

    def __init__(self, theme: Theme, parent: QWidget | None = None, *, backdrop: str = "panel") -> None:
        super().__init__(parent)
        self.theme = theme
        self._backdrop = backdrop
        self._hint = ("", "")
        self._corners: QPainterPath | None = None
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        theme.changed.connect(self._on_theme_changed)

    def set_hint(self, title: str, text: str = "") -> None:
        """Set the hint that is shown without content: a title and what the user can do."""
        self._hint = (title, text)
        self.set_hint_description()
        self.update()

    @property
    def filled(self) -> bool:
        """Whether the widget has content to show instead of the hint."""
        return False

    def set_hint_description(self) -> None:
        """Set the hint as accessible description if the widget has no content."""
        if not self.filled:
            self.setAccessibleDescription(" ".join(part for part in self._hint if part))

    @property
    def hint(self) -> tuple[str, str]:
        """Title and text of the hint that is shown without content."""
        return self._hint

    def sizeHint(self) -> QSize:
        """Return 320 by 240 pixels, the preferred size; layouts may give more."""
        return QSize(320, 240)

    def minimumSizeHint(self) -> QSize:
        """Return the minimum size; content shrinks to this size and is not cut."""
        return SMALLEST

    def resizeEvent(self, a0: QResizeEvent | None) -> None:
        """Drop the cached corner path after a change of size."""
        super().resizeEvent(a0)
        self._corners = None

    def changeEvent(self, a0: QEvent | None) -> None:
        """Repaint after a change of font."""
        super().changeEvent(a0)
        if a0 is not None and a0.type() == QEvent.Type.FontChange:
            self.update()

    def paint_ground(self, painter: QPainter) -> None:
        """Fill the whole widget with the background color."""
        painter.fillRect(self.rect(), self.theme.color("stage"))

    def paint_corners(self, painter: QPainter) -> None:
        """Paint the rounded corners; must be called after all other painting."""
        if self._corners is None:
            square, rounded = QPainterPath(), QPainterPath()
            square.addRect(QRectF(self.rect()))
            rounded.addRoundedRect(QRectF(self.rect()), RADIUS_CONTROL, RADIUS_CONTROL)
            self._corners = square.subtracted(rounded)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillPath(self._corners, self.theme.color(self._backdrop))

    def paint_hint(self, painter: QPainter) -> None:
        """Paint title and text of the hint in the center."""
        title, text = self._hint
        area = self.rect().adjusted(4 * STEP, 4 * STEP, -4 * STEP, -4 * STEP)
        centered = int(Qt.AlignmentFlag.AlignHCenter) | int(Qt.TextFlag.TextWordWrap)
        strong = themes.font(TEXT_PX, weight=QFont.Weight.DemiBold)
        quiet = themes.font(SECTION_PX)
        upper = QFontMetrics(strong).boundingRect(area, centered, title)
        lower = QFontMetrics(quiet).boundingRect(area, centered, text) if text else QRect()
        upper.moveTop(area.center().y() - (upper.height() + STEP + lower.height()) // 2)
        lower.moveTop(upper.bottom() + STEP)
        color = self.theme.color("stage_text")
        for font, box, line in ((strong, upper, title), (quiet, lower, text)):
            painter.setFont(font)
            painter.setPen(color)
            painter.drawText(area.left(), box.top(), area.width(), box.height() + STEP, centered, line)

    def paint_note(self, painter: QPainter, note: str) -> None:
        """Paint a sentence in a box at the bottom, over the content."""
        font = themes.font(SECTION_PX)
        room = self.width() - 4 * GAP
        flags = int(Qt.AlignmentFlag.AlignCenter) | int(Qt.TextFlag.TextWordWrap)
        words = QFontMetrics(font).boundingRect(QRect(0, 0, room, self.height()), flags, note)
        box = words.adjusted(-GAP, -ROW, GAP, ROW)
        box.moveCenter(self.rect().center())
        box.moveBottom(self.height() - ROW)
        painter.setPen(self.theme.color("line"))
        painter.setBrush(self.theme.color("panel"))
        painter.drawRoundedRect(QRectF(box).adjusted(0.5, 0.5, -0.5, -0.5), RADIUS_CONTROL, RADIUS_CONTROL)
        painter.setPen(self.theme.color("text"))
        painter.setFont(font)
        painter.drawText(box, flags, note)

    def _on_theme_changed(self) -> None:
        self.update()
