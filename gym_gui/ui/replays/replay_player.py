"""One recorded episode, played again in a process of its own and kept for going back."""

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
    """Fills a reel in the background; returns what is seen at any position of it.

    Args:
        context: For work in the background and folders.
        track: The episode, with its rows read.
        parent: Qt owner.
        seen_from: Seat whose view is played, in place of pictures of the whole; empty: the whole is played.
    """

    grown = pyqtSignal()
    """More positions can be shown, or the end is known."""
    broke = pyqtSignal(str)
    """The replay cannot go on, in a sentence; what there is can still be looked at."""

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
        """The episode."""
        return self.track.recorded

    @property
    def loaded(self) -> int:
        """Positions that can be shown."""
        return len(self.reel)

    @property
    def over(self) -> bool:
        """Whether there will be no more."""
        return self._over

    @property
    def last(self) -> int:
        """The last position, as far as it is known: rounds of decisions the record has."""
        if self._over or not self.track.steps:
            return max(self.loaded - 1, 0)
        return max(self.loaded - 1, self.track.rounds)

    def start(self) -> None:
        """Begin to play."""
        self._task = self._context.spawn(self._play(), "Replaying an episode")

    async def close(self) -> None:
        """Stop, end the process, forget the pictures."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError, Exception):  # spawn() has told what it was
                await self._task
        self.reel.close()

    def view(self, position: int) -> LiveView | None:
        """What the agents had done by a position; past the end, at the end."""
        if not self.loaded:
            return None
        at = min(position, self.loaded - 1)
        return self.track.view(self.reel.looks[at], self.meanings, last=self._over and at == self.loaded - 1)

    def picture(self, position: int) -> NDArray[np.uint8] | None:
        """The picture at a position, ``None`` where the environment draws none."""
        return self.reel.picture(min(position, self.loaded - 1)) if self.loaded else None

    def observed(self, position: int) -> AgentObservation | None:
        """What the seat sees at a position; its picture is :meth:`picture`."""
        return self.reel.looks[min(position, self.loaded - 1)].observed if self.loaded else None

    def rows_at(self, position: int) -> tuple[int, int]:
        """Rows of the record that led from the position before to this one: first, and one past the last."""
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
        if not self.seen_from:  # a replay from one seat shows nothing of the whole
            self.track.seats, self.track.moves = self._session.seats, self._session.moves
        self.grown.emit()

    def _break(self, sentence: str) -> None:
        self.trouble = sentence
        self.broke.emit(sentence)
        self.grown.emit()


async def read_episode(run: Path, operator_id: str, index: int | None) -> ReplayTrack:
    """Find an episode and read its rows, in a thread.

    Raises:
        UsageError: There is no such episode.
    """

    def read() -> ReplayTrack:
        return ReplayTrack(load_episode(open_run(run), operator_id, index))

    return await asyncio.to_thread(read)


async def retire(player: ReplayPlayer) -> None:
    """End a player that is no longer shown, and its process."""
    await player.close()
    player.deleteLater()
