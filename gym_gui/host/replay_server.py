"""Host's end of a replay: plays the episode again and sends its positions."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator

from gym_gui.controllers.replays.replay_session import EpisodeReplay, ReplayFrame
from gym_gui.core.drawing.packed_picture import pack
from gym_gui.host.replay_messages import replay_order_of
from gym_gui.host.service_names import pb
from gym_gui.host.view_messages import (
    board_message,
    observation_message,
    pixels_message,
    scores_message,
    texts,
    words,
)

_EVERY_S = 0.05
_BYTES = 1 << 18


async def replayed(request: pb.ReplayRequest) -> AsyncGenerator[pb.Looks]:
    """Replay an episode and yield its positions; the environment waits while the client receives none.

    Args:
        request: The episode to replay.

    Raises:
        UsageError: The environment does not exist, or cannot be made with the recorded settings.
    """
    replay = EpisodeReplay(replay_order_of(request))
    replay.open()
    try:
        news = pb.Looks(meanings=words(replay.meanings), seats=texts(replay.seats))
        size, sent = 0, 0.0  # the first position is sent at once
        for frame in replay.frames():
            look = _look(frame)
            news.looks.append(look)
            size += len(look.picture.rgb) + len(look.observed.picture.rgb)
            if size > _BYTES or time.monotonic() - sent > _EVERY_S:
                yield news
                news, size, sent = pb.Looks(), 0, time.monotonic()
            await asyncio.sleep(0)
        news.over, news.departs = True, replay.departs
        yield news
    finally:
        replay.close()


def _look(frame: ReplayFrame) -> pb.Look:
    return pb.Look(
        position=frame.position,
        step=frame.step,
        rows=frame.rows,
        picture=None if frame.picture is None else pixels_message(pack(frame.picture)),
        board=board_message(frame.board, moves=False),
        text=frame.text,
        scores=scores_message(frame.scores),
        moves=frame.moves,
        result=frame.result,
        observed=None if frame.observed is None else observation_message(frame.observed),
    )
