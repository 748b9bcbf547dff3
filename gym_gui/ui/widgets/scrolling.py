"""A page's content in a column of its own, which scrolls."""

from __future__ import annotations

from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget


def fill_scrolling(body: QWidget, content: QWidget, name: str) -> QScrollArea:
    """Fill a page's body with a column in its middle, no wider than its content allows.

    Args:
        body: Gets a layout.
        content: The column; its maximum width counts.
        name: Object name of the scroll area.
    """
    outer = QWidget()
    outer.setProperty("role", "scrolled")
    sides = QHBoxLayout(outer)
    sides.setContentsMargins(0, 0, 0, 0)
    sides.addStretch(1)
    sides.addWidget(content, 1000)
    sides.addStretch(1)
    scroll = QScrollArea(body)
    scroll.setObjectName(name)
    scroll.setWidgetResizable(True)
    scroll.setFrameShape(QFrame.Shape.NoFrame)
    scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    scroll.setWidget(outer)
    see_through(scroll)
    content.setAutoFillBackground(False)
    layout = QVBoxLayout(body)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.addWidget(scroll)
    return scroll


def tell_scrolling(scroll: QScrollArea, what: str) -> None:
    """Have screen readers say what scrolls, and how, of one that Tab goes to so that arrow keys scroll it."""
    scroll.setAccessibleName(f"{what}: arrow keys scroll")


def see_through(scroll: QScrollArea) -> None:
    """Let what is behind a scroll area show: what it fills itself keeps its colour when the theme changes."""
    for widget in (scroll.viewport(), scroll.widget()):
        if widget is not None:
            widget.setAutoFillBackground(False)
