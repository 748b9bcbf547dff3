"""The Play page's column: one column of controls."""

from __future__ import annotations

from typing import Any

from PyQt6.QtWidgets import QDoubleSpinBox, QWidget

from gym_gui.ui.play.side_panel import SidePanel
from gym_gui.ui.play.who_plays import PlayerList
from gym_gui.ui.widgets import Inspector, PickerButton
from gym_gui.ui.widgets.segments import SegmentedControl
from tests.support.named import named


def test_its_rows_stand_below_each_other(qtbot: Any) -> None:
    inspector = Inspector()
    qtbot.addWidget(inspector)
    SidePanel(inspector, list, QWidget())
    named(inspector, PlayerList, "who-plays").set_slots({"agent_0": "Player"})
    inspector.resize(inspector.width(), 1000)
    inspector.show()
    left = {
        widget.mapTo(inspector, widget.rect().topLeft()).x()
        for widget in (
            named(inspector, PickerButton, "who-agent_0"),
            named(inspector, SegmentedControl, "time"),
            named(inspector, QDoubleSpinBox, "play-rate"),
        )
    }
    assert len(left) == 1
