"""Layouts with the window's distances."""

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
    """Parts below each other.

    Args:
        parent: The widget it fills; left out: it stands in another layout.
        margin: Pixels around it, or left, above, right and below.
        spacing: Pixels between its parts; ``None``: as the style has it.
    """
    return _spaced(QVBoxLayout(parent), margin, spacing)


def row_layout(
    parent: QWidget | None = None, *, margin: Margin = 0, spacing: int | None = theme.ROW
) -> QHBoxLayout:
    """Parts beside each other; see :func:`column_layout`."""
    return _spaced(QHBoxLayout(parent), margin, spacing)


def right_row(*widgets: QWidget) -> QHBoxLayout:
    """Widgets at the right end of a row, as the buttons of a dialog are."""
    row = row_layout()
    row.addStretch(1)
    for widget in widgets:
        row.addWidget(widget)
    return row


def panel_head(title: QWidget, tooltip: str, name: str, on_close: Callable[[], object]) -> QHBoxLayout:
    """The first row of a panel: its title, and a button that closes it.

    Args:
        title: What the panel is.
        tooltip: What closing leads to.
        name: The button's ``objectName``.
        on_close: Called when it is clicked.
    """
    close = IconButton("close", tooltip, name=name, on_click=on_close)
    close.setFixedSize(24, 24)
    row = row_layout()
    row.addWidget(title, 1)
    row.addWidget(close)
    return row


def empty(layout: QLayout) -> None:
    """Take all widgets out of a layout, and delete them."""
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
