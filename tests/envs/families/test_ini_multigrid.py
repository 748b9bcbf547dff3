"""INI's MultiGrid: MiniGrid's rooms for several agents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from gym_gui import envs
from gym_gui.core.types import StepResult
from gym_gui.envs import Environment
from gym_gui.envs.environment_registry import family_of

ROOMS = [spec.id for spec in envs.list_specs("ini_multigrid")]
DOORS = "MultiGrid-RedBlueDoors-6x6-v0"
LEFT, RIGHT, FORWARD, PICKUP, DROP, TOGGLE, DONE = range(7)


def beside(environment: Environment, agent: int, door: Any) -> None:
    """Put an agent before a door, looking at it."""
    env = environment.env
    x, y = door.cur_pos or next(place for place, thing in env.grid.world_objects.items() if thing is door)
    inside = 1 if x < env.width / 2 else -1
    env.agents[agent].state.pos = (x + inside, y)
    env.agents[agent].state.dir = 2 if inside == 1 else 0


def play(environment: Environment, **actions: int) -> StepResult:
    """One step in which those who are not named do nothing."""
    current = environment.adapter.get_current_agents()
    return environment.adapter.step({agent: actions.get(agent, DONE) for agent in current})


def trajectory(environment: Environment, seed: int, steps: int = 30) -> list[Any]:
    """All that is seen in an episode of random moves."""
    draw = np.random.default_rng(seed)
    seen: list[Any] = [environment.adapter.reset(seed=seed)]
    while len(seen) < steps and (agents := environment.adapter.get_current_agents()):
        result = environment.adapter.step({agent: int(draw.integers(7)) for agent in agents})
        seen += [result.observations, result.rewards]
    return [plain(each) for each in seen]


def plain(value: Any) -> Any:
    """As lists, which can be compared."""
    if isinstance(value, Mapping):
        return {key: plain(each) for key, each in value.items()}
    return np.asarray(value).tolist()


@pytest.mark.parametrize("task", ROOMS)
def test_a_seed_is_an_episode(task: str) -> None:
    """The package's own rooms do not follow from the seed."""
    one, other = envs.make(task), envs.make(task)
    first = trajectory(one, 5)
    trajectory(other, 6)
    assert trajectory(other, 5) == first == trajectory(one, 5)


def test_other_seeds_are_other_episodes() -> None:
    environment = envs.make(DOORS)
    assert len({str(trajectory(environment, seed, 1)) for seed in range(20)}) > 10


@pytest.mark.parametrize(("env_kwargs", "agents"), [({}, 2), ({"agents": 1}, 1), ({"agents": 3}, 3)])
def test_it_is_made_for_as_many_as_are_asked_for(env_kwargs: dict[str, Any], agents: int) -> None:
    environment = envs.make(DOORS, env_kwargs=env_kwargs)
    names = tuple(f"agent_{i}" for i in range(agents))
    assert environment.adapter.possible_agents == names
    assert list(environment.teams.values()) == [names]


def test_what_was_observed_stays_what_it_was() -> None:
    environment = envs.make(DOORS)
    before = environment.adapter.reset(seed=1)
    kept = plain(before)
    for _ in range(10):
        play(environment, agent_0=FORWARD, agent_1=RIGHT)
    assert plain(before) == kept
    assert not np.shares_memory(before["agent_0"]["image"], before["agent_1"]["image"])


@pytest.mark.parametrize("seed", range(6))
def test_the_mission_is_the_one_that_counts(seed: int) -> None:
    environment = envs.make("MultiGrid-BlockedUnlockPickup-v0")
    seen = environment.adapter.reset(seed=seed)["agent_0"]
    box = environment.env.obj
    assert seen["mission"] == f"pick up the {box.color.value} {box.type.value}"
    assert seen["mission"] in environment.describer("agent_0").text("agent_0", seen)


def test_opening_the_doors_in_their_order_is_success_for_all() -> None:
    environment = envs.make(DOORS)
    environment.adapter.reset(seed=2)
    assert environment.success() is False
    beside(environment, 0, environment.env.red_door)
    beside(environment, 1, environment.env.blue_door)
    play(environment, agent_0=TOGGLE)
    result = play(environment, agent_1=TOGGLE)
    assert result.rewards == {
        "agent_0": pytest.approx(1 - 0.9 * 2 / 720),
        "agent_1": result.rewards["agent_0"],
    }
    assert all(result.terminated.values()) and environment.adapter.is_episode_done()
    assert environment.success() is True


