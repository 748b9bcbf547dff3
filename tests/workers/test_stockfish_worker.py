"""Stockfish in the engine: it wins, it repeats, and its process ends with the session."""

from __future__ import annotations

from typing import Any

import psutil

from gym_gui.controllers.engine.resolved_operator import resolve_operator
from gym_gui.controllers.engine.session_interface import SessionSettings
from gym_gui.controllers.sessions.local_session import LocalSession
from tests.controllers.engine.test_session_workers import operator
from tests.support.engine import plans
from tests.support.session_log import SessionLog
from tests.support.waiting import eventually, in_time

CHESS = "classic/chess_v6"


def stockfish(**settings: Any) -> dict[str, Any]:
    return {"worker_id": "stockfish_worker", "type": "baseline", "settings": settings}


async def games(players: dict[str, Any], seeds: range) -> SessionLog:
    """Played to their ends, all at once."""
    listener = SessionLog()
    session = LocalSession(resolve_operator(operator(players, CHESS)), SessionSettings(len(seeds)), listener)
    try:
        await session.start()
        session.play(plans(seeds))
        await in_time(lambda: len(listener.episodes) == len(seeds), "all games are over", 120)
    finally:
        await session.close()
    return listener


async def test_it_beats_random_from_both_sides_and_the_games_repeat() -> None:
    players = {"player_0": stockfish(depth=4), "player_1": {"type": "random"}}
    turned = {"player_0": {"type": "random"}, "player_1": stockfish(skill=4)}
    white, black = await games(players, range(2)), await games(turned, range(2))
    for sheet, hero in ((white, "player_0"), (black, "player_1")):
        assert {episode["status"] for episode in sheet.episodes.values()} == {"completed"}
        assert {episode["returns"][hero] for episode in sheet.episodes.values()} == {1.0}
        assert not any(episode["invalid_actions"].get(hero) for episode in sheet.episodes.values())
        assert sheet.column(0, "value", hero)[-1] == 1.0
    again = await games(turned, range(2))
    assert [again.column(i, "action") for i in range(2)] == [black.column(i, "action") for i in range(2)]
    eventually(
        lambda: not any("stockfish" in p.name() for p in psutil.Process().children(recursive=True)),
        "no engine is left",
    )
