"""Poles balanced side by side: a match in which a policy trained alone can take a seat."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from pettingzoo import ParallelEnv


class Poles(ParallelEnv[Any, Any, Any]):
    """Every agent balances a CartPole of its own and sees it, and how long the match lasts already.

    The observation of ``CartPole-v1`` is under ``own``, which is all that a policy trained there knows.
    """

    metadata = {"name": "poles"}  # noqa: RUF012  # as PettingZoo has it
    render_mode = None

    def __init__(self, agents: Sequence[str] = ("north", "south", "west"), steps: int = 60) -> None:
        self.possible_agents = list(agents)
        self.agents: list[Any] = []
        self._steps, self._now = steps, 0
        self._poles = {agent: gym.make("CartPole-v1") for agent in agents}

    def observation_space(self, agent: Any) -> Any:
        own: Any = self._poles[agent].observation_space
        return spaces.Dict(own=own, time=spaces.Box(0, 10**6, (1,), np.float32))

    def action_space(self, agent: Any) -> Any:
        return spaces.Discrete(2)

    def _see(self, own: Any) -> dict[str, Any]:
        return {"own": own, "time": np.array([self._now], np.float32)}

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        self.agents, self._now = self.possible_agents[:], 0
        seen = {a: self._see(self._poles[a].reset(seed=seed)[0]) for a in self.agents}
        return seen, {agent: {} for agent in self.agents}

    def step(self, actions: dict[str, Any]) -> Any:
        self._now += 1
        acted, cut = self.agents, self._now >= self._steps
        played = {agent: self._poles[agent].step(int(actions[agent])) for agent in acted}
        fallen = {agent: bool(played[agent][2]) for agent in acted}
        self.agents = [] if cut else [agent for agent in acted if not fallen[agent]]
        return (
            {agent: self._see(played[agent][0]) for agent in acted},
            {agent: float(played[agent][1]) for agent in acted},
            fallen,
            {agent: cut and not fallen[agent] for agent in acted},
            {agent: {} for agent in acted},
        )
