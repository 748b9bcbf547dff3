"""A theme, and a card-sized widget that is shown."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PyQt6.QtCore import QSize
from PyQt6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from gym_gui.ui.theme import Theme


@pytest.fixture
def theme(qapp: QApplication) -> Theme:
    return Theme("light")


@pytest.fixture
def shown(qtbot: QtBot) -> Callable[..., None]:
    """Show a widget in a given size; it is closed at the end."""

    def show(widget: QWidget, width: int = 400, height: int = 400) -> None:
        qtbot.addWidget(widget)
        widget.resize(QSize(width, height))
        widget.show()
        qtbot.waitExposed(widget)

    return show
