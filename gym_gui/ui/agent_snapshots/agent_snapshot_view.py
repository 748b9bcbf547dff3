"""A view of one agent: its picture, search tree and plan, and texts about what it observes and thinks."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray
from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtWidgets import QSizePolicy, QSplitter, QTextEdit, QWidget

from gym_gui.analysis.transcripts.plan_values import PlanValues
from gym_gui.core.live import AgentView
from gym_gui.ui import theme
from gym_gui.ui.agent_snapshots.agent_snapshot import AgentSnapshot, snapshot_sections
from gym_gui.ui.agent_snapshots.search_tree import SearchTree
from gym_gui.ui.language.turn_view import Section, write_sections
from gym_gui.ui.plots.line_plots import LinePlot
from gym_gui.ui.plots.series import Series
from gym_gui.ui.renderers.agent_words import seat_words
from gym_gui.ui.renderers.frame_view import FrameView
from gym_gui.ui.widgets import ElidedLabel, SegmentedControl
from gym_gui.ui.widgets.combo_box import SteadyComboBox
from gym_gui.ui.widgets.layouts import column_layout, row_layout

_PICTURE: Final = 220
"""Initial width or height of the picture in the splitter, in pixels."""


class AgentSnapshotView(QWidget):
    """View of one agent, which the user chooses: its picture, search tree, plan and texts.

    Args:
        orientation: Horizontal places the parts side by side, vertical one below the other.
        parent: Qt owner.
    """

    agent_chosen = pyqtSignal(str)
    """Emits the name of the agent that the user chose."""

    def __init__(
        self, orientation: Qt.Orientation = Qt.Orientation.Horizontal, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("mind")
        self._sections: list[Section] = []
        self._agents: tuple[tuple[str, str], ...] = ()
        self._plan: PlanPlot | None = None
        self._choice = SteadyComboBox(self)
        self._choice.setObjectName("mind-agent")
        self._choice.setAccessibleName("Agent")
        self._choice.setToolTip("Choose the agent to show")
        self._choice.activated.connect(self._on_activated)
        self._choice.setSizeAdjustPolicy(SteadyComboBox.SizeAdjustPolicy.AdjustToContents)
        self._choice.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self._choice.hide()
        self._caption = ElidedLabel("", "muted", name="mind-caption")
        self._caption.hide()
        self.picture = FrameView(theme.current(), self)
        self.picture.setObjectName("mind-picture")
        self.picture.setAccessibleName("Picture that the agent observes")
        self.tree = SearchTree(self)
        self.text = QTextEdit(self)
        self.text.setObjectName("mind-text")
        self.text.setAccessibleName("Observation and thoughts of the agent")
        self.text.setReadOnly(True)
        self.text.setUndoRedoEnabled(False)
        self.text.setAcceptRichText(False)
        self._splitter = QSplitter(orientation, self)
        self._splitter.setObjectName("mind-splitter")
        self._splitter.setChildrenCollapsible(False)
        self._splitter.setHandleWidth(theme.ROW)
        for part, stretch in ((self.picture, 2), (self.tree, 4), (self.text, 3)):
            self._splitter.addWidget(part)
            self._splitter.setStretchFactor(self._splitter.count() - 1, stretch)
        self._splitter.setSizes([_PICTURE, 3 * _PICTURE, 2 * _PICTURE])
        self.picture.hide()
        self.tree.hide()
        head = row_layout()
        head.addWidget(self._choice)
        head.addWidget(self._caption, 1)
        head.addStretch()
        column = column_layout(self)
        column.addLayout(head)
        column.addWidget(self._splitter, 1)
        theme.current().changed.connect(self._rewrite)

    @property
    def agent(self) -> str:
        """Name of the chosen agent; empty if there are no agents."""
        return str(self._choice.currentData() or "")

    def offer(self, agents: Sequence[AgentView], asked: Collection[str] = ()) -> None:
        """Set the agents to choose from; the current choice is kept if possible.

        Args:
            agents: All agents.
            asked: Agents that have to act now; the first of them is chosen if none was chosen.
        """
        offered = tuple((each.agent, seat_words(each)) for each in agents)
        if offered == self._agents:
            return
        before, self._agents = self.agent, offered
        self._choice.clear()
        for agent, words in offered:
            self._choice.addItem(words, agent)
        places = [i for i, each in enumerate(agents) if each.agent in asked]
        first = places[0] if places else 0
        kept = self._choice.findData(before)
        self._choice.setCurrentIndex((kept if kept >= 0 else first) if offered else -1)
        self._choice.setVisible(len(offered) > 1)
        if self.agent != before:
            self.agent_chosen.emit(self.agent)

    def choose(self, agent: str) -> None:
        """Choose an agent; a name that is not offered is ignored."""
        place = self._choice.findData(agent)
        if place >= 0 and agent != self.agent:
            self._choice.setCurrentIndex(place)
            self.agent_chosen.emit(agent)

    def show_snapshot(self, snapshot: AgentSnapshot | None, picture: NDArray[np.uint8] | None = None) -> None:
        """Show what an agent observes and thinks.

        Args:
            mind: State of the agent; ``None`` clears the view.
            picture: Picture that the agent observes, shape ``(height, width, 3)``, RGB; ``None`` for none.
        """
        sections = [] if snapshot is None else list(snapshot_sections(snapshot))
        observed = None if snapshot is None else snapshot.observed
        if picture is not None:
            self.picture.show_frame(picture)
        self.picture.setVisible(picture is not None)
        self.tree.show_turn(None if snapshot is None else snapshot.turn)
        self._show_plan(None if snapshot is None or snapshot.turn is None else snapshot.turn.planned)
        shown = observed is not None and observed.caption and picture is not None
        self._caption.setText(
            f"{observed.caption} at step {observed.step}" if observed is not None and shown else ""
        )
        self._caption.setVisible(bool(shown))
        if sections != self._sections:
            self._sections = sections
            self._rewrite()

    def _show_plan(self, planned: PlanValues | None) -> None:
        """Show a plan or hide it; its plot is created for the first agent that plans."""
        if planned is not None and self._plan is None:
            self._plan = PlanPlot(self._splitter.parentWidget())
            self._splitter.insertWidget(2, self._plan)
            self._splitter.setStretchFactor(2, 3)
            self._splitter.setSizes([_PICTURE, 3 * _PICTURE, 2 * _PICTURE, 2 * _PICTURE])
        if self._plan is not None:
            self._plan.setVisible(planned is not None)
            if planned is not None:
                self._plan.show_plan(planned)

    def _rewrite(self) -> None:
        """Write the text again and keep the scroll position."""
        bar = self.text.verticalScrollBar()
        at = bar.value() if bar is not None else 0
        write_sections(self.text, self._sections)
        if bar is not None:
            bar.setValue(at)

    def _on_activated(self, _index: int) -> None:
        self.agent_chosen.emit(self.agent)


# -- progress of a plan --------------------------------------------------------------------


EARNED, CONTROLS = "earned", "controls"
_KIND: Final = "planner"


class PlanPlot(QWidget):
    """Plot of one decision's plan over the steps that it looks ahead.

    Args:
        parent: Qt owner.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("plan-plot")
        self._planned: PlanValues | None = None
        self._choice = SegmentedControl(
            [(EARNED, "Return"), (CONTROLS, "Controls")], EARNED, name="plan-what", parent=self
        )
        self._choice.setToolTip("Plot the expected return of the plan, or its controls")
        self._choice.setAccessibleName("Plotted quantity")
        self._choice.chosen.connect(self._on_chosen)
        hint = "The plan has no values to plot."
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

    def show_plan(self, planned: PlanValues) -> None:
        """Draw a plan in place of the previous one."""
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
