from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from gym_gui.envs import Environment, make
from gym_gui.envs.minigrid_options import OPTIONS
from mosaic_worker.worker import LoadError
from operators_worker.minigrid_two_levels import WANTED

NewSeat = Callable[..., Any]


def seats_of(environment: Environment, new_seat: NewSeat) -> dict[str, Any]:
    adapter = environment.adapter
    behaviors = {"agent_0": "minigrid_skills", "agent_0/goal": "minigrid_manager"}
    return {
        agent: new_seat(
            adapter.observation_space(agent),
            adapter.action_space(agent),
            behavior,
            action_meanings=environment.action_meanings(agent),
        )
        for agent, behavior in behaviors.items()
    }


def episode(task: str, seed: int, new_seat: NewSeat) -> tuple[bool, list[int], dict[str, float], list[int]]:
    """Success, options chosen, returns, and all primitive actions."""
    environment = make(task).with_manager()
    adapter, seats = environment.adapter, seats_of(environment, new_seat)
    observations = adapter.reset(seed=seed)
    chosen: list[int] = []
    moves: list[int] = []
    returns = dict.fromkeys(adapter.possible_agents, 0.0)
    while not adapter.is_episode_done():
        (agent,) = adapter.get_current_agents()
        action = int(
            seats[agent].act(observations[agent], 0, len(moves), seed, mask=adapter.action_mask(agent))
        )
        (chosen if agent.endswith("/goal") else moves).append(action)
        result = adapter.step({agent: action})
        observations = result.observations
        for name, reward in result.rewards.items():
            returns[name] += reward
    return bool(environment.success()), chosen, returns, moves


@pytest.mark.parametrize(
    "task",
    [
        "MiniGrid-Empty-8x8-v0",
        "MiniGrid-Empty-Random-6x6-v0",
        "MiniGrid-DoorKey-5x5-v0",
        "MiniGrid-DoorKey-6x6-v0",
    ],
)
@pytest.mark.parametrize("seed", range(5))
def test_the_task_is_solved(task: str, seed: int, new_seat: NewSeat):
    solved, _, returns, _ = episode(task, seed, new_seat)
    assert solved
    assert returns["agent_0"] == pytest.approx(returns["agent_0/goal"])
    assert returns["agent_0"] > 0.5


def test_a_key_is_taken_before_a_door_is_opened_before_the_goal(new_seat: NewSeat):
    names = [OPTIONS[i].name for i in episode("MiniGrid-DoorKey-6x6-v0", 3, new_seat)[1]]
    order = [name for name in names if name != "explore"]
    assert order == sorted(order, key=["take key", "open door", "reach goal"].index)
    assert set(order) == {"take key", "open door", "reach goal"}


def test_the_same_seed_plays_the_same_game(new_seat: NewSeat):
    task = "MiniGrid-FourRooms-v0"
    assert episode(task, 1, new_seat) == episode(task, 1, new_seat) != episode(task, 2, new_seat)


def test_the_manager_takes_the_most_wanted_option_that_can_start(new_seat: NewSeat):
    environment = make("MiniGrid-DoorKey-6x6-v0").with_manager()
    seen = environment.adapter.reset(seed=0)["agent_0/goal"]
    manager = seats_of(environment, new_seat)["agent_0/goal"]
    assert tuple(option.name for option in reversed(OPTIONS)) == WANTED
    for mask, option in (((1, 0, 0, 0), 0), ((1, 1, 0, 0), 1), ((1, 1, 1, 0), 2), ((1, 0, 1, 1), 3)):
        assert manager.act(seen, 0, 0, 7, mask=np.array(mask, bool)) == option
    assert manager.act(seen, 0, 0, 7) == 3


@pytest.mark.parametrize("behavior", ["minigrid_manager", "minigrid_skills"])
def test_a_slot_without_a_manager_is_refused(behavior: str, new_seat: NewSeat):
    env = gym.make("MiniGrid-Empty-5x5-v0")
    with pytest.raises(LoadError, match="manager"):
        new_seat(env.observation_space, env.action_space, behavior)
