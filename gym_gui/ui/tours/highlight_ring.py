"""Ring that highlights the control of a tour's current step."""

from __future__ import annotations

from typing import Final

from PyQt6.QtCore import QEvent, QObject, QPoint, QRect, QRectF, Qt
from PyQt6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PyQt6.QtWidgets import QWidget

from gym_gui.ui import theme

_AIR: Final = 5
"""Distance between the ring and the control, in pixels."""


class Ring(QWidget):
    """Overlay that draws a ring, ignores clicks and takes no keyboard focus.

    Args:
        parent: The window; :meth:`show_around` moves the ring into a dialog until the dialog closes.
    """

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._home = parent
        self.setObjectName("tour-ring")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setAttribute(Qt.WidgetAttribute.WA_NoSystemBackground)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.hide()

    def show_around(self, target: QWidget) -> None:
        """Place the ring around the visible part of a widget; hide the ring if no part is visible."""
        window, seen = target.window(), target.visibleRegion().boundingRect()
        if window is None or seen.isEmpty():
            self.hide()
            return
        if self.parentWidget() is not window:
            self.setParent(window)
            if window is not self._home:
                window.installEventFilter(self)
        place = QRect(target.mapTo(window, QPoint(seen.topLeft())), seen.size())
        wanted = place.adjusted(-_AIR, -_AIR, _AIR, _AIR).intersected(window.rect())
        if self.geometry() != wanted:
            self.setGeometry(wanted)
        if not self.isVisible():
            self.show()
            self.raise_()  # only once, so that a popup such as the palette covers the ring

    def eventFilter(self, a0: QObject | None, a1: QEvent | None) -> bool:
        """Move the ring out of a dialog that closes, because the dialog may be deleted with its children."""
        if a1 is not None and a1.type() == QEvent.Type.Hide and a0 is self.parent():
            self.hide()
            self.setParent(self._home)
        return super().eventFilter(a0, a1)

    def paintEvent(self, a0: QPaintEvent | None) -> None:
        """Draw a line in the accent color on a wider translucent line."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        accent = theme.current().color("accent")
        soft = QColor(accent)
        soft.setAlpha(70)
        box = QRectF(self.rect())
        for color, width, inset in ((soft, 4.0, 2.0), (accent, 2.0, 3.0)):
            painter.setPen(QPen(color, width))
            painter.drawRoundedRect(box.adjusted(inset, inset, -inset, -inset), 9, 9)
