"""A theme, and a plot that is shown."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PyQt6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from gym_gui.ui.theme import Theme


@pytest.fixture
def theme(qapp: QApplication) -> Theme:
    return Theme("light")


@pytest.fixture
def shown(qtbot: QtBot) -> Callable[..., None]:
    """Show a widget in a given size; it is closed at the end."""

    def show(widget: QWidget, width: int = 500, height: int = 300) -> None:
        qtbot.addWidget(widget)
        widget.resize(width, height)
        widget.show()
        qtbot.waitExposed(widget)

    return show
