"""SingleAgent/<task>: one agent of several as an environment of its own."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest

from gym_gui import envs
from gym_gui.core.errors import MissingDependencyError, UnknownNameError
from gym_gui.envs import gymnasium_ids

SOLO, MATCH = "MosaicMultiGrid-S-G-1v0-v1", "MosaicMultiGrid-S-3v3-IndAgObs-v1"

pytest.importorskip("mosaic_multigrid")


@pytest.mark.parametrize("task", [SOLO, MATCH])
def test_it_is_what_the_first_slot_sees_and_does(task: str) -> None:
    alone, others = envs.make(f"SingleAgent/{task}"), envs.make(MATCH)
    assert alone.adapter.possible_agents == ("agent_0",)
    assert alone.adapter.observation_space("agent_0") == others.adapter.observation_space("green_0")
    assert alone.adapter.action_space("agent_0") == others.adapter.action_space("green_0")
    assert alone.action_meanings("agent_0") == others.action_meanings("green_0")
    assert alone.keys("agent_0").bindings
    alone.close()
    others.close()


def test_the_others_do_nothing() -> None:
    alone, match = gymnasium.make(f"SingleAgent/{MATCH}"), envs.make(MATCH)
    noop = match.action_meanings("green_0").index("noop")
    seen, _ = alone.reset(seed=4)
    expected = match.adapter.reset(seed=4)["green_0"]
    draw = np.random.default_rng(4)
    for _ in range(40):
        assert (seen["image"] == expected["image"]).all()
        assert seen["direction"] == expected["direction"]
        action = int(draw.integers(8))
        seen, reward, terminated, truncated, _ = alone.step(action)
        result = match.adapter.step({**dict.fromkeys(match.adapter.possible_agents, noop), "green_0": action})
        expected = result.observations["green_0"]
        assert (reward, terminated, truncated) == (result.rewards["green_0"], False, False)
    alone.close()
    match.close()


def test_gymnasium_makes_it_by_name_and_draws_the_worlds_that_follow() -> None:
    task = f"SingleAgent/{SOLO}"
    assert task in gymnasium.registry, gymnasium_ids
    assert task not in {spec.id for spec in envs.list_specs()}, "they are found, not listed"
    env = gymnasium.make(task, render_mode="rgb_array")
    runs: list[list[bytes]] = []
    for _ in range(2):
        worlds = [env.reset(seed=5)[0]["image"].tobytes()]
        pictures = [np.asarray(env.render()).tobytes()]
        for _ in range(3):
            worlds.append(env.reset()[0]["image"].tobytes())
            pictures.append(np.asarray(env.render()).tobytes())
        assert len(set(pictures)) == 4
        runs.append(worlds)
    assert runs[0] == runs[1]
    env.close()


def test_it_succeeds_as_the_task_does() -> None:
    alone = envs.make(f"SingleAgent/{SOLO}")
    alone.adapter.reset(seed=1)
    assert alone.title == "One agent of Soccer 1v0"
    assert alone.success() is False
    alone.env.environment.env.team_scores[1] = 2
    assert alone.success() is True
    alone.close()


def test_ini_multigrid_has_it_too() -> None:
    pytest.importorskip("multigrid")
    env = envs.make("SingleAgent/MultiGrid-Empty-8x8-v0")
    seen = env.adapter.reset(seed=1)
    assert env.adapter.possible_agents == ("agent_0",)
    assert seen["agent_0"] in env.adapter.observation_space("agent_0")
    env.close()


@pytest.mark.parametrize("task", ["SingleAgent/CartPole-v1", f"SingleAgent/{SOLO}0", "SingleAgent/"])
def test_what_has_no_agents_that_move_at_once_is_not_known(task: str) -> None:
    with pytest.raises((UnknownNameError, MissingDependencyError)):
        envs.resolve(task)
