"""Presents all agents of a multi-agent environment as a single agent, with dicts of observations and
actions.
"""

# Values returned by environments are untyped.

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

from typing import Any, Dict, Mapping, NamedTuple, Optional, Sequence, Tuple

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from mosaic_worker import environments
from mosaic_worker.failures import one_line, with_place
from mosaic_worker.learning.training_command import ConfigError
from mosaic_worker.preprocessing import Pipeline, PreprocessingError

Steps = Sequence[Mapping[str, Any]]


class AgentStep(NamedTuple):
    """Reward and end of one step for one agent that acted in the step.

    Attributes:
        reward: Reward of the agent.
        terminated: Whether the agent has ended, for example because it lost.
        truncated: Whether the episode was cut off for the agent.
    """

    reward: float
    terminated: bool
    truncated: bool


class JointEnv(gym.Env[Any, Any]):
    """Single-agent environment made from a PettingZoo Parallel environment.

    Observations and actions are dicts by agent; the reward is the sum of the rewards of all agents. An agent
    that has ended observes zeros until the episode has ended for all agents. ``info`` contains ``acting``
    (the agents that act next), ``steps`` (an :class:`AgentStep` for each agent that acted) and ``masks``
    (legal actions by agent). If the environment has action masks, ``info`` also contains ``action_mask``,
    bool (agents, actions), with as many columns as the largest action space has actions; in the row of an
    agent without a legal action, which has ended, all actions are legal.

    Args:
        parallel: Environment with PettingZoo's Parallel interface; closed together with this one.
        steps: Preprocessing steps by agent.
        limit: Steps after which an episode is truncated; ``None`` if only the environment ends episodes.

    Attributes:
        agents: Names of all possible agents.
        teams: Agents by team; all agents are in one team if the environment has no teams.

    Raises:
        ConfigError: The preprocessing does not fit, or lacks an agent.
    """

    metadata = {"render_modes": ["rgb_array"]}  # noqa: RUF012

    def __init__(self, parallel: Any, steps: Mapping[str, Steps], limit: Optional[int] = None) -> None:
        self._parallel, self._limit, self._played = parallel, limit, 0
        self.agents: Tuple[str, ...] = tuple(parallel.possible_agents)
        if unknown := [agent for agent in self.agents if agent not in steps]:
            raise ConfigError(f"the environment has agents without preprocessing steps: {', '.join(unknown)}")
        self.teams: Mapping[str, Tuple[str, ...]] = getattr(parallel, "teams", None) or {"all": self.agents}
        self.render_mode = getattr(parallel, "render_mode", None)
        try:
            pipelines = {a: Pipeline(steps[a], parallel.observation_space(a)) for a in self.agents}
        except PreprocessingError as error:
            raise ConfigError(f"observations cannot be prepared: {error}") from error
        self._streams = {agent: pipeline.stream() for agent, pipeline in pipelines.items()}
        self.observation_space: Any = spaces.Dict({a: p.input_space for a, p in pipelines.items()})
        self.action_space: Any = spaces.Dict({a: parallel.action_space(a) for a in self.agents})
        self._nothing = {
            agent: np.zeros(pipeline.input_space.shape, pipeline.input_space.dtype)
            for agent, pipeline in pipelines.items()
        }

    def reset(
        self, *, seed: Optional[int] = None, options: Optional[Dict[str, Any]] = None
    ) -> Tuple[Dict[str, Any], Dict[str, Any]]:
        """Begin an episode; see :meth:`gymnasium.Env.reset`."""
        seen, infos = self._parallel.reset(seed=seed, options=options)
        self._played = 0
        for stream in self._streams.values():
            stream.reset()
        return self._shown(seen), self._info(infos, {})

    def step(self, action: Mapping[str, Any]) -> Tuple[Dict[str, Any], float, bool, bool, Dict[str, Any]]:
        """Do one step; see :meth:`gymnasium.Env.step`. Actions of agents that have ended are ignored."""
        acting = list(self._parallel.agents)
        seen, rewards, terminated, truncated, infos = self._parallel.step({a: action[a] for a in acting})
        gone = set(acting) - set(self._parallel.agents)
        steps = {
            agent: AgentStep(
                float(rewards.get(agent, 0.0)),
                bool(terminated.get(agent, False)) or (agent in gone and not truncated.get(agent, False)),
                bool(truncated.get(agent, False)),
            )
            for agent in acting
        }
        self._played += 1
        at_limit = self._limit is not None and self._played >= self._limit
        over = at_limit or not self._parallel.agents
        cut = over and (bool(self._parallel.agents) or any(step.truncated for step in steps.values()))
        total = float(sum(rewards.values()))
        return self._shown(seen), total, over and not cut, cut, self._info(infos, steps)

    def render(self) -> Any:
        """Return an image, uint8 (H, W, 3), if the environment was made with render mode ``rgb_array``."""
        return self._parallel.render()

    def close(self) -> None:
        """Close the wrapped environment."""
        self._parallel.close()

    def _shown(self, seen: Mapping[str, Any]) -> Dict[str, Any]:
        return {
            agent: self._streams[agent].apply(seen[agent]) if agent in seen else nothing
            for agent, nothing in self._nothing.items()
        }

    def _info(self, infos: Mapping[str, Any], steps: Mapping[str, AgentStep]) -> Dict[str, Any]:
        masks = {
            agent: np.asarray(info["action_mask"], bool)
            for agent, info in infos.items()
            if info and info.get("action_mask") is not None
        }
        info: Dict[str, Any] = {"acting": tuple(self._parallel.agents), "steps": steps, "masks": masks}
        if masks:
            most = max(int(getattr(space, "n", 0)) for space in self.action_space.values())
            info["action_mask"] = table = np.ones((len(self.agents), most), bool)
            for i, agent in enumerate(self.agents):
                if agent in masks and masks[agent].any():
                    table[i] = False
                    table[i, : len(masks[agent])] = masks[agent]
        return info


def make_parallel(env_id: str, render_mode: Optional[str] = None) -> Any:
    """Make an environment whose agents act simultaneously.

    Raises:
        ConfigError: The environment does not exist, or a package is missing.
    """
    try:
        return environments.make_parallel_environment(env_id, render_mode)
    except (ImportError, ValueError, TypeError, AttributeError) as error:
        raise ConfigError(
            with_place(f"environment {env_id!r} cannot be made: {one_line(error)}", error)
        ) from error


def make_joint(
    env_id: str, steps: Mapping[str, Steps], render_mode: Optional[str] = None, limit: Optional[int] = None
) -> JointEnv:
    """Make an environment whose agents act simultaneously, with preprocessed observations."""
    parallel = make_parallel(env_id, render_mode)
    try:
        return JointEnv(parallel, steps, limit)
    except ConfigError:
        parallel.close()
        raise
