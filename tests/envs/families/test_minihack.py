"""NetHack and MiniHack as a family of environments."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gym_gui import envs
from gym_gui.core.paradigms.check import CheckStatus
from gym_gui.envs import Environment, document
from gym_gui.envs.environment_registry import family_of


@pytest.fixture(scope="module")
def room() -> Iterator[Environment]:
    made = envs.make("MiniHack-Room-Random-5x5-v0", render_mode="rgb_array")
    yield made
    made.close()


def test_what_is_listed_can_be_repeated() -> None:
    ids = [spec.id for spec in envs.list_specs("minihack")]
    assert len(ids) > 140 and {"NetHackScore-v0", "MiniHack-Room-5x5-v0", "MiniHack-Sokoban1a-v1"} <= set(ids)
    assert not [each for each in ids if "Challenge" in each or "Boxoban" in each or "Crossing" in each]


def test_every_task_has_its_aim() -> None:
    for spec in envs.list_specs("minihack"):
        assert family_of(spec).summary(spec).endswith("."), spec.id


@pytest.mark.parametrize("task", ["MiniHack-Room-Ultimate-5x5-v0", "MiniHack-MultiRoom-N2-v0"])
def test_the_contract_is_kept(task: str) -> None:
    report = envs.check(task, steps=25)
    assert report.ok, "\n".join(report.lines())
    assert report["rendering"].status is CheckStatus.PASSED


def test_an_import_of_its_packages_changes_nothing_of_what_is_found(room: Environment) -> None:
    assert envs.resolve("MiniHack-Room-5x5-v0").family == "minihack"
    assert not [s.id for s in envs.list_specs("gymnasium") if s.id.startswith(("NetHack", "MiniHack"))]


def test_observations_last(room: Environment) -> None:
    """NLE writes each over the one before."""
    first = room.adapter.reset(seed=1)["agent_0"]
    kept = {key: value.copy() for key, value in first.items()}
    for move in range(8):
        room.adapter.step({"agent_0": move})
        if not room.adapter.get_current_agents():
            break
    assert all((first[key] == kept[key]).all() for key in kept)
    assert "screen_descriptions" not in first and "inv_strs" in first


def test_the_staircase_is_success_and_time_is_none(room: Environment) -> None:
    moves = room.action_meanings("agent_0")
    adapter = room.adapter
    seen = adapter.reset(seed=2)["agent_0"]
    for _ in range(10):
        (there,), here = np.argwhere(seen["chars"] == ord(">")), seen["blstats"][[1, 0]]
        south, east = np.sign(there - here)
        way = {-1: "north", 1: "south", 0: ""}[int(south)] + {-1: "west", 1: "east", 0: ""}[int(east)]
        result = adapter.step({"agent_0": moves.index(way)})
        if adapter.is_episode_done():
            break
        seen = result.observations["agent_0"]
    assert result.terminated["agent_0"] and not result.truncated["agent_0"]
    assert room.success() is True and result.rewards["agent_0"] == 1
    cut = envs.make("MiniHack-Room-5x5-v0", env_kwargs={"max_episode_steps": 3})
    try:
        cut.adapter.reset(seed=2)
        for _ in range(3):
            result = cut.adapter.step({"agent_0": moves.index("north")})
        assert result.truncated["agent_0"] and not result.terminated["agent_0"] and cut.success() is False
    finally:
        cut.close()


def test_pictures_are_tiles_and_text_is_the_terminals(room: Environment) -> None:
    observation = room.adapter.reset(seed=1)["agent_0"]
    picture = room.picture()
    own = room.describer("agent_0").seat_picture("agent_0", observation)
    assert picture is not None and picture.shape[1:] == (79 * 16, 3) and picture.std() > 1
    assert picture[21 * 16 :].max() == 255  # what the game says is written below the map
    assert own is not None and own.shape == (144, 144, 3)
    game: Any = room.env
    x, y = (int(n) for n in game.last_observation[game._blstats_index][:2])
    assert (own[64:80, 64:80] == picture[y * 16 : y * 16 + 16, x * 16 : x * 16 + 16]).all()
    shown = envs.make("MiniHack-Room-5x5-v0", render_mode="ansi")
    try:
        shown.adapter.reset(seed=1)
        assert "welcome to NetHack" in shown.ansi() and "HP:" in shown.ansi()
    finally:
        shown.close()


def test_a_page_says_what_there_is_to_do(room: Environment) -> None:
    page = document(room)
    assert page.title == "Room Random 5x5" and page.summary == "Get to the staircase down in a room."
    assert page.actions["agent_0"][:2] == ((0, "north"), (1, "east"))
    assert room.keys("agent_0").bindings["Up"] == 0
