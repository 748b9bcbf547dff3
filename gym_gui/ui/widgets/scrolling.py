"""A page's content in a column of its own, which scrolls."""

from __future__ import annotations

from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QFrame, QScrollArea, QWidget

from gym_gui.ui.widgets.layouts import column_layout, row_layout


def fill_scrolling(body: QWidget, content: QWidget, name: str) -> QScrollArea:
    """Fill a page's body with a column in its middle, no wider than its content allows.

    Args:
        body: Gets a layout.
        content: The column; its maximum width counts.
        name: Object name of the scroll area.
    """
    outer = QWidget()
    outer.setProperty("role", "scrolled")
    sides = row_layout(outer, spacing=None)
    sides.addStretch(1)
    sides.addWidget(content, 1000)
    sides.addStretch(1)
    scroll = scroll_over(outer, name, parent=body)
    content.setAutoFillBackground(False)
    layout = column_layout(body, spacing=None)
    layout.addWidget(scroll)
    return scroll


def scroll_over(
    content: QWidget, name: str = "", *, called: str = "", parent: QWidget | None = None
) -> QScrollArea:
    """An area in which content as wide as itself scrolls up and down; what is behind it shows.

    Args:
        content: What it shows.
        name: Its ``objectName``.
        called: What scrolls, for screen readers: Tab goes to the area, so that arrow keys scroll it. By
            default Tab goes through what is in it.
        parent: Qt owner.
    """
    scroll = QScrollArea(parent)
    scroll.setObjectName(name)
    scroll.setWidgetResizable(True)
    scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    if called:
        scroll.setAccessibleName(f"{called}: arrow keys scroll")
    else:
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    scroll.setWidget(content)
    for widget in (scroll.viewport(), content):
        if widget is not None:  # what it fills itself keeps its color when the theme changes
            widget.setAutoFillBackground(False)
    return scroll
