"""Small environments whose agents act at once, each able to show one mistake of what trains them."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces


class Roles:
    """All agents see the same cue, and each is paid for the action of its own number.

    Who shares a network and is not told which agent it is cannot earn more than its share. Agents have
    the episode's five steps.
    """

    metadata = {"render_modes": ["rgb_array"]}  # noqa: RUF012
    names: tuple[str, ...] = ("agent_0", "agent_1", "agent_2")
    length = 5

    def __init__(self, render_mode: str | None = None) -> None:
        self.render_mode = render_mode
        self.possible_agents = list(self.names)
        self.agents: list[str] = []

    def observation_space(self, agent: str) -> Any:
        return spaces.Box(0, 1, (3,), np.float32)

    def action_space(self, agent: str) -> Any:
        return spaces.Discrete(3)

    def reset(self, seed: int | None = None, options: Any = None) -> tuple[dict[str, Any], dict[str, Any]]:
        self._rng = np.random.default_rng(seed)
        self.agents, self._step = list(self.names), 0
        return self.seen(), {agent: {} for agent in self.agents}

    def step(self, actions: dict[str, Any]) -> tuple[Any, ...]:
        acted = self.agents
        rewards = {agent: float(int(actions[agent]) == self.names.index(agent)) for agent in acted}
        self._step += 1
        over = self._step >= self.length
        truncated = dict.fromkeys(acted, over)
        self.agents = [] if over else acted
        return self.seen(acted), rewards, dict.fromkeys(acted, False), truncated, {a: {} for a in acted}

    def render(self) -> Any:
        return np.full((32, 32, 3), 80 * self._cue, np.uint8)

    def close(self) -> None:
        pass

    def seen(self, agents: list[str] | None = None) -> dict[str, Any]:
        self._cue = int(self._rng.integers(3))
        return {agent: np.eye(3, dtype=np.float32)[self._cue] for agent in agents or self.agents}


class Ending(Roles):
    """Agents leave one after the other, the first after its first step; each may not take action 0.

    ``teams`` says who plays together. An agent is paid 1 a step, and the last one's end is the episode's.
    """

    teams = {"early": ("agent_0",), "late": ("agent_1", "agent_2")}  # noqa: RUF012

    def reset(self, seed: int | None = None, options: Any = None) -> tuple[dict[str, Any], dict[str, Any]]:
        seen, _ = super().reset(seed, options)
        return seen, self._infos()

    def step(self, actions: dict[str, Any]) -> tuple[Any, ...]:
        acted = self.agents
        assert sorted(actions) == sorted(acted)
        assert all(int(actions[agent]) != 0 for agent in acted), "an illegal action was played"
        self._step += 1
        gone = [agent for agent in acted if self._step >= 1 + self.names.index(agent)]
        self.agents = [agent for agent in acted if agent not in gone]
        ends = {agent: agent in gone for agent in acted}
        return self.seen(acted), dict.fromkeys(acted, 1.0), ends, dict.fromkeys(acted, False), self._infos()

    def _infos(self) -> dict[str, Any]:
        return {agent: {"action_mask": np.array([0, 1, 1], np.int8)} for agent in self.names}


class Kinds(Roles):
    """Two agents that see and act alike, and one that does otherwise: with real numbers, on a table."""

    names = ("speaker_0", "listener_0", "listener_1")

    def observation_space(self, agent: str) -> Any:
        return spaces.Box(0, 1, (2, 2) if agent == "speaker_0" else (3,), np.float32)

    def action_space(self, agent: str) -> Any:
        return spaces.Box(-1, 1, (2,), np.float32) if agent == "speaker_0" else spaces.Discrete(3)

    def step(self, actions: dict[str, Any]) -> tuple[Any, ...]:
        assert np.abs(actions["speaker_0"]).max() <= 1.0
        return super().step({agent: 0 if agent == "speaker_0" else act for agent, act in actions.items()})

    def seen(self, agents: list[str] | None = None) -> dict[str, Any]:
        seen = super().seen(agents)
        return {a: np.zeros((2, 2), np.float32) if a == "speaker_0" else each for a, each in seen.items()}


class Pictures(Roles):
    """Each agent sees an image."""

    def observation_space(self, agent: str) -> Any:
        return spaces.Box(0, 255, (8, 8, 3), np.uint8)

    def seen(self, agents: list[str] | None = None) -> dict[str, Any]:
        return {agent: np.full((8, 8, 3), 9, np.uint8) for agent in super().seen(agents)}


class Raising(Roles):
    """Raises in its fourth step."""

    def step(self, actions: dict[str, Any]) -> tuple[Any, ...]:
        if self._step == 3:
            raise RuntimeError("the field is under water")
        return super().step(actions)


class Unpayable(Roles):
    """Pays what is no number."""

    def step(self, actions: dict[str, Any]) -> tuple[Any, ...]:
        seen, rewards, *rest = super().step(actions)
        return seen, dict.fromkeys(rewards, float("nan")), *rest
