"""Panels: the plain card, the one that can be clicked, and a card with a heading."""

from __future__ import annotations

from PyQt6.QtCore import QRectF, Qt, pyqtSignal
from PyQt6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PyQt6.QtWidgets import QFrame, QHBoxLayout, QLabel, QWidget

from gym_gui.ui import theme
from gym_gui.ui.widgets.labels import section_label
from gym_gui.ui.widgets.layouts import column_layout, row_layout


class Card(QFrame):
    """A panel with rounded corners. What is in it goes into :attr:`body`.

    Args:
        title: Small heading, or empty.
        clickable: Reacts to a click and to Enter and Space, and shows that it does.
        margin: Distance of the content from the edge.
        parent: Qt owner.
    """

    clicked = pyqtSignal()
    double_clicked = pyqtSignal()

    def __init__(
        self,
        title: str = "",
        *,
        clickable: bool = False,
        margin: int = theme.GAP,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._clickable = clickable
        self._pressed = False
        self.setProperty("role", "panel")
        self.setProperty("selected", "false")
        self.setProperty("clickable", "true" if clickable else "false")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        if clickable:
            self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.body = column_layout(self, margin=margin)
        self.heading: QLabel | None = None
        self._head: QHBoxLayout | None = None
        if title:
            self.heading = section_label(title)
            self.heading.setObjectName("card-heading")
            self._head = row_layout(spacing=None)
            self._head.addWidget(self.heading)
            self._head.addStretch(1)
            self.body.addLayout(self._head)

    @property
    def selected(self) -> bool:
        """Whether it is outlined."""
        return self.property("selected") == "true"

    def set_selected(self, selected: bool) -> None:
        """Outline it, or not."""
        if selected != self.selected:
            self.setProperty("selected", "true" if selected else "false")
            restyle(self)

    @property
    def outlined(self) -> bool:
        """Whether its edge is drawn two pixels wide: it is selected, or has the focus."""
        return self.selected or (self._clickable and self.hasFocus())

    def paintEvent(self, a0: QPaintEvent | None) -> None:
        """Paint the outline's second pixel inside the first: a wider border would move the content."""
        super().paintEvent(a0)
        if self.outlined:
            painter = QPainter(self)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(theme.current().color("accent"))
            inner = QRectF(self.rect()).adjusted(1.5, 1.5, -1.5, -1.5)
            painter.drawRoundedRect(inner, theme.RADIUS_PANEL - 1.5, theme.RADIUS_PANEL - 1.5)

    def add(self, widget: QWidget, stretch: int = 0) -> None:
        """Put a widget below the others."""
        self.body.addWidget(widget, stretch)

    def add_to_heading(self, widget: QWidget) -> None:
        """Put a widget at the right of the heading."""
        if self._head is None:
            raise ValueError("this card has no heading")
        self._head.addWidget(widget)

    def mousePressEvent(self, a0: QMouseEvent | None) -> None:
        """Remember that the button went down here."""
        self._pressed = a0 is not None and a0.button() == Qt.MouseButton.LeftButton
        super().mousePressEvent(a0)
        if self._clickable and a0 is not None:
            a0.accept()

    def mouseReleaseEvent(self, a0: QMouseEvent | None) -> None:
        """A click, when it went down and up here."""
        pressed, self._pressed = self._pressed, False
        super().mouseReleaseEvent(a0)
        if pressed and a0 is not None and self.rect().contains(a0.position().toPoint()):
            self.clicked.emit()

    def mouseDoubleClickEvent(self, a0: QMouseEvent | None) -> None:
        """Tell it."""
        super().mouseDoubleClickEvent(a0)
        if a0 is not None and a0.button() == Qt.MouseButton.LeftButton:
            self.double_clicked.emit()

    def keyPressEvent(self, a0: QKeyEvent | None) -> None:
        """Enter and Space click a clickable card."""
        keys = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)
        if self._clickable and a0 is not None and a0.key() in keys and not a0.isAutoRepeat():
            self.clicked.emit()
            return
        super().keyPressEvent(a0)


class Divider(QFrame):
    """A line across, 1 px."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "divider")
        self.setFixedHeight(1)


def restyle(widget: QWidget) -> None:
    """Let the style sheet look at a widget again whose properties changed."""
    style = widget.style()
    if style is not None:
        style.unpolish(widget)
        style.polish(widget)
    widget.update()
