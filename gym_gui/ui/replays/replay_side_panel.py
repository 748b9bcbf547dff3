"""Side panel of a replay: table of steps, transcript of model calls, or one agent in detail."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtWidgets import QVBoxLayout, QWidget

from gym_gui.analysis.records.reader import open_run
from gym_gui.analysis.transcripts.transcript import Transcript
from gym_gui.analysis.transcripts.turn import Turn
from gym_gui.controllers.live_play.latest_task import Spawn
from gym_gui.core.errors import MosaicError
from gym_gui.ui import theme
from gym_gui.ui.context import AppContext
from gym_gui.ui.language.transcript_view import TranscriptPanel
from gym_gui.ui.replays.replay_agent_snapshot import ReplayedAgentView
from gym_gui.ui.replays.replay_player import ReplayPlayer
from gym_gui.ui.replays.step_table import StepTable
from gym_gui.ui.widgets import Card, InlineMessage, SegmentedControl

_TABLE_WIDTH, _WIDE_TABLE, _WIDEST_TABLE = 340, 440, 560
_ROOMY = 1400


class ReplaySidePanel(Card):
    """Side panel that follows the replay's position; selecting a step or turn moves the replay to it.

    Args:
        context: The window's services.
        parent: Qt owner.

    Attributes:
        choice: Control that switches between steps, transcript (if the episode has turns) and one agent.
        calls: Number of turns (model calls or program decisions) in the transcript.
    """

    position_chosen = pyqtSignal(int)
    """Emits the replay position of the step or turn that the user has selected."""

    def __init__(self, context: AppContext, parent: QWidget | None = None) -> None:
        super().__init__(margin=theme.GAP, parent=parent)
        self.setObjectName("replay-steps")
        self.setFixedWidth(_TABLE_WIDTH)
        self._player: ReplayPlayer | None = None
        self._position = self._room = self.calls = 0
        self._table = StepTable(self)
        self._table.position_chosen.connect(self.position_chosen)
        self._transcript = EpisodeTranscript(context.spawn, self)
        self._transcript.step_chosen.connect(self._on_step_chosen)
        self._transcript.found.connect(self._on_calls_found)
        self._transcript.panel.view.action_words = self._action_words
        self._transcript.hide()
        self._mind = ReplayedAgentView(context, self)
        self._mind.hide()
        self.choice = SegmentedControl(
            [("steps", "Steps"), ("transcript", "Transcript"), ("mind", "One agent")], name="replay-aside"
        )
        self.choice.setToolTip(
            "Switch between the table of steps, the transcript and one agent's observations"
        )
        self.choice.chosen.connect(self._on_chosen)
        self.choice.set_offered("transcript", False)
        self.add(self.choice)
        self.add(self._table, 1)
        self.add(self._transcript, 1)
        self.add(self._mind, 1)

    def show_players(self, run: Path, players: Sequence[ReplayPlayer]) -> None:
        """Show the steps of one or two replayed episodes, and read the turns of the first episode.

        Args:
            run: Run folder.
            players: One or two players.
        """
        self._player, self._position = players[0], 0
        recorded = players[0].recorded
        self._table.show_players(players, [player.recorded.name for player in players])
        self._fit()
        self._mind.show_player(players[0])
        self._transcript.read_turns(run, recorded.operator_id, recorded.episode.episode_index)

    def release(self) -> None:
        """Release the shown players."""
        self._player = None
        self._mind.show_player(None)

    async def settled(self) -> None:
        """Wait until the replay of the agent's observations has ended."""
        await self._mind.settled()

    def show_agent(self, agent: str) -> None:
        """Show the observations and thoughts of an agent of the first episode."""
        self.choice.set_value("mind")
        self._on_chosen("mind")
        self._mind.view.choose(agent)

    def clear(self) -> None:
        """Release the players and stop reading the transcript."""
        self.release()
        self._transcript.clear()

    def follow(self, position: int) -> None:
        """Show the given position of the replay."""
        self._position = position
        self._table.follow(position)
        self._mind.follow(position)
        if self._transcript.isVisibleTo(self):
            self._select_turn()

    def know_words(self) -> None:
        """Replace action numbers by action names after the environment has reported them."""
        self._table.steps.rows_changed()
        self._fit()
        self._transcript.panel.view.refresh()
        self._mind.refresh()

    def fit_into(self, width: int) -> None:
        """Set the panel's width for a width of the replay.

        Args:
            width: Width of the replay view, in pixels.
        """
        self._room = width
        self._fit()

    def _fit(self) -> None:
        reading = self.choice.value != "steps"
        wanted = self._table.wanted_width + 2 * theme.GAP + 2  # with the card's margins and border
        wide = _WIDE_TABLE if reading else min(max(wanted, _TABLE_WIDTH), _WIDE_TABLE)
        self.setFixedWidth(_WIDEST_TABLE if reading and self._room >= _ROOMY else wide)

    def _select_turn(self) -> None:
        """Select the turn of the decision that led to the shown position."""
        player = self._player
        if player is None or not (self._position < player.loaded or player.at_end):
            return
        start, end = player.rows_at(self._position)
        if start < end:
            self._transcript.follow(player.track.steps[start].step_index)

    def _action_words(self, turn: Turn) -> str:
        """Return the name of the action after a turn, as the table of steps shows it."""
        player = self._player
        rows = [] if player is None else [s for s in player.track.steps if s.step_index == turn.step]
        row = next((s for s in rows if s.agent_id == turn.agent), rows[0] if len(rows) == 1 else None)
        return str(turn.action) if player is None or row is None else player.track.words(row, player.meanings)

    def _on_calls_found(self, calls: int) -> None:
        """Offer the transcript only if the episode has turns."""
        reading = self.choice.value == "transcript"
        self.choice.set_offered("transcript", calls > 0)
        self.calls = calls
        self._mind.show_turns(self._transcript.turns)
        if not calls and reading:
            self._on_chosen("steps")
        else:
            self._select_turn()

    def _on_chosen(self, which: str) -> None:
        self._table.setVisible(which == "steps")
        self._transcript.setVisible(which == "transcript")
        self._mind.setVisible(which == "mind")
        self._fit()
        if which == "transcript":
            self._select_turn()
        self._mind.refresh()

    def _on_step_chosen(self, step: int) -> None:
        position = self._table.steps.position_of_step(step)
        if position is not None:
            self.position_chosen.emit(position)


