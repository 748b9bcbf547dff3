"""Small environments in which several agents act at once, with PettingZoo's interface and nothing of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces


class Probe:
    """Agents see noise and which of their actions is right; being right earns 1.

    Args:
        agents: Their names.
        sizes: Numbers that each sees; the first tell the right action.
        actions: How many each has; 0: two real numbers.
        low: Bound of real numbers, whose right value is their middle.
        high: The other.
        masked: An action of each is illegal now and then.
        steps: Of an episode.
        quits: Who ends after three steps.
    """

    metadata = {"render_modes": ["rgb_array"]}  # noqa: RUF012

    def __init__(
        self,
        agents: tuple[str, ...] = ("left_0", "left_1"),
        sizes: tuple[int, ...] = (5, 5),
        actions: tuple[int, ...] = (3, 3),
        low: float = 0.0,
        high: float = 1.0,
        masked: bool = False,
        steps: int = 10,
        quits: str = "",
        reward: float = 1.0,
        render_mode: str | None = None,
    ) -> None:
        self.possible_agents, self.agents = list(agents), list[str]()
        self.max_cycles, self.render_mode = steps, render_mode
        self._sizes = dict(zip(agents, sizes, strict=True))
        self._actions = dict(zip(agents, actions, strict=True))
        self._low, self._high, self._masked, self._quits, self._reward = low, high, masked, quits, reward
        self._rng = np.random.default_rng(0)
        self._right: dict[str, int] = {}
        self._legal: dict[str, Any] = {}
        self.step_count = 0

    def observation_space(self, agent: str) -> Any:
        return spaces.Box(-np.inf, np.inf, (self._sizes[agent],), np.float32)

    def action_space(self, agent: str) -> Any:
        count = self._actions[agent]
        return spaces.Discrete(count) if count else spaces.Box(self._low, self._high, (2,), np.float32)

    def reset(self, seed: int | None = None, options: Any = None) -> tuple[dict[str, Any], dict[str, Any]]:
        if seed is not None:
            self._rng = np.random.default_rng(seed)
        self.agents, self.step_count = list(self.possible_agents), 0
        return self._seen(self.agents)

    def step(self, actions: Mapping[str, Any]) -> tuple[Any, ...]:
        assert set(actions) == set(self.agents)
        self.step_count += 1
        rewards = {agent: self._earned(agent, action) for agent, action in actions.items()}
        acted = self.agents
        over = self.step_count >= self.max_cycles
        gone = [agent for agent in acted if agent == self._quits and self.step_count >= 3]
        seen, infos = self._seen(acted)
        self.agents = [] if over else [agent for agent in acted if agent not in gone]
        terminated = {agent: agent in gone for agent in acted}
        truncated = {agent: over and agent not in gone for agent in acted}
        return seen, rewards, terminated, truncated, infos

    def render(self) -> Any:
        return np.full((64, 64, 3), 25 * self.step_count % 255, np.uint8)

    def close(self) -> None: ...

    def _earned(self, agent: str, action: Any) -> float:
        space = self.action_space(agent)
        assert space.contains(action) or space.contains(np.asarray(action, space.dtype)), (agent, action)
        if self._actions[agent]:
            assert not self._masked or self._legal[agent][int(action)], "an illegal action was played"
            return self._reward * float(int(action) == self._right[agent])
        middle = (self._low + self._high) / 2
        return self._reward * (1.0 - float(np.abs(np.asarray(action) - middle).mean()))

    def _seen(self, agents: list[str]) -> tuple[dict[str, Any], dict[str, Any]]:
        seen: dict[str, Any] = {}
        for agent in agents:
            count = self._actions[agent] or 1
            self._right[agent] = int(self._rng.integers(count))
            row = self._rng.normal(0, 0.1, self._sizes[agent]).astype(np.float32)
            row[self._right[agent] % len(row)] += 1.0
            seen[agent] = row
            legal = self._rng.random(count) > 0.3
            legal[self._right[agent]] = True
            self._legal[agent] = legal
        infos = {a: {"action_mask": self._legal[a].astype(np.int8)} if self._masked else {} for a in agents}
        return seen, infos


def alike(render_mode: str | None = None) -> Probe:
    """Two agents that see and act alike."""
    return Probe(render_mode=render_mode)


def real(render_mode: str | None = None) -> Probe:
    """Two agents with real actions from 0 to 1."""
    return Probe(actions=(0, 0), render_mode=render_mode)


def wide() -> Probe:
    """Two agents with real actions from -2 to 6."""
    return Probe(actions=(0, 0), low=-2.0, high=6.0)


def different() -> Probe:
    """Agents that see and act differently."""
    return Probe(("left_0", "right_0", "right_1"), (5, 7, 4), (3, 4, 2))


def mixed() -> Probe:
    """One counts its actions, the other does not."""
    return Probe(actions=(3, 0))


def masked() -> Probe:
    """Some actions are illegal."""
    return Probe(masked=True)


def leaving() -> Probe:
    """One agent ends before the other."""
    return Probe(quits="left_1")


def three() -> Probe:
    """Three agents that see and act alike."""
    return Probe(("left_0", "left_1", "left_2"), (5, 5, 5), (3, 3, 3))


def alone() -> Probe:
    """One agent."""
    return Probe(("left_0",), (5,), (3,))


def spoilt_real() -> Probe:
    """Rewards that no float holds once they are squared."""
    return Probe(actions=(0, 0), reward=1e38)
