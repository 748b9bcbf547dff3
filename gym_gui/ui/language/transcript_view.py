"""Panel that lists the model calls and decisions of an operator, filters them, and shows one in full."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from typing import Final

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtWidgets import QCheckBox, QLineEdit, QSplitter, QWidget

from gym_gui.analysis.transcripts.turn import Turn
from gym_gui.controllers.live_play.call_log import CallLog
from gym_gui.controllers.live_play.latest_task import Spawn
from gym_gui.ui import theme
from gym_gui.ui.language.turn_list import TurnList
from gym_gui.ui.language.turn_view import TurnView
from gym_gui.ui.language.turns import EpisodeTurns, LiveTurns, TurnFilter, TurnModel, TurnSource
from gym_gui.ui.numbers import count, local, read
from gym_gui.ui.timers import single_shot_timer
from gym_gui.ui.widgets import muted_label
from gym_gui.ui.widgets.combo_box import SteadyComboBox
from gym_gui.ui.widgets.layouts import column_layout, row_layout
from gym_gui.ui.widgets.search_field import search_field

TYPING_MS: Final = 200
GROWTH_MS: Final = 100
_SEARCH_WIDEST: Final = 420
"""Largest width of the search field, in pixels."""
_SPACES: Final = re.compile(r"\s+")


class TranscriptPanel(QWidget):
    """Panel with a list of turns (model calls or program decisions) and the selected turn.

    Args:
        spawn: Runs work in the background.
        orientation: Horizontal places the turn beside the list, vertical below it.
        parent: Qt owner.
    """

    step_chosen = pyqtSignal(int, int)
    """Emits episode and step of a model call or decision that the user has selected."""

    def __init__(
        self,
        spawn: Spawn,
        orientation: Qt.Orientation = Qt.Orientation.Horizontal,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("transcript")
        self._spawn = spawn
        self._source: TurnSource = EpisodeTurns()
        self._agents: tuple[str, ...] = ()
        self._search_task: asyncio.Task[None] | None = None
        self._quiet = False
        self.model = TurnModel(self)
        self._list = TurnList(self.model, self)
        self.view = TurnView(self)
        self._make_tools()
        self._splitter = QSplitter(orientation, self)
        self._splitter.setObjectName("transcript-splitter")
        self._splitter.setChildrenCollapsible(False)
        self._splitter.setHandleWidth(theme.ROW)
        self._splitter.addWidget(self._list)
        self._splitter.addWidget(self.view)
        self._splitter.setStretchFactor(0, 2)
        self._splitter.setStretchFactor(1, 3)
        self._build(orientation)
        self._typing = single_shot_timer(self, TYPING_MS, self._filter)
        self._growth = single_shot_timer(self, GROWTH_MS, self._grow)
        self._list.turn_selected.connect(self._on_selected)

    def _make_tools(self) -> None:
        self._agent = SteadyComboBox(self)
        self._agent.setObjectName("transcript-agent")
        self._agent.setAccessibleName("Agent")
        self._agent.setToolTip("Show the calls and decisions of one agent")
        self._agent.activated.connect(self._on_wanted)
        self._search = search_field(
            "transcript-search",
            "Search words",
            self._on_typed,
            called="Search prompts, replies and thoughts",
            parent=self,
        )
        self._failed = QCheckBox("Unusable", self)
        self._failed.setObjectName("transcript-failed")
        self._failed.setToolTip("Show only replies and decisions that could not be played")
        self._failed.toggled.connect(self._on_wanted)
        self.step = QLineEdit(self)
        self.step.setObjectName("transcript-step")
        self.step.setPlaceholderText("Step")
        self.step.setAccessibleName("Go to step")
        self.step.setToolTip("Go to the turns of this step, from 0 (Enter)")
        self.step.setFixedWidth(64)
        self.step.returnPressed.connect(self._on_step)
        self.count = muted_label("", name="transcript-count")

    def _build(self, orientation: Qt.Orientation) -> None:
        column = column_layout(self)
        first = row_layout()
        wide = orientation == Qt.Orientation.Horizontal
        self._agent.setMinimumWidth(96)
        if wide:
            self._agent.setMaximumWidth(170)
            self._search.setMaximumWidth(_SEARCH_WIDEST)
        first.addWidget(self._agent, 0 if wide else 1)
        first.addWidget(self._search, 1000)  # takes space before the stretch does
        column.addLayout(first)
        if wide:
            second = first
        else:
            second = row_layout()
            column.addLayout(second)
        second.addWidget(self._failed)
        second.addWidget(self.step)
        second.addStretch(1)
        second.addWidget(self.count)
        column.addWidget(self._splitter, 1)
        self.tools = first

    # -- content -----------------------------------------------------------------------

    def show_turns(self, turns: Sequence[Turn]) -> None:
        """Show the model calls and decisions of a finished episode."""
        agents = tuple(dict.fromkeys(turn.agent for turn in turns))
        self._show(EpisodeTurns(turns), agents)
        self._list.select(0)

    def follow(self, log: CallLog | None) -> None:
        """Show the model calls and decisions of a running operator as they arrive; ``None`` shows an empty
        list.
        """
        if log is not None and self.log is log:
            return
        if log is None:
            self._show(EpisodeTurns(), ())
        else:
            self._show(LiveTurns(log), tuple(log.agents))
            self._list.select(self.model.rowCount() - 1)

    @property
    def log(self) -> CallLog | None:
        """Call log of the running operator; ``None`` for a finished episode."""
        return self._source.log if isinstance(self._source, LiveTurns) else None

    def on_grown(self) -> None:
        """Show new turns after a short pause."""
        if not self._growth.isActive():
            self._growth.start()

    def go_to(self, step: int, agent: str = "", episode: int | None = None) -> bool:
        """Select the turn of a step without emitting :attr:`step_chosen`; return whether a turn was found.

        Args:
            step: Environment step, from 0.
            agent: Slot; ``""`` for any slot.
            episode: Episode index; ``None`` for the last one.
        """
        here = self.view.turn
        if here is not None and here.step == step and (episode is None or here.episode == episode):
            return True  # of several calls about a step, the one that was chosen stays
        row = self.model.row_at(episode, step, agent)
        if row is None:
            return False
        if row != self._list.currentIndex().row():
            self._quiet = True
            self._list.select(row)
            self._quiet = False
        return True

    def choose_agent(self, agent: str) -> None:
        """Show only the turns of one agent; ``""`` shows all turns."""
        place = self._agent.findData(agent)
        if place >= 0 and place != self._agent.currentIndex():
            self._agent.setCurrentIndex(place)
            self._on_wanted()

    def select_last(self) -> None:
        """Select the newest model call or decision, and keep following the newest one."""
        self._list.select(self.model.rowCount() - 1)

    def _show(self, source: TurnSource, agents: tuple[str, ...]) -> None:
        self._source = source
        self._offer(agents, anew=True)
        self.view.show_turn(None)
        self._filter()

    def _offer(self, agents: tuple[str, ...], *, anew: bool = False) -> None:
        if agents == self._agents and not anew:
            return
        chosen = self._agent.currentData() or ""
        self._agents = agents
        self._agent.clear()
        self._agent.addItem("All agents", "")
        for agent in agents:
            self._agent.addItem(agent, agent)
        self._agent.setCurrentIndex(max(self._agent.findData(chosen), 0))
        self._agent.setVisible(len(agents) > 1)
        self._list.delegate.several = len(agents) > 1
        self.view.one_agent = len(agents) == 1

    def _grow(self) -> None:
        source = self._source
        if isinstance(source, LiveTurns):
            self._offer(tuple(source.log.agents))
        if self._searching:
            return  # the search repeats with the new turns when it is done
        at_end = self._list.at_end
        self.model.grow()
        self.model.retell()
        self._count()
        if at_end:
            self._quiet = True
            self._list.select(self.model.rowCount() - 1)
            self._quiet = False
        elif (row := self._list.currentIndex().row()) >= 0:
            self._refresh(row)

    def _refresh(self, row: int) -> None:
        """Show the selected turn again if it changed, because the outcome of its reply may be known now."""
        turn = self.model.turn(row)
        if turn is not None and turn != self.view.turn:
            self.view.show_turn(turn, self.model.before(row), self.wanted.words)

    # -- filter ------------------------------------------------------------------------

    @property
    def wanted(self) -> TurnFilter:
        """Filter that the controls describe."""
        agent = str(self._agent.currentData() or "")
        return TurnFilter(agent, _SPACES.sub(" ", self._search.text()).strip(), self._failed.isChecked())

    @property
    def _searching(self) -> bool:
        return self._search_task is not None and not self._search_task.done()

    def _on_typed(self, _text: str) -> None:
        self._typing.start()

    def _on_wanted(self, *_: object) -> None:
        self._filter()

    def _filter(self) -> None:
        self._typing.stop()
        if self._search_task is not None:
            self._search_task.cancel()
            self._search_task = None
        wanted = self.wanted
        if wanted.quick:
            self._take(wanted, None)
        else:
            self.count.setText("Searching…")
            self._search_task = self._spawn(self._look(wanted), "Searching the transcript")

    async def _look(self, wanted: TurnFilter) -> None:
        source = self._source
        numbers = await asyncio.to_thread(source.search(wanted))
        self._search_task = None
        if source is self._source and wanted == self.wanted:
            self._take(wanted, numbers)
            self._grow()

    def _take(self, wanted: TurnFilter, numbers: Sequence[int] | None) -> None:
        turn = self.view.turn
        self.model.wanted = wanted
        self.model.show(self._source, numbers)
        self._count()
        if turn is not None and self.view.words != wanted.words:
            self.view.mark(wanted.words)
        row = None if turn is None else self.model.row_at(turn.episode, turn.step, turn.agent)
        if row is None and self.model.rowCount():
            row = self.model.rowCount() - 1 if isinstance(self._source, LiveTurns) else 0
        self._quiet = True
        if row is not None:
            self._list.select(row)
        else:
            self.view.show_turn(None)
        self._quiet = False

    def _count(self) -> None:
        shown, there = self.model.rowCount(), len(self._source) - self._source.first
        turns = count(there, self._source.unit)
        self.count.setText(turns if shown == there else f"{local(shown):,} of {turns}")

    # -- navigation --------------------------------------------------------------------

    def _on_selected(self, row: int) -> None:
        turn = self.model.turn(row)
        if turn is None:
            return
        self._refresh(row)
        if not self._quiet:
            self.step_chosen.emit(turn.episode, turn.step)

    def _on_step(self) -> None:
        step = read(self.step.text(), {"type": "integer"})
        if not isinstance(step, int):
            return
        row = self.model.row_at(self._episode, step)
        if row is not None:
            self._list.select(row)
        self.step.selectAll()

    @property
    def _episode(self) -> int | None:
        return self.view.turn.episode if self.view.turn is not None else None
