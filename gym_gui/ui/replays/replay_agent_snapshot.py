"""View of one agent of a replayed episode: its observation, thoughts and action."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QVBoxLayout, QWidget

from gym_gui.analysis.transcripts.beliefs import Beliefs
from gym_gui.analysis.transcripts.turn import Turn
from gym_gui.core.live import AgentView
from gym_gui.ui.agent_snapshots.agent_snapshot import AgentSnapshot
from gym_gui.ui.agent_snapshots.agent_snapshot_view import AgentSnapshotView
from gym_gui.ui.context import AppContext
from gym_gui.ui.renderers.joint_agents import recorded_joint_groups
from gym_gui.ui.replays.replay_player import ReplayPlayer, retire


class ReplayedAgentView(QWidget):
    """View that follows one agent of a replay, and replays the agent's observations only while visible.

    Args:
        context: The window's services.
        parent: Qt owner.
    """

    def __init__(self, context: AppContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("replay-mind")
        self._context = context
        self._player: ReplayPlayer | None = None
        self._seat_player: ReplayPlayer | None = None
        self._position = 0
        self._turns: Sequence[Turn] = ()
        self._closing: set[asyncio.Task[None]] = set()
        self.view = AgentSnapshotView(Qt.Orientation.Vertical, self)
        self.view.agent_chosen.connect(self._on_agent_chosen)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.view)

    def show_player(self, player: ReplayPlayer | None) -> None:
        """Show the agents of an episode from its start; ``None`` shows no agent."""
        self._stop_observing()
        self._player, self._position, self._turns = player, 0, ()
        self.view.offer(())
        self.view.show_snapshot(None)

    def show_turns(self, turns: Sequence[Turn]) -> None:
        """Set the turns of the episode, from which the agent's thoughts are shown."""
        self._turns = turns
        self.refresh()

    def follow(self, position: int) -> None:
        """Show the given position of the replay."""
        self._position = position
        self.refresh()

    def refresh(self) -> None:
        """Show the agent at the current position; do nothing while hidden."""
        player = self._player
        if player is None or not self.isVisibleTo(self.parentWidget()):
            return
        view = player.view(self._position)
        if view is None:
            return
        self.view.offer(view.agents, view.turn)
        seat = next((each for each in view.agents if each.agent == self.view.agent), None)
        if seat is None:
            return
        self._start_observing(player, seat.agent)
        seat_player = self._seat_player
        there = seat_player is not None and (self._position < seat_player.loaded or seat_player.at_end)
        observed = seat_player.observed(self._position) if seat_player is not None and there else None
        turn, believes = self._thoughts(player, seat)
        picture = (
            seat_player.picture(self._position) if seat_player is not None and observed is not None else None
        )
        together = recorded_joint_groups(player.recorded.config).get(seat.slot)
        mind = AgentSnapshot(
            seat.agent, view, observed, self._trouble(there), turn, believes, seat.action, together
        )
        self.view.show_snapshot(mind, picture)

    async def settled(self) -> None:
        """Wait until the replay of the agent's observations has ended."""
        self._stop_observing()
        await asyncio.gather(*self._closing, return_exceptions=True)

    def _trouble(self, there: bool) -> str:
        if self._seat_player is not None and self._seat_player.trouble and not self._seat_player.loaded:
            return self._seat_player.trouble
        return "The agent has made no decision yet." if there else "The episode is being replayed…"

    def _thoughts(self, player: ReplayPlayer, seat: AgentView) -> tuple[Turn | None, str]:
        """Return the agent's turn at this position, or ``None``, and the beliefs after it as text."""
        _, played = player.rows_at(self._position)
        last = next((s for s in reversed(player.track.steps[:played]) if s.agent_id == seat.agent), None)
        if last is None:
            return None, ""
        its = [turn for turn in self._turns if turn.agent == seat.agent and turn.step <= last.step_index]
        turn = its[-1] if its and its[-1].step == last.step_index else None
        return turn, Beliefs().take(its).words

    def _start_observing(self, player: ReplayPlayer, agent: str) -> None:
        if self._seat_player is not None and self._seat_player.seen_from == agent:
            return
        self._stop_observing()
        self._seat_player = ReplayPlayer(self._context, player.track, self, seen_from=agent)
        self._seat_player.grown.connect(self.refresh)
        self._seat_player.start()

    def _stop_observing(self) -> None:
        seat_player, self._seat_player = self._seat_player, None
        if seat_player is None:
            return
        seat_player.grown.disconnect(self.refresh)
        task = self._context.spawn(retire(seat_player), "Ending a replay")
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    def _on_agent_chosen(self, _agent: str) -> None:
        self.refresh()