# -- prompts and answers of language models ------------------------------------------------


class EpisodeTranscript(QWidget):
    """Panel that reads and shows the turns (model calls or program decisions) of an episode.

    Args:
        spawn: Runs work in the background.
        parent: Qt owner.
    """

    step_chosen = pyqtSignal(int)
    """Emits the step of a turn that the user has selected."""
    found = pyqtSignal(int)
    """Emits the number of turns after :attr:`turns` has been filled."""

    def __init__(self, spawn: Spawn, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("episode-transcript")
        self._spawn = spawn
        self._task: asyncio.Task[None] | None = None
        self._known: tuple[Path, str] | None = None
        self._transcript: Transcript | None = None
        self.turns: list[Turn] = []
        self._trouble = InlineMessage("error", "")
        self._trouble.hide()
        self.panel = TranscriptPanel(spawn, Qt.Orientation.Vertical, self)
        self.panel.view.one_episode = True
        self.panel.step_chosen.connect(self._on_step_chosen)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self._trouble)
        column.addWidget(self.panel, 1)

    def read_turns(self, run: Path | None, operator_id: str, episode: int) -> None:
        """Read the turns of an episode in the background, then emit :attr:`found`."""
        self.clear()
        if run is not None:
            self._task = self._spawn(self._look(run, operator_id, episode), "Reading the calls")

    def clear(self) -> None:
        """Cancel the reading of turns."""
        if self._task is not None:
            self._task.cancel()
            self._task = None

    def follow(self, step: int) -> None:
        """Select the turn of a step without emitting ``step_chosen``."""
        self.panel.go_to(step)

    async def _look(self, run: Path, operator_id: str, episode: int) -> None:
        trouble = ""
        turns: list[Turn] = []
        try:
            if self._known != (run, operator_id) or self._transcript is None:
                self._transcript = await asyncio.to_thread(_open, run, operator_id)
                self._known = (run, operator_id)
            turns = await asyncio.to_thread(_turns, self._transcript, episode)
        except MosaicError as error:
            trouble = error.sentence
        self._trouble.set_text(trouble)
        self._trouble.setVisible(bool(trouble))
        self.turns = turns
        self.panel.show_turns(turns)
        self.found.emit(len(turns) if not trouble else max(len(turns), 1))

    def _on_step_chosen(self, _episode: int, step: int) -> None:
        self.step_chosen.emit(step)


def _open(run: Path, operator_id: str) -> Transcript:
    return Transcript(open_run(run).operators[operator_id])


def _turns(transcript: Transcript, episode: int) -> list[Turn]:
    return list(transcript.turns(episode=episode))
