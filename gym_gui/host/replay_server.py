"""The host's side of a replay: plays the episode and says what it looks like."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable

import orjson

from gym_gui.controllers.replay_reel import pack
from gym_gui.controllers.replay_session import EpisodeReplay, ReplayFrame, ReplayOrder
from gym_gui.core.errors import MosaicError, UsageError
from gym_gui.host.plain_board import board_to_json
from gym_gui.host.service import pb

_EVERY_S = 0.05
_BYTES = 1 << 18
_AHEAD = 8
"""Messages on their way to a client that reads slowly; then the environment waits."""


async def serve_replay(
    request: pb.Replay, send: Callable[[pb.Event], None], waiting: Callable[[], int]
) -> None:
    """Play an episode again; returns when all of it has been sent.

    Args:
        request: The episode.
        send: Queues an event for the client.
        waiting: How many events it has not taken yet.
    """
    # Pictures are drawn into memory: no window, no sound.
    os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
    os.environ.setdefault("SDL_AUDIODRIVER", "dummy")
    try:
        replay = EpisodeReplay(ReplayOrder.from_json(request.order, request.lines))
        replay.open()
    except MosaicError as exc:
        send(pb.Event(broken=pb.Broken(reason=str(exc), usage=isinstance(exc, UsageError))))
        return
    try:
        news = pb.Looks(meanings=orjson.dumps(replay.meanings).decode())
        size, sent = 0, 0.0  # the first look goes at once
        for frame in replay.frames():
            look = _look(frame)
            news.looks.append(look)
            size += len(look.pixels)
            if size > _BYTES or time.monotonic() - sent > _EVERY_S:
                send(pb.Event(looks=news))
                news, size, sent = pb.Looks(), 0, time.monotonic()
            await asyncio.sleep(0)
            while waiting() > _AHEAD:
                await asyncio.sleep(_EVERY_S)
        news.over, news.departs = True, replay.departs
        send(pb.Event(looks=news))
    finally:
        replay.close()


def _look(frame: ReplayFrame) -> pb.Look:
    look = pb.Look(
        position=frame.position,
        step=frame.step,
        rows=frame.rows,
        board=board_to_json(frame.board),
        text=frame.text,
        scores=orjson.dumps(frame.scores).decode() if frame.scores is not None else "",
    )
    if frame.picture is not None:
        packed = pack(frame.picture)
        look.pixels, look.height, look.width = packed.pixels, packed.height, packed.width
    return look
