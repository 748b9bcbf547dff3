"""Crafter as a family of environments."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from gym_gui import envs
from gym_gui.core.paradigms.check import CheckStatus
from gym_gui.envs import Environment, document


@pytest.fixture(scope="module")
def environment() -> Iterator[Environment]:
    made = envs.make("CrafterReward-v1", render_mode="rgb_array", env_kwargs={"length": 40})
    yield made
    made.close()


def test_both_are_listed_and_made() -> None:
    assert [spec.id for spec in envs.list_specs("crafter")] == ["CrafterReward-v1", "CrafterNoReward-v1"]
    assert envs.resolve("CrafterReward-v1", env_name="gymnasium").family == "crafter"


def test_the_contract_is_kept() -> None:
    report = envs.check("CrafterReward-v1", steps=30)
    assert report.ok, "\n".join(report.lines())
    assert report["rendering"].status is CheckStatus.PASSED


def test_creatures_go_in_an_order_of_their_own(environment: Environment) -> None:
    """Whichever way round a set gives them: which one is removed follows from the seed."""
    removed: list[list[tuple[int, int]]] = []
    for backwards in (False, True):
        environment.adapter.reset(seed=5)
        game = environment.env.game
        chunk, there = max(game._world.chunks.items(), key=lambda item: len(item[1]))
        creatures = sorted(there, key=lambda each: tuple(each.pos), reverse=backwards)
        assert len(creatures) > 2
        # None is wanted in this chunk, so one of them goes.
        game._balance_object(chunk, creatures, object, "grass", 0, 0, 0.0, 1.0, None, lambda n, space: (0, 0))
        removed.append([tuple(each.pos) for each in creatures if each.removed])
    assert removed[0] == removed[1] and len(removed[0]) == 1


def test_an_episode_ends_by_its_length_or_by_death(environment: Environment) -> None:
    adapter = environment.adapter
    adapter.reset(seed=1)
    for _ in range(40):
        result = adapter.step({"agent_0": 0})
    assert adapter.is_episode_done() and environment.env.game._step == 40
    assert not result.terminated["agent_0"] and result.truncated["agent_0"]
    adapter.reset(seed=1)
    environment.env.game._player.health = 0
    result = adapter.step({"agent_0": 0})
    assert result.terminated["agent_0"] and not result.truncated["agent_0"]


def test_rewards_are_as_the_id_says() -> None:
    for task, worth in (("CrafterReward-v1", 1.0), ("CrafterNoReward-v1", 0.0)):
        environment = envs.make(task)
        try:
            environment.adapter.reset(seed=2)
            player = environment.env.game._player
            player.inventory["sapling"] = 1
            assert environment.env.game._world[player.pos + np.array(player.facing)] == ("grass", None)
            place = environment.action_meanings("agent_0").index("place_plant")
            assert environment.adapter.step({"agent_0": place}).rewards["agent_0"] == worth
        finally:
            environment.close()


def test_a_look_is_larger_and_changes_nothing_at_night(environment: Environment) -> None:
    environment.adapter.reset(seed=1)
    world = environment.env.game._world
    world.daylight = 0.1
    before = world.random.get_state()[1].copy()
    picture = environment.picture()
    assert picture is not None and picture.shape == (432, 432, 3) and picture.std() > 5
    assert (world.random.get_state()[1] == before).all()


def test_a_person_has_keys_for_everything(environment: Environment) -> None:
    words = environment.action_meanings("agent_0")
    for player in (0, 1):
        bindings = environment.keys("agent_0", player).bindings
        assert sorted(bindings.values()) == list(range(len(words)))
    assert environment.keys("agent_0").bindings["Left"] == words.index("move_left")
    page = document(environment)
    assert page.title == "Crafter" and page.actions["agent_0"][5] == (5, "do")
