"""Small environments that do what a test tells them; settings are plain data."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv, ParallelEnv


class Corridor(gym.Env[Any, Any]):
    """Walks ``length`` steps; the reward of step k is ``k + action / 10``.

    Args:
        length: Steps until it terminates.
        fault: ``nan``, ``outside``, ``infinite`` or ``short`` (a wrong observation), ``reward``
            (NaN), ``step``, ``reset`` (raises); ``scores`` never ends badly by itself.
        at: Step at which the fault shows.
        seed: The fault shows only in the episode with this seed; in all by default.
        masked: Action ``step % 3`` is illegal.
        box: Actions are a ``Box`` of two numbers in [-1, 1].
        pause_s: Time that a step takes.
    """

    def __init__(
        self,
        length: int = 5,
        fault: str = "",
        at: int = 2,
        seed: int | None = None,
        masked: bool = False,
        box: bool = False,
        pause_s: float = 0.0,
    ) -> None:
        self._pause_s = pause_s
        self.observation_space = spaces.Box(0, 1000, (3,), np.float32)
        self.action_space = spaces.Box(-1, 1, (2,), np.float32) if box else spaces.Discrete(3)
        self._length, self._fault, self._at, self._only, self._masked = length, fault, at, seed, masked
        self._now = 0
        self._seed = 0

    def _broken(self, fault: str) -> bool:
        return self._fault == fault and self._now == self._at and self._only in (None, self._seed)

    def _see(self) -> Any:
        value = np.array([self._now, self._seed % 997, 0], np.float32)
        if self._broken("nan"):
            value[1] = np.nan
        elif self._broken("infinite"):
            value[1] = np.inf
        elif self._broken("outside"):
            return {"not": "an array"}
        elif self._broken("short"):
            return value[:2]
        return value

    def _info(self) -> dict[str, Any]:
        if not self._masked:
            return {}
        mask = np.ones(3, np.int8)
        mask[self._now % 3] = 0
        return {"action_mask": mask}

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        self._now, self._seed = 0, seed or 0
        if self._fault == "reset" and self._only in (None, self._seed):
            raise RuntimeError("the door is locked")
        return self._see(), self._info()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        if self._broken("step"):
            raise RuntimeError("the floor gave way")
        reward = float(self._now + np.sum(action) / 10)
        if self._broken("reward"):
            reward = float("nan")
        self._now += 1
        time.sleep(self._pause_s)
        return self._see(), reward, self._now >= self._length, False, self._info()


class Words(spaces.Space[Any]):
    """A space that Gymnasium does not know."""

    def sample(self, mask: Any = None, probability: Any = None) -> Any:
        return "hello"

    def contains(self, x: Any) -> bool:
        return isinstance(x, str)


class Speech(Corridor):
    """A corridor in which one says something."""

    def __init__(self) -> None:
        super().__init__()
        self.action_space = Words()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        return super().step(len(action))


class Turns(AECEnv[Any, Any, Any]):
    """Plays turns ``[who, {agent: reward}, {agent: "t" or "c"}]``; ``t`` terminates, ``c`` cuts off.

    The rewards and endings of a turn come with its move. Observation: number of the turn.
    """

    metadata = {"name": "turns"}  # noqa: RUF012  # as PettingZoo has it
    render_mode = None

    def __init__(self, agents: Sequence[str], turns: Sequence[Sequence[Any]]) -> None:
        self.possible_agents = list(agents)
        self._turns = [(who, dict(rewards), dict(ends)) for who, rewards, ends in turns]

    def observation_space(self, agent: Any) -> Any:
        return spaces.Discrete(100)

    def action_space(self, agent: Any) -> Any:
        return spaces.Discrete(2)

    def observe(self, agent: Any) -> Any:
        return self._turn

    def reset(self, seed: int | None = None, options: Any = None) -> None:
        self._turn = 0
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: Any = {agent: {} for agent in self.agents}
        self.agent_selection = self._turns[0][0]
        self._skip_agent_selection = None

    def step(self, action: Any) -> None:
        who = self.agent_selection
        if self.terminations[who] or self.truncations[who]:
            self._was_dead_step(action)
            return
        self._cumulative_rewards[who] = 0.0
        _, rewards, ends = self._turns[self._turn]
        self._turn += 1
        for agent, how in ends.items():
            (self.terminations if how == "t" else self.truncations)[agent] = True
        self._clear_rewards()
        self.rewards.update(rewards)
        self._accumulate_rewards()
        if self._turn < len(self._turns):
            self.agent_selection = self._turns[self._turn][0]
        self._deads_step_first()


class Crowd(ParallelEnv[Any, Any, Any]):
    """Agents come and go: ``script[k]`` is what step k does.

    Each entry may have ``rewards`` by agent, ``terminated`` and ``truncated`` (agents that end
    with it) and ``join`` (agents that are there from then on). Observation: number of the step.
    """

    metadata = {"name": "crowd"}  # noqa: RUF012  # as PettingZoo has it
    render_mode = None

    def __init__(
        self, agents: Sequence[str], script: Sequence[Mapping[str, Any]], start: Sequence[str] | None = None
    ) -> None:
        self.possible_agents = list(agents)
        self._start = list(agents if start is None else start)
        self._script = script
        self.moves: list[dict[str, Any]] = []

    def observation_space(self, agent: Any) -> Any:
        return spaces.Box(0, 100, (1,), np.float64)

    def action_space(self, agent: Any) -> Any:
        return spaces.Discrete(4)

    def _see(self, agents: Sequence[str]) -> dict[str, Any]:
        return {agent: np.array([self._now], np.float64) for agent in agents}

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        self._now, self.agents, self.moves = 0, self._start[:], []
        return self._see(self.agents), {agent: {} for agent in self.agents}

    def step(self, actions: dict[str, Any]) -> Any:
        assert set(actions) == set(self.agents)
        self.moves.append(dict(actions))
        entry = self._script[self._now]
        self._now += 1
        acted = self.agents
        ended = {*entry.get("terminated", ()), *entry.get("truncated", ())}
        self.agents = [a for a in acted if a not in ended] + list(entry.get("join", ()))
        named = [*acted, *entry.get("join", ())]
        rewards = {agent: float(entry.get("rewards", {}).get(agent, 0)) for agent in named}
        terminated = {agent: agent in entry.get("terminated", ()) for agent in named}
        truncated = {agent: agent in entry.get("truncated", ()) for agent in named}
        return self._see(named), rewards, terminated, truncated, {agent: {} for agent in named}


def together(**kwargs: Any) -> Turns:
    """:class:`Turns` whose agents might as well act at once."""
    env = Turns(**kwargs)
    env.metadata = {**env.metadata, "is_parallelizable": True}
    return env


class Coins(gym.Env[Any, Any]):
    """Calls what lies on top of ten coins, one after the other; each right call earns 1.

    An observation is the coin's number, unlike that of any other seed's, and what lies on top.
    """

    def __init__(self) -> None:
        self.observation_space = spaces.Box(0, 2**31, (2,), np.float64)
        self.action_space = spaces.Discrete(2)
        self._left, self._coin = 0, np.zeros(2)

    def _toss(self) -> Any:
        self._coin = np.array([self.np_random.integers(2**30), self.np_random.integers(2)], np.float64)
        return self._coin

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self._left = 10
        return self._toss(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        right = float(action == self._coin[1])
        self._left -= 1
        return self._toss(), right, self._left == 0, False, {}


class Levers(ParallelEnv[Any, Any, Any]):
    """Everybody pulls one of four levers, once; who all pull the same share what the seed is worth."""

    metadata = {"name": "levers"}  # noqa: RUF012  # as PettingZoo has it
    render_mode = None

    def __init__(self, agents: int = 2) -> None:
        self.possible_agents = [f"agent_{i}" for i in range(agents)]

    def observation_space(self, agent: Any) -> Any:
        return spaces.Box(0, 2, (1,), np.float64)

    def action_space(self, agent: Any) -> Any:
        return spaces.Discrete(4)

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        self.agents = self.possible_agents[:]
        self._worth = np.random.default_rng(seed).uniform(0.5, 1.5)
        return {a: np.array([self._worth]) for a in self.agents}, {agent: {} for agent in self.agents}

    def step(self, actions: dict[str, Any]) -> Any:
        acted, self.agents = self.agents, []
        share = self._worth / len(acted) if len(set(actions.values())) == 1 else 0.0
        seen = {agent: np.array([self._worth]) for agent in acted}
        over, cut = dict.fromkeys(acted, True), dict.fromkeys(acted, False)
        return seen, dict.fromkeys(acted, share), over, cut, {agent: {} for agent in acted}
