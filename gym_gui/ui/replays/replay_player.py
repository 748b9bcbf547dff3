"""Replay of one recorded episode in a separate process, which stores the resulting views and pictures."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from PyQt6.QtCore import QObject, pyqtSignal

from gym_gui.analysis.records.reader import open_run
from gym_gui.controllers.replays.replay_reel import ReplayStore
from gym_gui.controllers.replays.replay_session import ReplayOrder
from gym_gui.controllers.replays.replay_track import Meanings, ReplayTrack
from gym_gui.core.agent_observation import AgentObservation
from gym_gui.core.errors import MosaicError
from gym_gui.core.live import LiveView
from gym_gui.services.runs.recorded_episode import RecordedEpisode, load_episode
from gym_gui.ui.context import AppContext

if TYPE_CHECKING:
    from gym_gui.host.replay_client import ReplaySession


class ReplayPlayer(QObject):
    """Replay of one recorded episode in the background; returns the view and picture at any position.

    Args:
        context: Runs background tasks and names the data folders.
        track: The episode and its recorded rows.
        parent: Qt owner.
        seen_from: Agent whose observations are replayed; ``""`` for the view of a spectator.
    """

    grown = pyqtSignal()
    """Emitted when more positions can be shown, or when the replay has ended."""
    broke = pyqtSignal(str)
    """Emits a sentence when the replay fails; positions replayed so far can still be shown."""

    def __init__(
        self, context: AppContext, track: ReplayTrack, parent: QObject | None = None, *, seen_from: str = ""
    ) -> None:
        super().__init__(parent)
        self.seen_from = seen_from
        self._context = context
        self.track = track
        self.reel = ReplayStore()
        self.trouble = ""
        self._session: ReplaySession | None = None
        self._task: asyncio.Task[None] | None = None
        self._over = False
        self.meanings: Meanings = {}

    @property
    def recorded(self) -> RecordedEpisode:
        """Recorded episode that is replayed."""
        return self.track.recorded

    @property
    def loaded(self) -> int:
        """Number of positions that can be shown so far."""
        return len(self.reel)

    @property
    def at_end(self) -> bool:
        """Whether no further positions follow."""
        return self._over

    @property
    def last(self) -> int:
        """Last position; until the replay ends, the number of decision rounds in the record."""
        if self._over or not self.track.steps:
            return max(self.loaded - 1, 0)
        return max(self.loaded - 1, self.track.rounds)

    def start(self) -> None:
        """Start the replay process."""
        self._task = self._context.spawn(self._play(), "Replaying an episode")

    async def close(self) -> None:
        """Stop the replay, end its process and delete the pictures."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError, Exception):  # spawn() has reported the error
                await self._task
        self.reel.close()

    def view(self, position: int) -> LiveView | None:
        """Return the view of the episode at a position, at most the last loaded one; ``None`` before the
        first.
        """
        if not self.loaded:
            return None
        at = min(position, self.loaded - 1)
        return self.track.view(self.reel.states[at], self.meanings, last=self._over and at == self.loaded - 1)

    def picture(self, position: int) -> NDArray[np.uint8] | None:
        """Return the frame at a position; ``None`` if the environment draws none."""
        return self.reel.picture(min(position, self.loaded - 1)) if self.loaded else None

    def observed(self, position: int) -> AgentObservation | None:
        """Return the agent's observation at a position; :meth:`picture` returns its picture."""
        return self.reel.states[min(position, self.loaded - 1)].observed if self.loaded else None

    def rows_at(self, position: int) -> tuple[int, int]:
        """Return the range (first, end) of recorded rows between the previous position and this one."""
        if not self.loaded:
            return 0, 0
        at = min(position, self.loaded - 1)
        return (self.reel.states[at - 1].rows if at else 0), self.reel.states[at].rows

    async def _play(self) -> None:
        from gym_gui.host.replay_client import ReplaySession  # brings gRPC

        order = ReplayOrder.of(self.recorded, self.seen_from)
        session = ReplaySession(order, self.reel, self._on_looks, self._context.store)
        self._session = session
        try:
            await session.play()
        except MosaicError as error:
            self._over = True
            self._break(error.sentence)
        else:
            if session.departs:
                self._break(session.departs)

    def _on_looks(self) -> None:
        assert self._session is not None
        self.meanings, self._over = self._session.meanings, self._session.over
        if not self.seen_from:  # one agent's view shows nothing else of the episode
            self.track.seats, self.track.moves = self._session.seats, self._session.moves
        self.grown.emit()

    def _break(self, sentence: str) -> None:
        self.trouble = sentence
        self.broke.emit(sentence)
        self.grown.emit()


async def read_episode(run: Path, operator_id: str, index: int | None) -> ReplayTrack:
    """Find a recorded episode and read its rows, in a thread.

    Raises:
        UsageError: The episode does not exist.
    """

    def read() -> ReplayTrack:
        return ReplayTrack(load_episode(open_run(run), operator_id, index))

    return await asyncio.to_thread(read)


async def retire(player: ReplayPlayer) -> None:
    """Stop a replay that is no longer shown, end its process and delete the object."""
    await player.close()
    player.deleteLater()
