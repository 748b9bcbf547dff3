"""The bar above a page: its name, what it works on, its few actions."""

from __future__ import annotations

from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QHBoxLayout, QWidget

from gym_gui.ui import theme
from gym_gui.ui.widgets.labels import ElidedLabel, title_label


class PageBar(QWidget):
    """44 px: title, then what :meth:`add` put there, room, then the actions, the main one last."""

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "bar")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setObjectName("page-bar")
        self.setFixedHeight(theme.BAR_HEIGHT)
        self.title = title_label(title, self)
        self.note = ElidedLabel("", "muted", parent=self)
        self.note.hide()
        self._left = QHBoxLayout()
        self._left.setSpacing(10)
        self._right = QHBoxLayout()
        self._right.setSpacing(10)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(theme.PAGE, 0, theme.PAGE, 0)
        layout.setSpacing(10)
        layout.addWidget(self.title)
        layout.addLayout(self._left)
        layout.addWidget(self.note)
        layout.addStretch(1)
        layout.addLayout(self._right)

    def add(self, widget: QWidget) -> QWidget:
        """Put a control beside the title."""
        self._left.addWidget(widget)
        return widget

    def add_action(self, widget: QWidget) -> QWidget:
        """Put a button at the right end."""
        self._right.addWidget(widget)
        return widget

    def set_note(self, text: str) -> None:
        """Say something short beside the controls (``simultaneous · 4 agents``)."""
        self.note.setText(text)
        self.note.setVisible(bool(text))
