"""What the models of a replayed episode were asked and answered."""

from __future__ import annotations

import asyncio
from pathlib import Path

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtWidgets import QVBoxLayout, QWidget

from gym_gui.analysis.records.reader import open_run
from gym_gui.analysis.transcripts.transcript import Transcript
from gym_gui.analysis.transcripts.turn import Turn
from gym_gui.controllers.live_play.latest_job import Spawn
from gym_gui.core.errors import MosaicError
from gym_gui.ui.language.transcript_view import TranscriptPanel
from gym_gui.ui.widgets import InlineMessage


class EpisodeTranscript(QWidget):
    """Reads an episode's calls when it is looked at; where there are none it has nothing to show.

    Args:
        spawn: Runs work in the background.
        parent: Qt owner.
    """

    step_chosen = pyqtSignal(int)
    """Step of a call that a person has selected."""
    found = pyqtSignal(int)
    """How many calls the episode has; :attr:`turns` has them."""

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

    def look(self, run: Path | None, operator_id: str, episode: int) -> None:
        """Read the calls of an episode; :attr:`found` follows."""
        self.clear()
        if run is not None:
            self._task = self._spawn(self._look(run, operator_id, episode), "Reading the calls")

    def clear(self) -> None:
        """Nothing is replayed."""
        if self._task is not None:
            self._task.cancel()
            self._task = None

    def follow(self, step: int) -> None:
        """Stand on the call about a step; nobody is told."""
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
