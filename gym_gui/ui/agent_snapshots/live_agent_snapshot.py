"""Shows what one agent of a running operator observes and thinks, updated at most every 120 ms."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray
from PyQt6.QtWidgets import QVBoxLayout, QWidget

from gym_gui.analysis.transcripts.beliefs import Beliefs
from gym_gui.analysis.transcripts.turn import Turn
from gym_gui.controllers.live_play.call_log import CallLog
from gym_gui.controllers.live_play.latest_task import Spawn
from gym_gui.core.agent_observation import AgentObservation
from gym_gui.core.drawing.packed_picture import unpack
from gym_gui.core.errors import MosaicError
from gym_gui.core.live import AgentView
from gym_gui.ui.agent_snapshots.agent_snapshot import AgentSnapshot
from gym_gui.ui.agent_snapshots.agent_snapshot_view import AgentSnapshotView
from gym_gui.ui.live.live_operator import LiveOperator
from gym_gui.ui.renderers.agent_words import seat_words
from gym_gui.ui.renderers.joint_agents import joint_groups_of
from gym_gui.ui.timers import single_shot_timer

EVERY_MS: Final = 120


class LiveAgentSnapshot(QWidget):
    """Shows one agent of one operator; does no work while hidden.

    Args:
        spawn: Runs work in the background.
        parent: Qt owner.
    """

    def __init__(self, spawn: Spawn, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("live-mind")
        self._spawn = spawn
        self._operator: LiveOperator | None = None
        self._observed: dict[str, tuple[int, AgentObservation, NDArray[np.uint8] | None]] = {}
        self._beliefs: _Beliefs | None = None
        self._is_reading = self._is_outdated = False
        self.view = AgentSnapshotView(parent=self)
        self.view.agent_chosen.connect(self._on_changed)
        self._update_timer = single_shot_timer(self, EVERY_MS, self._update)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.view)

    def follow(self, operator: LiveOperator | None) -> None:
        """Show an agent of an operator; ``None`` clears the view."""
        before, self._operator = self._operator, operator
        if before is operator:
            return
        for each, change in ((before, "disconnect"), (operator, "connect")):
            if each is not None:
                for signal in (each.viewed, each.called, each.state_changed):
                    getattr(signal, change)(self._on_changed)
        self._observed.clear()
        self._beliefs = None
        self.view.show_snapshot(None)
        if operator is None:
            self._update_timer.stop()
        else:
            self._update()

    def choose(self, agent: str) -> None:
        """Show another agent, by name."""
        self.view.choose(agent)

    def _on_changed(self, _news: object = None) -> None:
        if self._operator is not None and not self._update_timer.isActive():
            self._update_timer.start()

    def _update(self) -> None:
        operator = self._operator
        if operator is None:
            return
        if self._is_reading:
            self._is_outdated = True
            return
        view = operator.player.last_view
        if view is None:
            self.view.offer(())
        else:
            self.view.offer(view.agents, view.turn)
        seat = self._seat
        if seat is None:
            self.view.show_snapshot(AgentSnapshot("", trouble="Nothing is running yet. Press Step or Run."))
        elif operator.player.link.playing is None:
            self._show("The agent is shown as soon as its session is ready.")
        else:
            self._is_reading = True
            self._spawn(self._read_observation(operator, seat), "Reading an agent's observation")

    @property
    def _seat(self) -> AgentView | None:
        view = self._operator.player.last_view if self._operator is not None else None
        agents = () if view is None else view.agents
        return next((each for each in agents if each.agent == self.view.agent), None)

    async def _read_observation(self, operator: LiveOperator, seat: AgentView) -> None:
        trouble = ""
        try:
            observed = await operator.player.see(seat.slot)
            view = operator.player.last_view
            if operator is self._operator and view is not None:
                picture = None if observed.picture is None else unpack(observed.picture)
                self._observed[seat.agent] = view.episode, observed, picture
        except MosaicError as error:
            view = operator.player.last_view
            waits = view is not None and not view.over and seat.agent not in view.turn
            trouble = (
                f"{seat_words(seat)} does not act now. Step until its turn." if waits else error.sentence
            )
        finally:
            self._is_reading = False
        if operator is self._operator:
            self._show(trouble)
        if self._is_outdated:
            self._is_outdated = False
            self._on_changed()

    def _show(self, trouble: str) -> None:
        """Show the agent, with its last observation if the current one is not known.

        Args:
          trouble: Sentence that says why the current observation is not known; empty if it is known.
        """
        operator, seat = self._operator, self._seat
        view = operator.player.last_view if operator is not None else None
        if operator is None or view is None or seat is None:
            return
        episode, observed, picture = self._observed.get(seat.agent, (-1, None, None))
        if episode != view.episode:
            observed = picture = None
        turn, believes = self._thoughts(operator, seat, view.episode)
        action = turn.word if turn is not None else ""
        together = joint_groups_of(operator.player.config.link_groups).get(seat.slot)
        self.view.show_snapshot(
            AgentSnapshot(seat.agent, view, observed, trouble, turn, believes, action, together), picture
        )

    def _thoughts(self, operator: LiveOperator, seat: AgentView, episode: int) -> tuple[Turn | None, str]:
        log = operator.player.tally.calls
        if log is None:
            return None, ""
        current = self._beliefs
        if current is None or not current.fits(log, seat.slot, episode):
            current = self._beliefs = _Beliefs(log, seat.slot, episode)
        return current.last(), current.beliefs.words


class _Beliefs:
    """Turns and beliefs of one agent in one episode; each turn is read once."""

    def __init__(self, log: CallLog, agent: str, episode: int) -> None:
        self._log, self._agent, self._episode = log, agent, episode
        self._next = log.first
        self._last: int | None = None
        self.beliefs = Beliefs()

    def fits(self, log: CallLog, agent: str, episode: int) -> bool:
        """Return whether these are the turns of a log, agent and episode."""
        return (log, agent, episode) == (self._log, self._agent, self._episode)

    def last(self) -> Turn | None:
        """Return the agent's newest turn, and update the beliefs up to this turn."""
        log = self._log
        for number in range(max(self._next, log.first), len(log)):
            if log.agent(number) == self._agent and log.place(number)[0] == self._episode:
                self._last = number
                self.beliefs.take([log.turn(number)])
        self._next = len(log)
        return None if self._last is None or self._last < log.first else log.turn(self._last)