def test_the_wrong_door_first_ends_it_without_success() -> None:
    environment = envs.make(DOORS)
    environment.adapter.reset(seed=2)
    beside(environment, 1, environment.env.blue_door)
    result = play(environment, agent_1=TOGGLE)
    assert set(result.rewards.values()) == {0.0} and environment.adapter.is_episode_done()
    assert environment.success() is False


def test_others_play_on_where_each_has_to_arrive() -> None:
    """The package asks those that have ended for actions still."""
    kwargs = {"agents": 2, "success_termination_mode": "all"}
    environment = envs.make("MultiGrid-Empty-5x5-v0", env_kwargs=kwargs)
    environment.adapter.reset(seed=1)
    for action in (FORWARD, FORWARD, RIGHT, FORWARD, FORWARD):
        result = play(environment, agent_0=action)
    assert result.rewards["agent_0"] > 0 and environment.adapter.get_current_agents() == ("agent_1",)
    assert environment.success() is False
    for action in (FORWARD, FORWARD, RIGHT, FORWARD, FORWARD):
        play(environment, agent_1=action)
    assert environment.adapter.is_episode_done() and environment.success() is True


@pytest.mark.parametrize("task", ROOMS)
def test_every_room_has_its_aim_and_its_words(task: str) -> None:
    spec = envs.resolve(task)
    assert family_of(spec).summary(spec).endswith(".")
    environment = envs.make(task)
    seen = environment.adapter.reset(seed=1)
    describer = environment.describer("agent_1")
    assert "You are agent_1, green; with you plays agent_0 (red)." in describer.game("agent_1")
    assert ("Nothing is rewarded" in describer.game("agent_1")) is ("Playground" in task)
    assert "You look" in describer.text("agent_1", seen["agent_1"])


@pytest.mark.parametrize(
    ("env_kwargs", "said"),
    [
        ({}, "pays the agent that does it 1 - 0.9 x steps / 100, and ends the game for all"),
        (
            {"joint_reward": True, "success_termination_mode": "all"},
            "pays each of you 1 - 0.9 x steps / 100, and",
        ),
        ({"success_termination_mode": "all"}, "ends it for that one, while others play on"),
        ({"agents": 1, "max_steps": 50}, "pays you 1 - 0.9 x steps / 50, and ends the game"),
        ({"allow_agent_overlap": False}, "No two can stand in one cell"),
    ],
)
def test_rules_are_told_as_it_was_made(env_kwargs: dict[str, Any], said: str) -> None:
    environment = envs.make("MultiGrid-Empty-5x5-v0", env_kwargs=env_kwargs)
    assert said in environment.describer("agent_0").game("agent_0")


def test_the_other_one_is_seen_and_what_it_carries_is_not() -> None:
    from multigrid.core.world_object import Key

    environment = envs.make("MultiGrid-Empty-8x8-v0", render_mode="rgb_array")
    environment.adapter.reset(seed=1)
    env = environment.env
    env.agents[1].state.pos = (2, 1)
    env.agents[0].state.carrying, env.agents[1].state.carrying = Key("purple"), Key("yellow")
    seen = play(environment).observations["agent_0"]
    describer = environment.describer("agent_0")
    text = describer.text("agent_0", seen)
    assert "green agent looking east: 1 ahead" in text and "You carry a purple key" in text
    named = describer.text("agent_0", seen, "visible_teammates")
    assert "agent_1, your team-mate, looking east: 1 ahead" in named and "yellow" not in named
    shown = describer.seat_picture("agent_0", seen)
    env.agents[1].state.carrying = None
    assert shown is not None and np.array_equal(shown, describer.seat_picture("agent_0", seen))
    env.agents[0].state.carrying = None
    without = describer.seat_picture("agent_0", play(environment).observations["agent_0"])
    assert not np.array_equal(shown, without), "what one carries is in one's own picture"
