"""The course of a plan: what it is expected to earn beside others, and what it means to do."""

from __future__ import annotations

from typing import Final

from PyQt6.QtWidgets import QWidget

from gym_gui.analysis.transcripts.planned import Planned
from gym_gui.ui import theme
from gym_gui.ui.plots.line_plots import LinePlot
from gym_gui.ui.plots.series import Series
from gym_gui.ui.widgets import SegmentedControl
from gym_gui.ui.widgets.layouts import column_layout

EARNED, CONTROLS = "earned", "controls"
_KIND: Final = "planner"


class PlanPlot(QWidget):
    """Draws the plan of one decision over the steps that it looks ahead.

    Args:
        parent: Qt owner.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("plan-plot")
        self._planned: Planned | None = None
        self._choice = SegmentedControl(
            [(EARNED, "Return"), (CONTROLS, "Controls")], EARNED, name="plan-what", parent=self
        )
        self._choice.setToolTip("What the plan is expected to earn, or what it means to do")
        self._choice.setAccessibleName("What is drawn of the plan")
        self._choice.chosen.connect(self._on_chosen)
        hint = "The plan has nothing to draw."
        self._plots = {
            EARNED: LinePlot(theme.current(), "Steps ahead", "Return expected", hint, parent=self),
            CONTROLS: LinePlot(theme.current(), "Steps ahead", "Control", hint, parent=self),
        }
        column = column_layout(self, spacing=theme.STEP)
        column.addWidget(self._choice)
        for what, plot in self._plots.items():
            plot.setObjectName(f"plan-{what}")
            column.addWidget(plot, 1)
        self._plots[CONTROLS].hide()

    def show_plan(self, planned: Planned) -> None:
        """Draw a plan in place of the one before."""
        if planned == self._planned:
            return
        self._planned = planned
        controls = {f"control {i + 1}": line for i, line in enumerate(planned.controls)}
        for what, lines in ((EARNED, dict(planned.earned)), (CONTROLS, controls)):
            plot = self._plots[what]
            plot.clear()
            plot.set_series([Series(name, name, _KIND) for name in lines])
            for name, line in lines.items():
                plot.set_values(name, zip(planned.steps, line, strict=True))

    def _on_chosen(self, what: str) -> None:
        for each, plot in self._plots.items():
            plot.setVisible(each == what)
