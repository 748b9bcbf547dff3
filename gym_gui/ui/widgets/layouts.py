"""Layouts with the window's distances."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from PyQt6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from gym_gui.ui import theme
from gym_gui.ui.widgets.buttons import IconButton

_Layout = TypeVar("_Layout", QHBoxLayout, QVBoxLayout)


def column_layout(parent: QWidget | None = None, *, margin: int = 0, spacing: int = theme.ROW) -> QVBoxLayout:
    """Parts below each other.

    Args:
        parent: The widget it fills; left out: it stands in another layout.
        margin: Pixels around it.
        spacing: Pixels between its parts.
    """
    return _spaced(QVBoxLayout(parent), margin, spacing)


def row_layout(parent: QWidget | None = None, *, margin: int = 0, spacing: int = theme.ROW) -> QHBoxLayout:
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


def _spaced(layout: _Layout, margin: int, spacing: int) -> _Layout:
    layout.setContentsMargins(margin, margin, margin, margin)
    layout.setSpacing(spacing)
    return layout
