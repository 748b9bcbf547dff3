"""Skills/<task>: one option of a manager as an episode."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gymnasium
import numpy as np
import pytest

from gym_gui import envs
from gym_gui.core.errors import UnknownNameError
from gym_gui.core.paradigms import HierarchicalAdapter
from gym_gui.envs import gymnasium_ids

TASK = "Skills/MiniGrid-DoorKey-5x5-v0"


@pytest.fixture
def skills() -> Iterator[Any]:
    environment = envs.make(TASK)
    yield environment.env
    environment.close()


def played(env: Any, seed: int, episodes: int) -> Iterator[tuple[str, int, float, bool, bool]]:
    """Option, moves, return and ends of episodes of random moves in one world after the other."""
    draw = np.random.default_rng(seed)
    _, info = env.reset(seed=seed)
    for _ in range(episodes):
        moves, earned, over = 0, 0.0, False
        while not over:
            _, reward, terminated, truncated, told = env.step(int(draw.integers(7)))
            assert told["option"] == info["option"]
            moves, earned, over = moves + 1, earned + reward, terminated or truncated
        yield info["option"], moves, earned, terminated, truncated
        _, info = env.reset()


def test_an_episode_is_one_option(skills: Any) -> None:
    budgets = {o.name: o.budget for o in skills.environment.adapter.options_of("agent_0")}
    ended = list(played(skills, 1, 60))
    assert {option for option, *_ in ended} > {"explore", "pick up(yellow key)"}
    for option, moves, earned, terminated, truncated in ended:
        assert terminated != truncated
        assert earned == pytest.approx(1 - 0.9 * moves / budgets[option] if terminated else 0.0)
        if truncated:
            assert moves == budgets[option] or earned == 0.0
    assert {terminated for *_, terminated, _ in ended} == {True, False}


def test_the_next_option_begins_where_the_last_one_ended(skills: Any) -> None:
    last, _ = skills.reset(seed=3)
    carried = 0
    for _ in range(200):
        last, _, terminated, truncated, _ = skills.step(int(skills.action_space.sample()))
        if terminated or truncated:
            world_ended = skills.environment.adapter.is_episode_done()
            first, _ = skills.reset()
            if not world_ended:
                assert (first["observation"]["image"] == last["observation"]["image"]).all()
                carried += 1
    assert carried


def test_it_shows_what_a_controller_with_a_manager_is_shown(skills: Any) -> None:
    managed = envs.make("MiniGrid-DoorKey-5x5-v0").with_manager()
    assert isinstance(managed.adapter, HierarchicalAdapter)
    assert skills.observation_space == managed.adapter.observation_space("agent_0")
    assert skills.action_space == managed.adapter.action_space("agent_0")


def test_gymnasium_makes_it_by_name() -> None:
    assert TASK in gymnasium.registry, gymnasium_ids
    assert TASK not in {spec.id for spec in envs.list_specs()}, "they are found, not listed"
    env = gymnasium.make(TASK, render_mode="rgb_array")
    one, _ = env.reset(seed=5)
    other, _ = env.reset(seed=5)
    assert one["option"] == other["option"]
    assert (one["observation"]["image"] == other["observation"]["image"]).all()
    assert np.asarray(env.render()).ndim == 3
    env.close()


@pytest.mark.parametrize("task", ["Skills/CartPole-v1", "Skills/MiniGrid-DoorKey-9x9-v0", "Skills/"])
def test_what_has_no_skills_is_not_known(task: str) -> None:
    with pytest.raises(UnknownNameError):
        envs.resolve(task)


def test_it_has_its_tasks_words() -> None:
    environment = envs.make(TASK)
    assert environment.title == "Skills of DoorKey 5x5"
    assert environment.action_meanings("agent_0")[:3] == ("left", "right", "forward")
    assert environment.keys("agent_0").bindings
    environment.close()


def test_an_episode_that_is_cut_off_is_followed_by_another(skills: Any) -> None:
    """As by a wrapper with a limit of steps, in the middle of an option."""
    _, info = skills.reset(seed=3)
    budgets = {o.name: o.budget for o in skills.environment.adapter.options_of("agent_0")}
    for _ in range(5):
        skills.step(0)
        first, info = skills.reset()
        assert first in skills.observation_space
    moves, over = 0, False
    while not over:
        *_, terminated, truncated, _ = skills.step(0)
        moves, over = moves + 1, terminated or truncated
    assert moves <= budgets[info["option"]]
