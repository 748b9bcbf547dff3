"""Panel with rounded corners, an optional heading and optional clicks; and a divider line."""

from __future__ import annotations

from PyQt6.QtCore import QRectF, Qt, pyqtSignal
from PyQt6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PyQt6.QtWidgets import QFrame, QHBoxLayout, QLabel, QWidget

from gym_gui.ui import theme
from gym_gui.ui.widgets.labels import section_label
from gym_gui.ui.widgets.layouts import column_layout, row_layout


class Card(QFrame):
    """Panel with rounded corners; widgets are added to the layout :attr:`body`.

    Args:
        title: Small heading; ``""`` for no heading.
        clickable: Whether the card emits :attr:`clicked` on clicks, Enter and Space, and looks clickable.
        margin: Distance between the content and the edge, in pixels.
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
        """Whether the card is selected; a selected card has an outline."""
        return self.property("selected") == "true"

    def set_selected(self, selected: bool) -> None:
        """Select the card or deselect it."""
        if selected != self.selected:
            self.setProperty("selected", "true" if selected else "false")
            restyle(self)

    @property
    def outlined(self) -> bool:
        """Whether the outline is drawn: the card is selected, or is clickable and has the focus."""
        return self.selected or (self._clickable and self.hasFocus())

    def paintEvent(self, a0: QPaintEvent | None) -> None:
        """Draw the inner pixel of the 2 px outline, since a wider border of the style sheet would move the
        content.
        """
        super().paintEvent(a0)
        if self.outlined:
            painter = QPainter(self)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(theme.current().color("accent"))
            inner = QRectF(self.rect()).adjusted(1.5, 1.5, -1.5, -1.5)
            painter.drawRoundedRect(inner, theme.RADIUS_PANEL - 1.5, theme.RADIUS_PANEL - 1.5)

    def add(self, widget: QWidget, stretch: int = 0) -> None:
        """Add a widget below the others."""
        self.body.addWidget(widget, stretch)

    def add_to_heading(self, widget: QWidget) -> None:
        """Add a widget at the right of the heading."""
        if self._head is None:
            raise ValueError("this card has no heading")
        self._head.addWidget(widget)

    def mousePressEvent(self, a0: QMouseEvent | None) -> None:
        """Record whether the left button was pressed on the card."""
        self._pressed = a0 is not None and a0.button() == Qt.MouseButton.LeftButton
        super().mousePressEvent(a0)
        if self._clickable and a0 is not None:
            a0.accept()

    def mouseReleaseEvent(self, a0: QMouseEvent | None) -> None:
        """Emit ``clicked`` if the left button was pressed and released on the card."""
        pressed, self._pressed = self._pressed, False
        super().mouseReleaseEvent(a0)
        if pressed and a0 is not None and self.rect().contains(a0.position().toPoint()):
            self.clicked.emit()

    def mouseDoubleClickEvent(self, a0: QMouseEvent | None) -> None:
        """Emit ``double_clicked`` for the left button."""
        super().mouseDoubleClickEvent(a0)
        if a0 is not None and a0.button() == Qt.MouseButton.LeftButton:
            self.double_clicked.emit()

    def keyPressEvent(self, a0: QKeyEvent | None) -> None:
        """Emit ``clicked`` on Enter or Space if the card is clickable."""
        keys = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)
        if self._clickable and a0 is not None and a0.key() in keys and not a0.isAutoRepeat():
            self.clicked.emit()
            return
        super().keyPressEvent(a0)


class Divider(QFrame):
    """Horizontal line, 1 px high, that separates sections."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "divider")
        self.setFixedHeight(1)


def restyle(widget: QWidget) -> None:
    """Apply the style sheet again to a widget whose properties changed."""
    style = widget.style()
    if style is not None:
        style.unpolish(widget)
        style.polish(widget)
    widget.update()
