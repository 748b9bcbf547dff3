"""Client's end of a replay: receives the positions of an episode that a host process replays."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping

from msgspec import structs

from gym_gui.controllers.engine.resolved_operator import checked_permissions
from gym_gui.controllers.replays.replay_reel import ReplayStore, StoredState
from gym_gui.controllers.replays.replay_session import ReplayOrder
from gym_gui.core.errors import MosaicError
from gym_gui.core.types import AgentID
from gym_gui.host.replay_messages import replay_message
from gym_gui.host.service_names import pb
from gym_gui.host.session_process import HostProcess
from gym_gui.host.view_messages import (
    board_of,
    observation_of,
    packed_of,
    scores_of,
    text_by_name,
    words_by_name,
)
from gym_gui.processes.outcome import ChildOutcome
from gym_gui.services.store import Store

_log = logging.getLogger(__name__)

_FAREWELL_S = 2.0
"""Seconds for a replay's host to end by itself; short, because no caller needs the rest of the replay."""


class ReplaySession:
    """Replay of one recorded episode in its own host process.

    Args:
        order: The episode to replay.
        reel: Receives every position.
        on_looks: Called when positions have been added.
        store: Store whose runtime folder contains the process's socket.

    Attributes:
        meanings: Names of discrete actions, by seat; empty until the first position.
        seats: The game's own name of each agent's seat; empty until the first position.
        moves: Moves so far in the game's own notation; empty if the game has none.
        over: Whether all positions have arrived.
        departs: How the replay differs from the record; ``""`` if it does not. Known when ``over``.
    """

    def __init__(
        self, order: ReplayOrder, reel: ReplayStore, on_looks: Callable[[], None], store: Store | None = None
    ) -> None:
        self.reel, self._order, self._on_looks = reel, order, on_looks
        name = f"replay of episode {order.index}"
        self._host = HostProcess(self, name, name, store, farewell_s=_FAREWELL_S)
        self._name = name
        self._played: asyncio.Future[None] | None = None
        self.meanings: Mapping[AgentID, tuple[str, ...]] = {}
        self.seats: Mapping[AgentID, str] = {}
        self.moves: list[str] = []
        self.over = False
        self.departs = ""

    @property
    def pid(self) -> int:
        """Process id of the replay's host; 0 before the start."""
        return self._host.pid

    async def play(self) -> None:
        """Fill the reel to the end of the record; canceling the call stops the replay.

        Raises:
            UsageError: The environment does not exist.
            MosaicError: The process ended before the end of the replay.
        """
        self._played = asyncio.get_running_loop().create_future()
        try:
            allowed = await asyncio.to_thread(checked_permissions, self._order.config, env_only=True)
            await self._host.start(allowed)
            self._host.follow("Replay", replay_message(self._order), self._take_looks)
            await self._played
        finally:
            self._played = None  # breaks a cycle: its exception's traceback holds this session
            await self._host.close(hang_up=True)

    def _fail(self, error: MosaicError) -> None:
        if self._played is not None and not self._played.done():
            self._played.set_exception(error)
            self._played.exception()  # read here: the caller that awaited it may have been cancelled

    def on_failed(self, error: MosaicError) -> None:
        """Fail the replay with this error."""
        self._fail(error)

    def _take_looks(self, news: pb.Looks) -> None:
        if news.meanings:
            self.meanings, self.seats = words_by_name(news.meanings), text_by_name(news.seats)
        for look in news.looks:
            self._add(look)
        self.over, self.departs = news.over, news.departs
        self._on_looks()
        if self.over and self._played is not None and not self._played.done():
            self._played.set_result(None)

    def on_output(self, line: str) -> None:
        """Log a line that the host or one of its child processes printed."""
        _log.info("%s: %s", self._name, line)

    def on_begun(self, index: int) -> None:
        """Do nothing, because a replay begins no new episode."""

    def on_exit(self, outcome: ChildOutcome) -> None:
        """Fail the replay if it has not finished when the host ends."""
        self._fail(MosaicError(f"the {self._name} {outcome.words}", fix="Start the replay again"))

    def _add(self, look: pb.Look) -> None:
        board = board_of(look.board) if look.HasField("board") else None
        scores = scores_of(look.scores) if look.HasField("scores") else None
        picture = packed_of(look.picture) if look.HasField("picture") else None
        observed = None
        if look.HasField("observed"):
            observed = observation_of(look.observed)
            picture, observed = observed.picture, structs.replace(observed, picture=None)
        self.reel.add(
            StoredState(look.position, look.step, look.rows, board, look.text, scores, look.result, observed),
            picture,
        )
        self.moves += look.moves
