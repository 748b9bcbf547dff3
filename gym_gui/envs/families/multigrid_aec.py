"""MOSAIC MultiGrid and INI MultiGrid with PettingZoo's interfaces."""

# PettingZoo brings no stubs.
# pyright: reportMissingTypeStubs=false

from __future__ import annotations

from typing import Any

from pettingzoo import ParallelEnv
from pettingzoo.utils import parallel_to_aec


class MultiGridParallel(ParallelEnv[int, Any, Any]):
    """PettingZoo Parallel environment around a MultiGrid environment.

    The packages' own ``pettingzoo.PettingZooWrapper`` drops the infos of agents whose episode has ended,
    which makes ``AECEnv.last()`` fail.
    """

    def __init__(self, env: Any) -> None:
        self.env = env
        self.metadata = {**env.metadata, "name": type(env.unwrapped).__name__, "is_parallelizable": True}
        self.render_mode: str | None = env.render_mode
        self.possible_agents = [agent.index for agent in env.unwrapped.agents]
        self.agents = self.possible_agents[:]
        self._spaces = (env.observation_space, env.action_space)

    @property
    def unwrapped(self) -> Any:
        return self.env.unwrapped

    def observation_space(self, agent: int) -> Any:
        return self._spaces[0][agent]

    def action_space(self, agent: int) -> Any:
        return self._spaces[1][agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        observations, infos = self.env.reset(seed=seed, options=options)
        self.agents = self.possible_agents[:]
        return observations, {a: infos.get(a, {}) for a in self.agents}

    def step(self, actions: dict[int, Any]) -> Any:
        acted = self.agents
        observations, rewards, terminated, truncated, infos = self.env.step(actions)
        ends = {a: bool(terminated[a]) for a in acted}
        cut = {a: bool(truncated[a]) for a in acted}
        self.agents = [a for a in acted if not (ends[a] or cut[a])]
        earned = {a: float(rewards[a]) for a in acted}
        return {a: observations[a] for a in acted}, earned, ends, cut, {a: infos.get(a, {}) for a in acted}

    def render(self) -> Any:
        return self.env.render()

    def close(self) -> None:
        self.env.close()


def as_aec(env: MultiGridParallel) -> Any:
    """Return ``env`` as a turn-based AEC environment; it plays a step after each agent has acted once."""
    return parallel_to_aec(env)
