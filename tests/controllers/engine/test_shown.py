"""What slots are shown beside their observations: words, pictures, what team-mates say."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from gym_gui.controllers.engine.resolved_operator import resolve_operator
from gym_gui.controllers.engine.session_interface import SessionSettings
from gym_gui.controllers.sessions.local_session import LocalSession
from gym_gui.core.errors import UsageError
from gym_gui.workers.discovery import discover
from gym_gui.workers.registry import WorkerTypeRegistry
from tests.controllers.engine.test_session_workers import operator
from tests.support.engine import plans
from tests.support.little_workers import little_worker
from tests.support.session_log import SessionLog
from tests.support.waiting import in_time

READER = """
import asyncio, base64
from mosaic_worker import Actions, AsyncWorker, Invalid

class Main(AsyncWorker):
    inputs = ("text", "image", "messages")

    def __init__(self):
        self.places = {}

    def reset(self, slot, starts):
        self.places.update({(slot.index, start.episode): slot.at(start.agent_id) for start in starts})

    async def decide(self, slot, decision):
        await asyncio.sleep(0)
        if decision.attempt < slot.settings.get("refuses", 0):
            return Invalid("not yet", raw="hm")
        slot = self.places[slot.index, decision.episode]
        legal = decision.legal_actions or [0]
        saw = {"saw": decision.text, "heard": list(decision.messages), "told": slot.briefing,
               "company": [slot.team, *slot.teammates, "against", *slot.opponents],
               "patience": slot.deadline_s,
               "choices": [list(c) for c in decision.choices],
               "said": f"I see step {decision.step}"}
        if decision.image is not None and slot.settings.get("keeps"):
            saw["picture"] = base64.b64encode(decision.image[0]).decode()
        return Actions([legal[0]], extras=[saw])
"""


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[None]:
    """Workers that read: one asks for words and messages, one for pictures."""
    words = little_worker(tmp_path / "a", READER, "reader", inputs={"text": True, "messages": "optional"})
    looker = little_worker(tmp_path / "b", READER, "looker", inputs={"image": True})
    discover()
    WorkerTypeRegistry.register(words)
    WorkerTypeRegistry.register(looker)
    yield
    WorkerTypeRegistry.unregister("reader")
    WorkerTypeRegistry.unregister("looker")


def slot(worker: str = "reader", **settings: Any) -> dict[str, Any]:
    return {"worker_id": worker, "type": "baseline", "settings": settings}


async def played(
    players: dict[str, Any], task: str, seeds: Any, concurrency: int, steps: int = 2, seats: str = "fixed"
) -> SessionLog:
    """All episodes, cut off after a few steps."""
    listener = SessionLog()
    settings = SessionSettings(concurrency, max_steps=steps)
    resolved = resolve_operator(operator(players, task, seats=seats))
    episodes = plans(seeds, len(resolved.seatings))
    session = LocalSession(resolved, settings, listener)
    try:
        await session.start()
        session.play(episodes)
        await in_time(lambda: len(listener.episodes) == len(episodes), "all episodes are over")
    finally:
        await session.close()
    return listener


@pytest.mark.usefixtures("reader")
async def test_words_arrive_with_the_question_they_belong_to() -> None:
    sheet = await played({"agent": slot()}, "FrozenLake-v1", range(4), 4, steps=3)
    rows = [row for index in range(4) for row in sheet.rows[index]]
    assert len(rows) >= 8 and all(row["saw"] for row in rows)
    assert "FrozenLake" in rows[0]["told"] and "Your actions:\n- left" in rows[0]["told"]


@pytest.mark.usefixtures("reader")
async def test_many_decisions_are_in_flight_and_a_retry_shows_the_same() -> None:
    stubborn = {**slot(refuses=1), "on_invalid": {"retry": 1, "then": "error"}}
    sheet = await played({"agent": stubborn}, "CartPole-v1", range(8), 8)
    assert {e["status"] for e in sheet.episodes.values()} == {"completed"}
    assert {e["invalid_actions"]["agent_0"] for e in sheet.episodes.values()} == {2}
    assert all("between" in row["saw"] or "at" in row["saw"] for row in sheet.rows[0])


@pytest.mark.usefixtures("reader")
async def test_team_mates_hear_each_other_and_nobody_else_does() -> None:
    task = "MosaicMultiGrid-S-2v2-IndAgObs-v1"
    players = {"green_0": slot(), "green_1": slot(), "blue_0": slot(), "blue_1": {"type": "random"}}
    sheet = await played(players, task, range(2), 2, steps=3)
    heard = {agent: sheet.column(0, "heard", agent) for agent in ("green_0", "green_1", "blue_0")}
    assert heard["green_0"] == [[], ["green_1: I see step 0"], ["green_1: I see step 1"]]
    assert heard["green_1"] == [[], ["green_0: I see step 0"], ["green_0: I see step 1"]]
    assert heard["blue_0"] == [[], [], []]
    assert sheet.column(0, "company", "green_0")[0] == ["green", "green_1", "against", "blue_0", "blue_1"]


@pytest.mark.usefixtures("reader")
async def test_where_seats_are_swapped_a_slot_is_told_of_its_place_in_each_episode() -> None:
    players = {"green_0": {**slot(), "deadline_s": 45}, "green_1": slot(), "blue_0": slot(), "blue_1": slot()}
    sheet = await played(players, "MosaicMultiGrid-S-2v2-IndAgObs-v1", [1], 2, seats="swap")
    for index in (0, 1):
        for seat in players:
            team, other = ("green", "blue") if seat.startswith("green") else ("blue", "green")
            mate = f"{team}_{1 - int(seat[-1])}"
            company = sheet.column(index, "company", seat)[0]
            assert company == [team, mate, "against", f"{other}_0", f"{other}_1"]
            assert f"You are {seat}" in sheet.column(index, "told", seat)[0]
    patience = [sheet.column(index, "patience", "green_0")[0] for index in (0, 1)]
    assert patience == [45.0, 300.0], "the second episode's green_0 is the slot blue_0"


@pytest.mark.usefixtures("reader")
async def test_a_picture_is_sized_and_ruled_as_the_slot_asks() -> None:
    looker = slot("looker", keeps=True, image_size=96, image_grid=True)
    plain = slot("looker", keeps=True, image_size=96)
    pictures: list[Any] = []
    for player in (looker, plain):
        sheet = await played({"agent": player}, "MiniGrid-Empty-5x5-v0", [7], 1)
        data = base64.b64decode(sheet.column(0, "picture")[0])
        pictures.append(Image.open(io.BytesIO(data)))
    assert [picture.size for picture in pictures] == [(96, 96), (96, 96)]
    assert pictures[0].tobytes() != pictures[1].tobytes()


@pytest.mark.usefixtures("reader")
async def test_a_slot_that_cannot_be_shown_what_is_needed_is_refused() -> None:
    with pytest.raises(UsageError, match="observation_mode 'teleapthic'"):
        await played({"agent": slot(observation_mode="teleapthic")}, "CartPole-v1", [0], 1)
    with pytest.raises(UsageError, match="image_size -1"):
        await played({"agent": slot("looker", image_size=-1)}, "CartPole-v1", [0], 1)
    with pytest.raises(UsageError, match="needs image"):
        await played(
            {"player_0": slot("looker"), "player_1": slot("looker")}, "open_spiel/tic_tac_toe", [0], 1
        )
