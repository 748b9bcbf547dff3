"""Different kinds of players in one match of Doom, each with an engine of its own."""

from __future__ import annotations

import json
from typing import Any

import pytest

pytest.importorskip("vizdoom")

from gym_gui.analysis import open_run
from tests.support.commands import Mosaic, experiment
from tests.support.fake_model_server import FakeModelServer

pytestmark = pytest.mark.usefixtures("all_sessions_here")

PERSON = {
    "type": "human",
    "worker_id": "human_worker",
    "settings": {"script": ["turn right", "attack", "move forward"], "script_end": "repeat"},
}
CHANCE = {"type": "random"}


def match(players: int, **workers: Any) -> dict[str, Any]:
    return {
        "id": "doom",
        "task": f"VizdoomMultiDeathmatch-{players}p-v0",
        "env_kwargs": {"frame_skip": 4},
        "workers": workers,
        "max_steps": 6,
    }


@pytest.mark.full
def test_a_person_and_chance_play_and_it_repeats(mosaic: Mosaic) -> None:
    file = experiment(mosaic.home, match(2, player_0=PERSON, player_1=CHANCE), num_episodes=1)
    done = mosaic("run", file, "--json")
    assert done.status == 0, done.err
    run = mosaic.home / done.json()["run"]
    checked = mosaic("verify", run)
    assert checked.status == 0, checked.out + checked.err


@pytest.mark.full
def test_a_person_chance_and_a_language_model_play_one_match(mosaic: Mosaic) -> None:
    with FakeModelServer(lambda _: "<action>attack</action>") as server:
        model = {
            "type": "llm",
            "worker_id": "mosaic_llm_worker",
            "settings": {"base_url": server.url, "model_id": "m", "client_name": "custom"},
        }
        workers = {"player_0": PERSON, "player_1": CHANCE, "player_2": model}
        done = mosaic("run", experiment(mosaic.home, match(3, **workers), num_episodes=1), "--json")
        assert done.status == 0, done.err
        assert len(server.requests) == 6
        asked = json.dumps(server.requests[0].messages)
    assert "health: 100" in asked and "attack" in asked
    run = open_run(mosaic.home / done.json()["run"])
    (operator,) = run.operators.values()
    (episode,) = operator.episodes()
    assert episode.length == 6 and set(episode.agents) == {"player_0", "player_1", "player_2"}
