"""Functions that create scroll areas for the content of a page."""

from __future__ import annotations

from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QFrame, QScrollArea, QWidget

from gym_gui.ui.widgets.layouts import column_layout, row_layout


def fill_scrolling(body: QWidget, content: QWidget, name: str) -> QScrollArea:
    """Fill a page's body with a scrolling, centered column, and return the scroll area.

    Args:
        body: The page's body, which gets a layout.
        content: Content of the column; its maximum width limits the width of the column.
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
    """Return a transparent scroll area whose content is as wide as the area and scrolls vertically.

    Args:
        content: Widget that the area shows.
        name: ``objectName`` of the area.
        called: Name of the area for screen readers. With a name, Tab stops at the area, so that arrow
            keys scroll it; without one, Tab stops only at controls in the content.
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
