"""Wraps Gymnasium environments that use tuples for several agents as PettingZoo Parallel environments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


class TupleParallel:
    """PettingZoo Parallel environment around an environment that uses tuples with one item per agent.

    Agents are ``agent_0``, ``agent_1``, … in the order of the tuples. An agent whose episode has ended need
    not act: the environment gets an idle action for it.

    Args:
        env: Environment whose spaces are tuples; flags and rewards are tuples, or one value for all.
        idle: Action for agents whose episode has ended.
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
        """Return an agent's observation space."""
        return self.env.observation_space[self.possible_agents.index(agent)]

    def action_space(self, agent: str) -> Any:
        """Return an agent's action space."""
        return self.env.action_space[self.possible_agents.index(agent)]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        """Begin an episode; return observations and infos by agent."""
        seen, _ = self.env.reset(seed=seed, options=options)
        self.agents = self.possible_agents[:]
        return dict(zip(self.agents, seen, strict=True)), {agent: {} for agent in self.agents}

    def step(self, actions: Mapping[str, Any]) -> Any:
        """Play a step; return observations, rewards, terminations, truncations and infos by agent."""
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
        """Return the environment's picture."""
        return self.env.render()

    def close(self) -> None:
        """Close the wrapped environment."""
        self.env.close()
