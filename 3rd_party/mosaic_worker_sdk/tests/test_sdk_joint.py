"""Agents that act at once, as one player: which leave, which are truncated, and which actions none may do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from mosaic_worker.checkpoint import PolicyDescription, PolicyPart
from mosaic_worker.gymnasium_spaces import describe
from mosaic_worker.learning.joint_env import AgentStep, JointEnv
from mosaic_worker.learning.training_command import ConfigError
from mosaic_worker.playing.checkpoint_worker import Choices
from mosaic_worker.playing.joint_policy import JointPolicy

NAMES = ("short", "long")


class Pair:
    """The first agent leaves after a step, without a legal action at its last; the second stays for four."""

    possible_agents = NAMES

    def __init__(self) -> None:
        self.agents: list[str] = []
        self.played = 0

    def observation_space(self, agent: str) -> Any:
        return spaces.Box(0, 9, (1 + NAMES.index(agent),), np.float32)

    def action_space(self, agent: str) -> Any:
        return spaces.Discrete(2 + NAMES.index(agent))

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        self.agents, self.played = [*NAMES], 0
        return self._seen(), self._infos()

    def step(self, actions: dict[str, int]) -> Any:
        acting, self.played = self.agents, self.played + 1
        self.agents = [] if self.played == 4 else ["long"]
        seen = {agent: self._seen()[agent] for agent in acting}
        cut = {agent: agent == "long" and not self.agents for agent in acting}
        ended = {agent: agent == "short" for agent in acting}
        return seen, {agent: float(actions[agent]) for agent in acting}, ended, cut, self._infos()

    def close(self) -> None:
        pass

    def _seen(self) -> dict[str, Any]:
        return {"short": np.full(1, self.played + 1, np.float32), "long": np.full(2, 5, np.float32)}

    def _infos(self) -> dict[str, Any]:
        legal = [1, 0] if self.played == 0 else [0, 0]
        return {"short": {"action_mask": np.array(legal)}, "long": {"action_mask": np.array([0, 1, 1])}}


STEPS: dict[str, Any] = {"short": (), "long": ()}
DO = {"short": 0, "long": 2}


def test_who_has_left_sees_nothing_and_does_nothing() -> None:
    env = JointEnv(Pair(), STEPS)
    seen, info = env.reset(seed=1)
    assert info["acting"] == NAMES and list(seen) == [*NAMES]
    assert info["action_mask"].tolist() == [[True, False, False], [False, True, True]]
    seen, reward, over, cut, info = env.step(DO)
    assert (reward, over, cut, info["acting"]) == (2.0, False, False, ("long",))
    assert info["steps"]["short"] == AgentStep(0.0, True, False) and seen["short"].tolist() == [2]
    assert info["action_mask"].tolist() == [[True] * 3, [False, True, True]]
    seen, _, _, _, info = env.step(DO)
    assert seen["short"].tolist() == [0] and tuple(info["steps"]) == ("long",)
    env.step(DO)
    *_, over, cut, info = env.step(DO)
    assert (over, cut, info["acting"]) == (False, True, ())


def test_a_limit_cuts_an_episode_off_each_time() -> None:
    env = JointEnv(Pair(), STEPS, limit=2)
    for _ in range(2):
        env.reset()
        assert env.step(DO)[2:4] == (False, False)
        *_, over, cut, info = env.step(DO)
        assert (over, cut, info["acting"]) == (False, True, ("long",))


def test_an_agent_that_is_not_known_is_named() -> None:
    with pytest.raises(ConfigError, match="without preprocessing steps: long"):
        JointEnv(Pair(), {"short": ()})


class Counts:
    """Plays the last action it may, and remembers how often it was asked."""

    def __init__(self, description: PolicyDescription) -> None:
        self.description, self.memory = description, description.action_space.n

    def choose(self, observations: Any, masks: Any = None, draws: Any = None, memory: Any = None) -> Choices:
        rows = len(observations)
        legal = np.ones((rows, self.memory), bool) if masks is None else masks
        last = [int(np.flatnonzero(row)[-1]) for row in legal]
        return Choices(np.array(last), None, np.ones(rows, bool), memory + 1)


def test_all_agents_choose_with_their_own_masks_and_memories() -> None:
    parts = [
        PolicyPart((name,), describe(Pair().observation_space(name)), describe(Pair().action_space(name)), {})
        for name in NAMES
    ]
    description = PolicyDescription.joint(parts, worker="w", algorithm="a", env_id="e")
    policy = JointPolicy(description, Counts)
    assert policy.memory == 5
    seen = {"short": np.zeros((2, 1)), "long": np.zeros((2, 2))}
    masks = np.array([[[True, False, False], [True, True, False]], [[True] * 3, [True] * 3]])
    before = np.array([[0, 0, 10, 10, 10], [1, 1, 11, 11, 11]], np.float32)
    choices = policy.choose(seen, masks, memory=before)
    assert choices.actions.tolist() == [{"short": 0, "long": 1}, {"short": 1, "long": 2}]
    assert choices.memory is not None and choices.memory.tolist() == (before + 1).tolist()
    assert choices.ok.all()
