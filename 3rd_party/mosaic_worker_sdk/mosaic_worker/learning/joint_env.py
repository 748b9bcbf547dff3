"""All agents of an environment at once, as one player that sees, does and earns what they do together."""

# What environments hand out is untyped.
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
    """What a step was for one agent that acted in it.

    Attributes:
        reward: What it earned.
        terminated: Its part of the episode has ended.
        truncated: It was cut off.
    """

    reward: float
    terminated: bool
    truncated: bool


class JointEnv(gym.Env[Any, Any]):
    """Observations and actions are dicts by agent; the reward is the sum of all agents'.

    An agent that has ended sees zeros until the episode is over for all. ``info`` holds ``acting`` (who
    acts next), ``steps`` (an :class:`AgentStep` of each that acted), ``masks`` (legal actions, by agent)
    and, where there are any, ``action_mask``: bool (agents, actions), as many actions as the agent with the
    most has; who has no legal action has ended, and may do any.

    Args:
        parallel: Environment with PettingZoo's Parallel interface; closed with this one.
        steps: Preprocessing of each agent's observations.
        limit: Steps after which an episode is truncated; ``None``: the environment ends episodes.

    Attributes:
        agents: All agents there may be.
        teams: Agents by team; all in one team where the environment names none.

    Raises:
        ConfigError: The preprocessing does not fit, or has nothing of an agent.
    """

    metadata = {"render_modes": ["rgb_array"]}  # noqa: RUF012

    def __init__(self, parallel: Any, steps: Mapping[str, Steps], limit: Optional[int] = None) -> None:
        self._parallel, self._limit, self._played = parallel, limit, 0
        self.agents: Tuple[str, ...] = tuple(parallel.possible_agents)
        if unknown := [agent for agent in self.agents if agent not in steps]:
            raise ConfigError(f"the environment has agents that are not known here: {', '.join(unknown)}")
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
        """See :meth:`gymnasium.Env.reset`."""
        seen, infos = self._parallel.reset(seed=seed, options=options)
        self._played = 0
        for stream in self._streams.values():
            stream.reset()
        return self._shown(seen), self._info(infos, {})

    def step(self, action: Mapping[str, Any]) -> Tuple[Dict[str, Any], float, bool, bool, Dict[str, Any]]:
        """See :meth:`gymnasium.Env.step`; actions of agents that have ended are passed over."""
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
        """A picture, (H, W, 3) uint8, where it was made with ``rgb_array``."""
        return self._parallel.render()

    def close(self) -> None:
        """Let go of the environment."""
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
    """Make an environment whose agents act at once.

    Raises:
        ConfigError: There is none, or a package is missing.
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
    """Make an environment with its agents' observations prepared; raises as both halves of it do."""
    parallel = make_parallel(env_id, render_mode)
    try:
        return JointEnv(parallel, steps, limit)
    except ConfigError:
        parallel.close()
        raise
