"""Player of one recorded episode: replays it in a separate process and keeps the result."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from PyQt6.QtCore import QObject, pyqtSignal

from gym_gui.analysis.records.reader import open_run
from gym_gui.controllers.replays.replay_reel import Reel
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
    """Records the replay in the background and returns the view at any position.

    Args:
        context: Runs background tasks and names the data folders.
        track: The episode and its rows.
        parent: Qt owner.
        seen_from: Seat whose observations are replayed; empty for the whole environment.
    """

    grown = pyqtSignal()
    """Emitted when more positions can be shown, or the end is known."""
    broke = pyqtSignal(str)
    """Emitted with a sentence when the replay cannot go on; recorded positions stay available."""

    def __init__(
        self, context: AppContext, track: ReplayTrack, parent: QObject | None = None, *, seen_from: str = ""
    ) -> None:
        super().__init__(parent)
        self.seen_from = seen_from
        self._context = context
        self.track = track
        self.reel = Reel()
        self.trouble = ""
        self._session: ReplaySession | None = None
        self._task: asyncio.Task[None] | None = None
        self._over = False
        self.meanings: Meanings = {}

    @property
    def recorded(self) -> RecordedEpisode:
        """The recorded episode."""
        return self.track.recorded

    @property
    def loaded(self) -> int:
        """Number of positions that can be shown."""
        return len(self.reel)

    @property
    def over(self) -> bool:
        """Whether no more positions will come."""
        return self._over

    @property
    def last(self) -> int:
        """Last position; until the replay ends, the number of decision rounds in the record."""
        if self._over or not self.track.steps:
            return max(self.loaded - 1, 0)
        return max(self.loaded - 1, self.track.rounds)

    def start(self) -> None:
        """Start the replay."""
        self._task = self._context.spawn(self._play(), "Replaying an episode")

    async def close(self) -> None:
        """Stop the replay, end its process, and drop the pictures."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError, Exception):  # spawn() has reported the error
                await self._task
        self.reel.close()

    def view(self, position: int) -> LiveView | None:
        """Return what the agents had done at a position; past the end, the last position counts."""
        if not self.loaded:
            return None
        at = min(position, self.loaded - 1)
        return self.track.view(self.reel.looks[at], self.meanings, last=self._over and at == self.loaded - 1)

    def picture(self, position: int) -> NDArray[np.uint8] | None:
        """Return the picture at a position; ``None`` if the environment draws none."""
        return self.reel.picture(min(position, self.loaded - 1)) if self.loaded else None

    def observed(self, position: int) -> AgentObservation | None:
        """Return the seat's observation at a position; :meth:`picture` returns its picture."""
        return self.reel.looks[min(position, self.loaded - 1)].observed if self.loaded else None

    def rows_at(self, position: int) -> tuple[int, int]:
        """Return the range of record rows that led to a position from the one before: first and end."""
        if not self.loaded:
            return 0, 0
        at = min(position, self.loaded - 1)
        return (self.reel.looks[at - 1].rows if at else 0), self.reel.looks[at].rows

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
    """Find an episode and read its rows, in a thread.

    Raises:
        UsageError: The episode does not exist.
    """

    def read() -> ReplayTrack:
        return ReplayTrack(load_episode(open_run(run), operator_id, index))

    return await asyncio.to_thread(read)


async def retire(player: ReplayPlayer) -> None:
    """Stop a player that is no longer shown and end its process."""
    await player.close()
    player.deleteLater()
