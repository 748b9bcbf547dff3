"""The Play page's column: one column of controls."""

from __future__ import annotations

from typing import Any

from gym_gui.ui.play.side_panel import SidePanel
from gym_gui.ui.widgets import Inspector


def test_its_rows_stand_below_each_other(qtbot: Any) -> None:
    inspector = Inspector()
    qtbot.addWidget(inspector)
    panel = SidePanel(inspector, list)
    panel.who.set_slots({"agent_0": "Player"})
    inspector.resize(inspector.width(), 1000)
    inspector.show()
    left = {
        widget.mapTo(inspector, widget.rect().topLeft()).x()
        for widget in (panel.who.pickers["agent_0"], panel.clock.mode, panel.clock.rate)
    }
    assert len(left) == 1
