"""Functions that return Qt layouts with the window's margins and spacings."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from PyQt6.QtWidgets import QHBoxLayout, QLayout, QVBoxLayout, QWidget

from gym_gui.ui import theme
from gym_gui.ui.widgets.buttons import IconButton

Margin = int | tuple[int, int, int, int]
_Layout = TypeVar("_Layout", QHBoxLayout, QVBoxLayout)


def column_layout(
    parent: QWidget | None = None, *, margin: Margin = 0, spacing: int | None = theme.ROW
) -> QVBoxLayout:
    """Return a vertical layout.

    Args:
        parent: Widget that the layout fills; ``None`` if another layout will contain the new one.
        margin: Margin on all sides, or left, top, right and bottom, in pixels.
        spacing: Pixels between items; ``None`` for the style's spacing.
    """
    return _spaced(QVBoxLayout(parent), margin, spacing)


def row_layout(
    parent: QWidget | None = None, *, margin: Margin = 0, spacing: int | None = theme.ROW
) -> QHBoxLayout:
    """Return a horizontal layout; the arguments are those of :func:`column_layout`."""
    return _spaced(QHBoxLayout(parent), margin, spacing)


def right_row(*widgets: QWidget) -> QHBoxLayout:
    """Return a horizontal layout with widgets at its right end, like the buttons of a dialog."""
    row = row_layout()
    row.addStretch(1)
    for widget in widgets:
        row.addWidget(widget)
    return row


def panel_head(title: QWidget, tooltip: str, name: str, on_close: Callable[[], object]) -> QHBoxLayout:
    """Return the heading row of a panel: its title and a button that closes the panel.

    Args:
        title: Widget with the title.
        tooltip: Tooltip of the button.
        name: The button's ``objectName``.
        on_close: Called on a click of the button.
    """
    close = IconButton("close", tooltip, name=name, on_click=on_close)
    close.setFixedSize(24, 24)
    row = row_layout()
    row.addWidget(title, 1)
    row.addWidget(close)
    return row


def empty(layout: QLayout) -> None:
    """Remove all widgets of a layout and delete them."""
    while (item := layout.takeAt(0)) is not None:
        widget = item.widget()
        if widget is not None:
            widget.hide()
            widget.deleteLater()


def _spaced(layout: _Layout, margin: Margin, spacing: int | None) -> _Layout:
    layout.setContentsMargins(*((margin,) * 4 if isinstance(margin, int) else margin))
    if spacing is not None:
        layout.setSpacing(spacing)
    return layout
