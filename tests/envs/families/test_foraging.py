"""Level-based foraging as a family of environments."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("lbforaging")

from gym_gui import envs
from gym_gui.core.errors import UnknownNameError
from gym_gui.core.paradigms.check import CheckStatus
from gym_gui.envs import Environment, document

TASK = "Foraging-8x8-2p-2f-coop-v3"
NONE, NORTH, SOUTH, WEST, EAST, LOAD = range(6)


@pytest.fixture
def field() -> Iterator[Environment]:
    """Two players (levels 1 and 2) with food of level 3 between them, and no other food."""
    made = envs.make(TASK, render_mode="rgb_array")
    made.adapter.reset(seed=1)
    game: Any = made.env
    game.field[:] = 0
    game.field[3, 3] = 3
    for player, (row, column), level in zip(game.players, ((3, 2), (3, 5)), (1, 2), strict=True):
        player.position, player.level = (row, column), level
    made.adapter.step({"agent_0": NONE, "agent_1": WEST})
    yield made
    made.close()


def test_some_are_listed_and_all_are_found() -> None:
    ids = [spec.id for spec in envs.list_specs("lbforaging")]
    assert len(ids) == 72 and {TASK, "Foraging-2s-10x10-3p-3f-v3"} <= set(ids)
    assert envs.resolve("Foraging-19x19-9p-4f-v3").family == "lbforaging"
    for unknown in ("Foraging-20x20-2p-2f-v3", "Foraging-8x9-2p-2f-v3", "Foraging-8x8-2p-2f-v2"):
        with pytest.raises(UnknownNameError):
            envs.resolve(unknown)


@pytest.mark.parametrize("task", [TASK, "Foraging-2s-10x10-3p-3f-v3", "Foraging-5x5-4p-1f-v3"])
def test_the_contract_is_kept(task: str) -> None:
    report = envs.check(task, steps=60)
    assert report.ok, "\n".join(report.lines())
    assert report["rendering"].status is CheckStatus.PASSED and report["endings"].status is CheckStatus.PASSED


def test_food_is_loaded_together_and_that_ends_it(field: Environment) -> None:
    adapter = field.adapter
    alone = adapter.step({"agent_0": LOAD, "agent_1": NONE})
    assert set(alone.rewards.values()) == {0.0} and field.success() is False
    result = adapter.step({"agent_0": LOAD, "agent_1": LOAD})
    assert result.terminated == {"agent_0": True, "agent_1": True} and not any(result.truncated.values())
    assert result.rewards["agent_1"] == 2 * result.rewards["agent_0"] > 0 and field.success() is True


def test_an_episode_does_not_depend_on_the_one_before() -> None:
    """The package itself puts no player where a player stood before the reset."""
    environment = envs.make("Foraging-5x5-2p-1f-v3")
    try:
        first = environment.adapter.reset(seed=3)
        game: Any = environment.env
        for other in itertools.product(range(5), range(5)):
            game.players[0].position = game.players[1].position = other
            again = environment.adapter.reset(seed=3)
            assert all((first[agent] == again[agent]).all() for agent in first)
    finally:
        environment.close()


def test_time_that_is_up_is_a_cut(field: Environment) -> None:
    for _ in range(49):
        result = field.adapter.step({"agent_0": NONE, "agent_1": NONE})
    assert field.adapter.is_episode_done() and field.success() is False
    assert all(result.truncated.values()) and not any(result.terminated.values())


def test_one_player_can_be_trained_alone() -> None:
    alone = envs.make(f"SingleAgent/{TASK}")
    try:
        first = alone.adapter.reset(seed=1)["agent_0"]
        assert alone.action_meanings("agent_0")[LOAD] == "load"
        result = alone.adapter.step({"agent_0": NONE})
        assert (result.observations["agent_0"] == first).all()  # the other stands still
    finally:
        alone.close()


def test_a_field_is_drawn_without_a_display(field: Environment) -> None:
    picture = field.picture()
    assert picture is not None and picture.shape == (409, 409, 3)
    cells = {
        (r, c)
        for r in range(8)
        for c in range(8)
        if (picture[r * 51 + 5 : r * 51 + 46, c * 51 + 5 : c * 51 + 46] != 255).any()
    }
    assert cells == {(3, 2), (3, 3), (3, 4)}


def test_names_keys_and_page(field: Environment) -> None:
    assert field.keys("agent_0").bindings == {"N": 0, "Up": 1, "Down": 2, "Left": 3, "Right": 4, "Space": 5}
    assert field.teams == {"team": ("agent_0", "agent_1")} and field.noop_action("agent_0") == NONE
    page = document(field)
    assert page.title == "Foraging, 8 x 8, 2 players, 2 food, all together"
    assert page.actions["agent_1"][LOAD] == (LOAD, "load") and page.max_steps == 50
