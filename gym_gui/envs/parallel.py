"""PettingZoo's Parallel interface to the agents of a task, for workers that train several agents together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gym_gui.core.errors import UsageError
from gym_gui.core.paradigms import SimultaneousAdapter
from gym_gui.core.types import AgentID
from gym_gui.envs.environment import Environment
from gym_gui.envs.environment_registry import make, resolve


class ParallelEnvironment:
    """PettingZoo environment whose agents act simultaneously; each ``info`` contains the action mask.

    Args:
        environment: The wrapped environment, which is closed with this one.

    Attributes:
        environment: The wrapped environment.
        possible_agents: All agents that can take part.
        agents: Agents that act next.
        teams: Agents by team.

    Raises:
        UsageError: The environment is for one agent, or its agents act one after the other.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 10}  # noqa: RUF012

    def __init__(self, environment: Environment) -> None:
        if not isinstance(environment.adapter, SimultaneousAdapter):
            alone = len(environment.adapter.possible_agents) == 1
            raise UsageError(
                f"{environment.spec.id} is for one agent"
                if alone
                else f"agents of {environment.spec.id} act one after the other",
                fix="Choose an environment whose agents act simultaneously",
            )
        self.environment = environment
        self._adapter = environment.adapter
        self.possible_agents: list[AgentID] = list(self._adapter.possible_agents)
        self.agents: list[AgentID] = []
        self.teams: Mapping[str, tuple[AgentID, ...]] = environment.teams
        self.render_mode = getattr(self._adapter.env, "render_mode", None)

    def observation_space(self, agent: AgentID) -> Any:
        """Return the Gymnasium space of an agent's observations, without the mask."""
        return self._adapter.observation_space(agent)

    def action_space(self, agent: AgentID) -> Any:
        """Return the Gymnasium space of an agent's actions."""
        return self._adapter.action_space(agent)

    def reset(
        self, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[dict[AgentID, Any], dict[AgentID, dict[str, Any]]]:
        """Begin an episode, and return observations and infos by agent."""
        seen = self._adapter.reset(seed=seed, options=options)
        self.agents = list(self._adapter.get_current_agents())
        return seen, {agent: self._info(agent) for agent in seen}

    def step(
        self, actions: Mapping[AgentID, Any]
    ) -> tuple[
        dict[AgentID, Any],
        dict[AgentID, float],
        dict[AgentID, bool],
        dict[AgentID, bool],
        dict[AgentID, dict[str, Any]],
    ]:
        """Play one action of each of :attr:`agents`.

        Return observations, rewards, terminations, truncations and infos.
        """
        result = self._adapter.step(actions)
        self.agents = list(self._adapter.get_current_agents())
        infos = {agent: self._info(agent) for agent in result.terminated}
        return (
            dict(result.observations),
            dict(result.rewards),
            dict(result.terminated),
            dict(result.truncated),
            infos,
        )

    def _info(self, agent: AgentID) -> dict[str, Any]:
        mask = self._adapter.action_mask(agent)
        info = self._adapter.info(agent)
        return dict(info) if mask is None else {**info, "action_mask": mask}

    def render(self) -> Any:
        """Return an RGB picture of shape (H, W, 3), ``uint8``, if made with ``rgb_array``."""
        return self._adapter.render()

    def close(self) -> None:
        """Close the environment."""
        self.environment.close()


def make_parallel(env_id: str, render_mode: str | None = None) -> ParallelEnvironment:
    """Make an environment whose agents act simultaneously, by any name that ``envs.resolve`` accepts.

    Raises:
        UsageError: There is no such environment, or its agents act one after the other.
    """
    spec = resolve(env_id)
    if spec.api != "parallel" and "parallel" in spec.apis:
        spec = resolve(env_id, api="parallel")
    environment = make(spec, render_mode=render_mode)
    try:
        return ParallelEnvironment(environment)
    except UsageError:
        environment.close()
        raise
