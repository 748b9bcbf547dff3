"""Environments of Gymnasium whose agents are the parts of tuples, as agents that act at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


class TupleParallel:
    """PettingZoo's Parallel interface over an environment that takes and returns tuples, a part per agent.

    Agents are ``agent_0``, ``agent_1``, … in the order of the tuples. One that has ended is not asked again:
    the environment is given an idle action for it.

    Args:
        env: Its spaces are tuples; flags and rewards are tuples, or one for all.
        idle: What is played for agents that have ended.
    """

    def __init__(self, env: Any, idle: Any) -> None:
        self.env, self._idle = env, idle
        self.metadata: Mapping[str, Any] = {**env.metadata, "is_parallelizable": True}
        self.possible_agents = [f"agent_{i}" for i in range(len(env.action_space))]
        self.agents = self.possible_agents[:]

    @property
    def unwrapped(self) -> Any:
        return self.env.unwrapped

    @property
    def render_mode(self) -> str | None:
        return self.env.render_mode

    def observation_space(self, agent: str) -> Any:
        """What one agent sees."""
        return self.env.observation_space[self.possible_agents.index(agent)]

    def action_space(self, agent: str) -> Any:
        """What one agent can do."""
        return self.env.action_space[self.possible_agents.index(agent)]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        """Begin an episode: observations and infos by agent."""
        seen, _ = self.env.reset(seed=seed, options=options)
        self.agents = self.possible_agents[:]
        return dict(zip(self.agents, seen, strict=True)), {agent: {} for agent in self.agents}

    def step(self, actions: Mapping[str, Any]) -> Any:
        """Have all act: observations, rewards, ends, cuts and infos by agent that acted."""
        acted = self.agents
        chosen = tuple(actions.get(agent, self._idle) for agent in self.possible_agents)
        seen, rewards, ended, cut, _ = self.env.step(chosen)
        ends, cuts, earned = (self._by_agent(each, acted) for each in (ended, cut, rewards))
        ends = {agent: bool(end) for agent, end in ends.items()}
        cuts = {agent: bool(end) for agent, end in cuts.items()}
        self.agents = [agent for agent in acted if not (ends[agent] or cuts[agent])]
        paid = {agent: float(reward) for agent, reward in earned.items()}
        return self._by_agent(tuple(seen), acted), paid, ends, cuts, {agent: {} for agent in acted}

    def _by_agent(self, values: Any, agents: list[str]) -> dict[str, Any]:
        parts: Sequence[Any] = values if hasattr(values, "__len__") else [values] * len(self.possible_agents)
        told = dict(zip(self.possible_agents, parts, strict=True))
        return {agent: told[agent] for agent in agents}

    def render(self) -> Any:
        """As the environment draws it."""
        return self.env.render()

    def close(self) -> None:
        """Release the environment."""
        self.env.close()
