"""Environments as PettingZoo's Parallel interface has them, for trainings of several agents."""

from __future__ import annotations

import numpy as np
import pytest

from gym_gui.core.errors import UsageError
from gym_gui.envs.parallel import make_parallel
from mosaic_worker.environments import make_parallel_environment


@pytest.mark.parametrize(
    ("task", "agents", "teams"),
    [
        ("simple_spread_v3", ["agent_0", "agent_1", "agent_2"], None),
        (
            "MosaicMultiGrid-S-2v2-IndAgObs-v1",
            ["green_0", "green_1", "blue_0", "blue_1"],
            {"green": ("green_0", "green_1"), "blue": ("blue_0", "blue_1")},
        ),
    ],
)
def test_agents_are_named_as_slots_are(
    task: str, agents: list[str], teams: dict[str, tuple[str, ...]] | None
) -> None:
    env = make_parallel(task)
    try:
        assert env.possible_agents == agents
        seen, infos = env.reset(seed=3)
        assert list(seen) == list(infos) == env.agents == agents
        assert all(env.observation_space(agent).contains(each) for agent, each in seen.items())
        if teams is not None:
            assert dict(env.teams) == teams
        for _ in range(3):
            actions = {agent: env.action_space(agent).sample() for agent in env.agents}
            seen, rewards, terminated, truncated, infos = env.step(actions)
            assert set(seen) == set(rewards) == set(terminated) == set(truncated) == set(infos) == set(agents)
    finally:
        env.close()


def test_an_episode_is_over_when_nobody_acts_any_more_and_depends_on_its_seed_alone() -> None:
    def play() -> list[float]:
        env = make_parallel("simple_spread_v3")
        env.reset(seed=5)
        rewards: list[float] = []
        while env.agents:
            _, paid, _, truncated, _ = env.step(dict.fromkeys(env.agents, 1))
            rewards += paid.values()
        assert all(truncated.values())
        env.close()
        return rewards

    first = play()
    assert len(first) == 75
    np.testing.assert_array_equal(first, play())


def test_one_of_your_own_is_made_by_its_factory() -> None:
    env = make_parallel_environment("mpe2:simple_spread_v3.parallel_env")
    assert env.possible_agents[0] == "agent_0"
    env.close()
    with pytest.raises(ValueError, match="not a PettingZoo Parallel environment"):
        make_parallel_environment("gymnasium.envs.classic_control:CartPoleEnv")


@pytest.mark.parametrize(
    ("task", "words"),
    [
        ("connect_four_v3", "act one after the other"),
        ("CartPole-v1", "is for one agent"),
        ("simple_sprad_v3", "Did you mean"),
    ],
)
def test_what_has_no_agents_that_act_at_once_is_refused(task: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        make_parallel(task)
    with pytest.raises(ValueError, match=words):
        make_parallel_environment(task)
