from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from gym_gui.core.paradigms import Option
from gym_gui.envs import Environment, make
from mosaic_worker.worker import LoadError

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
            options=environment.option_names(agent),
        )
        for agent, behavior in behaviors.items()
    }


def episode(task: str, seed: int, new_seat: NewSeat) -> tuple[bool, list[str], dict[str, float], list[int]]:
    """Success, options chosen, returns, and all primitive actions."""
    environment = make(task).with_manager()
    adapter, seats = environment.adapter, seats_of(environment, new_seat)
    observations = adapter.reset(seed=seed)
    chosen: list[str] = []
    names = environment.action_meanings("agent_0/goal")
    moves: list[int] = []
    returns = dict.fromkeys(adapter.possible_agents, 0.0)
    while not adapter.is_episode_done():
        (agent,) = adapter.get_current_agents()
        action = int(
            seats[agent].act(observations[agent], 0, len(moves), seed, mask=adapter.action_mask(agent))
        )
        if agent.endswith("/goal"):
            chosen.append(names[action])
        else:
            moves.append(action)
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
        "MiniGrid-DoorKey-8x8-v0",
        "MiniGrid-MultiRoom-N4-S5-v1",
        "MiniGrid-KeyCorridorS3R2-v0",
        "BabyAI-GoToLocal-v0",
    ],
)
@pytest.mark.parametrize("seed", [0, 1, 73])
def test_the_task_is_solved(task: str, seed: int, new_seat: NewSeat):
    solved, _, returns, _ = episode(task, seed, new_seat)
    assert solved
    assert returns["agent_0"] == pytest.approx(returns["agent_0/goal"])
    assert returns["agent_0"] > 0.5


def test_a_key_is_taken_before_a_door_is_opened_before_the_goal(new_seat: NewSeat):
    order = [name for name in episode("MiniGrid-DoorKey-6x6-v0", 3, new_seat)[1] if name != "explore"]
    assert order == ["pick up(yellow key)", "open(yellow door)", "go to(green goal)"]


def test_the_same_seed_plays_the_same_game(new_seat: NewSeat):
    task = "MiniGrid-FourRooms-v0"
    assert episode(task, 1, new_seat) == episode(task, 1, new_seat) != episode(task, 2, new_seat)


def test_the_manager_takes_the_most_wanted_option_that_can_start(new_seat: NewSeat):
    environment = make("MiniGrid-DoorKey-6x6-v0").with_manager()
    seen = environment.adapter.reset(seed=0)["agent_0/goal"]
    manager, names = (
        seats_of(environment, new_seat)["agent_0/goal"],
        environment.action_meanings("agent_0/goal"),
    )
    goal, door, key = "go to(green goal)", "open(yellow door)", "pick up(yellow key)"
    for can, choice in (
        (["explore", "drop", "go to(yellow key)"], "explore"),
        (["explore", key], key),
        (["explore", key, door], door),
        (["explore", door, goal], goal),
        (names, goal),
    ):
        mask = np.array([name in can for name in names])
        assert names[manager.act(seen, 0, 0, 7, mask=mask)] == choice
    assert names[manager.act(seen, 0, 0, 7)] == goal


def test_what_the_mission_names_comes_first(new_seat: NewSeat):
    environment = make("BabyAI-PickupLoc-v0").with_manager()
    seen = {**environment.adapter.reset(seed=0)["agent_0/goal"], "mission": "pick up the red box"}
    manager, names = (
        seats_of(environment, new_seat)["agent_0/goal"],
        environment.action_meanings("agent_0/goal"),
    )
    for can, choice in (
        (["explore", "pick up(red box)", "pick up(blue key)", "open(red door)"], "pick up(red box)"),
        (["explore", "drop", "go to(red box)", "open(red door)"], "drop"),
        (["explore", "drop", "go to(red ball)", "open(red door)"], "open(red door)"),
    ):
        mask = np.array([name in can for name in names])
        assert names[manager.act(seen, 0, 0, 7, mask=mask)] == choice


def test_an_option_without_a_skill_is_refused(new_seat: NewSeat):
    environment = make("MiniGrid-DoorKey-6x6-v0").with_manager(
        [Option("explore"), Option("sing", ("a song",))]
    )
    with pytest.raises(LoadError, match=r"no skill for the option 'sing\(a song\)'"):
        seats_of(environment, new_seat)


@pytest.mark.parametrize("behavior", ["minigrid_manager", "minigrid_skills"])
def test_a_slot_without_a_manager_is_refused(behavior: str, new_seat: NewSeat):
    env = gym.make("MiniGrid-Empty-5x5-v0")
    with pytest.raises(LoadError, match="manager"):
        new_seat(env.observation_space, env.action_space, behavior)
