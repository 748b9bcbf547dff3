"""The client's side of a replay: fills a reel with what a host process plays."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping

import orjson

from gym_gui.controllers.replay_reel import Look, PackedPicture, Reel
from gym_gui.controllers.replay_session import ReplayOrder
from gym_gui.core.errors import MosaicError, UsageError
from gym_gui.core.types import AgentID
from gym_gui.host.plain_board import board_from_json
from gym_gui.host.process import HostProcess, HostProcessError
from gym_gui.host.service import pb
from gym_gui.services.store import Store


class ReplaySession:
    """Plays one recorded episode again in a process of its own.

    Args:
        order: The episode.
        reel: Gets every look.
        on_looks: Called when looks have been added.
        store: Where the process's socket lives.

    Attributes:
        meanings: A word for each discrete action, by seat; empty until the first look.
        over: Whether all looks are there.
        departs: With ``over``: how what was played differs from the record, or ``""``.
    """

    def __init__(
        self, order: ReplayOrder, reel: Reel, on_looks: Callable[[], None], store: Store | None = None
    ) -> None:
        self.reel, self._order, self._on_looks = reel, order, on_looks
        self._process = HostProcess(f"replay of episode {order.index}", store)
        self.meanings: Mapping[AgentID, tuple[str, ...]] = {}
        self.over = False
        self.departs = ""

    @property
    def pid(self) -> int:
        """Its process id, 0 before it has started."""
        return self._process.pid

    async def play(self) -> None:
        """Fill the reel to the end of the record. Cancel it to stop.

        Raises:
            UsageError: The environment is not there.
            MosaicError: The process ended before its work was done.
        """
        replay = pb.Replay(order=self._order.to_json(), lines=self._order.lines)
        events = self._process.events(pb.Command(replay=replay))
        try:
            async with contextlib.aclosing(events):
                async for event in events:
                    self._on_event(event)
                    if self.over:
                        break
        finally:
            closing = asyncio.ensure_future(self._process.close())
            try:
                await asyncio.shield(closing)
            except asyncio.CancelledError:
                await closing  # a second thought must not leave a process behind
                raise
        if not self.over:
            raise HostProcessError("the replay ended before its last step", fix="Try again")

    def _on_event(self, event: pb.Event) -> None:
        body = event.WhichOneof("body")
        if body == "broken":
            error = UsageError if event.broken.usage else MosaicError
            raise error(event.broken.reason)
        if body != "looks":
            return
        news = event.looks
        if news.meanings:
            self.meanings = {agent: tuple(words) for agent, words in orjson.loads(news.meanings).items()}
        for look in news.looks:
            self._add(look)
        self.over, self.departs = news.over, news.departs
        self._on_looks()

    def _add(self, look: pb.Look) -> None:
        scores = orjson.loads(look.scores) if look.scores else None
        kept = Look(look.position, look.step, look.rows, board_from_json(look.board), look.text, scores)
        picture = PackedPicture(look.pixels, look.height, look.width) if look.pixels else None
        self.reel.add(kept, picture)
