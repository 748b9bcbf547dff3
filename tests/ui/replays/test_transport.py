"""The controls of a replay in any width."""

from __future__ import annotations

import pytest
from PyQt6.QtCore import QPoint, QRect
from PyQt6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot

from gym_gui.ui.replays.transport import Transport
from tests.support.named import named


@pytest.mark.parametrize("spare", [0, 60, 400])
def test_the_unit_of_speeds_is_said_wherever_it_has_room(qtbot: QtBot, spare: int) -> None:
    transport = Transport()
    qtbot.addWidget(transport)
    transport.set_extent(500, 500, complete=True)
    transport.resize(1000, 110)
    transport.show()
    qtbot.waitExposed(transport)
    step, unit = named(transport, QLabel, "replay-where"), named(transport, QLabel, "replay-unit")
    speed = named(transport, QWidget, "replay-speed")
    words = step.fontMetrics().horizontalAdvance(step.text())
    transport.resize(1000 - step.width() + spare, 110)
    assert unit.isVisible()
    assert not _place(unit, transport).intersects(_place(speed, transport))
    assert transport.rect().contains(_place(unit, transport))
    qtbot.waitUntil(lambda: step.width() >= words)


def _place(widget: QWidget, above: QWidget) -> QRect:
    return QRect(widget.mapTo(above, QPoint()), widget.size())
