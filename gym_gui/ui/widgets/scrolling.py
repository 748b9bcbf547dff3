"""Scroll areas for the content of a page."""

from __future__ import annotations

from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QFrame, QScrollArea, QWidget

from gym_gui.ui.widgets.layouts import column_layout, row_layout


def fill_scrolling(body: QWidget, content: QWidget, name: str) -> QScrollArea:
    """Fill a page's body with a scrolling column in its middle, at most as wide as the content's maximum.

    Args:
        body: The page's body, which gets a layout.
        content: The column; its maximum width is kept.
        name: ``objectName`` of the scroll area.
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
    """Return a transparent area in which content as wide as the area scrolls vertically.

    Args:
        content: Widget that it shows.
        name: Its ``objectName``.
        called: Name of the area for screen readers. If it is given, Tab goes to the area, so that arrow
            keys scroll it; by default Tab goes through the content.
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
        if widget is not None:  # Its own fill would keep its color when the theme changes.
            widget.setAutoFillBackground(False)
    return scroll
