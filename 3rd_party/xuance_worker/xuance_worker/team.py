"""An environment whose agents act at once, as one player that sees, does and earns what they do together."""

# What environments hand out is untyped.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from mosaic_worker import environments
from mosaic_worker.failures import one_line, with_place
from mosaic_worker.preprocessing import Pipeline, PreprocessingError, check_steps
from mosaic_worker.training_command import ConfigError
from mosaic_worker.training_settings import TrainingSettings

Steps = Sequence[Mapping[str, Any]]
OURS = ("xuance_worker", "mosaic_worker", "xuance")
_KEYS = ("image", "observation", "rgb")
_LIMITS = ("max_episode_steps", "max_cycles", "max_steps")
LONGEST = 1000
"""Steps of an episode where neither a setting nor the environment says."""


class Team:
    """All agents of an environment, with Gymnasium's interface.

    Observations, actions and rewards are dicts by agent, the reward of a step is the sum of theirs. An agent
    that has ended sees zeros until the episode is over for all. ``info`` holds ``acting`` (who acts next),
    ``rewards`` and ``terminated`` by agent and, where there are any, ``action_mask``: bool (agents, actions),
    as many actions as the agent with the most has.

    Args:
        parallel: With PettingZoo's Parallel interface; closed with this one.
        steps: Preprocessing of each agent's observations, which makes vectors of them.
        shown: What happens to a vector after that, by agent.
        limit: Steps after which an episode is cut off; ``None``: the environment ends them.

    Attributes:
        agents: All there may be.
        observation_space: Spaces by agent, as they are after the preprocessing.
        action_space: Spaces by agent.

    Raises:
        ConfigError: The preprocessing does not fit.
    """

    metadata = {"render_modes": ["rgb_array"]}  # noqa: RUF012
    spec = None

    def __init__(
        self,
        parallel: Any,
        steps: Mapping[str, Steps],
        shown: Callable[[str, NDArray[Any]], NDArray[Any]] | None = None,
        limit: int | None = None,
    ) -> None:
        self._parallel, self._shown, self._limit, self._played = parallel, shown, limit, 0
        self.agents: tuple[str, ...] = tuple(parallel.possible_agents)
        self.render_mode = getattr(parallel, "render_mode", None)
        try:
            pipelines = {a: Pipeline(steps[a], parallel.observation_space(a)) for a in self.agents}
        except PreprocessingError as error:
            raise ConfigError(f"observations cannot be prepared: {error}") from error
        self._streams = {agent: pipeline.stream() for agent, pipeline in pipelines.items()}
        self.observation_space: dict[str, Any] = {a: p.input_space for a, p in pipelines.items()}
        self.action_space: dict[str, Any] = {a: parallel.action_space(a) for a in self.agents}
        self._nothing = {a: np.zeros(s.shape, np.float32) for a, s in self.observation_space.items()}

    @property
    def unwrapped(self) -> Team:
        """See :class:`gymnasium.Env`."""
        return self

    def reset(self, *, seed: int | None = None) -> tuple[dict[str, Any], dict[str, Any]]:
        """See :meth:`gymnasium.Env.reset`."""
        seen, infos = self._parallel.reset(seed=seed)
        self._played = 0
        for stream in self._streams.values():
            stream.reset()
        nothing = dict.fromkeys(self.agents, 0.0)
        return self._vectors(seen), self._info(infos, nothing, dict.fromkeys(self.agents, False))

    def step(self, action: Mapping[str, Any]) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """See :meth:`gymnasium.Env.step`; actions of agents that have ended are passed over."""
        acting = list(self._parallel.agents)
        seen, earned, _, cut, infos = self._parallel.step({agent: action[agent] for agent in acting})
        self._played += 1
        rewards = {agent: float(earned.get(agent, 0.0)) for agent in self.agents}
        here = set(self._parallel.agents)
        truncated = any(cut.get(agent, False) for agent in acting)
        over = not here or (self._limit is not None and self._played >= self._limit)
        truncated = over and (truncated or bool(here))
        terminated = {
            agent: agent not in here and not (truncated and cut.get(agent, False)) for agent in self.agents
        }
        info = self._info(infos, rewards, terminated)
        return self._vectors(seen), sum(rewards.values()), over and not truncated, truncated, info

    def render(self) -> Any:
        """A picture, (H, W, 3) uint8, where it was made with ``rgb_array``."""
        return self._parallel.render()

    def close(self) -> None:
        """Let go of the environment."""
        self._parallel.close()

    def _vectors(self, seen: Mapping[str, Any]) -> dict[str, Any]:
        return {
            agent: self._vector(agent, seen[agent]) if agent in seen else nothing.copy()
            for agent, nothing in self._nothing.items()
        }

    def _vector(self, agent: str, observation: Any) -> Any:
        vector = np.asarray(self._streams[agent].apply(observation), np.float32)
        return vector if self._shown is None else self._shown(agent, vector)

    def _info(
        self, infos: Mapping[str, Any], rewards: dict[str, float], terminated: dict[str, bool]
    ) -> dict[str, Any]:
        info: dict[str, Any] = {
            "acting": tuple(self._parallel.agents),
            "rewards": rewards,
            "terminated": terminated,
        }
        masks = {
            agent: np.asarray(told["action_mask"], bool)
            for agent, told in infos.items()
            if told and told.get("action_mask") is not None
        }
        if masks:
            most = max(int(getattr(space, "n", 0)) for space in self.action_space.values())
            info["action_mask"] = table = np.ones((len(self.agents), most), bool)
            for i, agent in enumerate(self.agents):
                mask = masks.get(agent)
                # Who has no legal action has ended, and what it does is passed over.
                if mask is not None and mask.any():
                    table[i] = False
                    table[i, : len(mask)] = mask
        return info


def make_parallel(env_id: str, render_mode: str | None = None) -> Any:
    """Make an environment whose agents act at once.

    Raises:
        ConfigError: There is none, or a package is missing.
    """
    try:
        return environments.make_parallel_environment(env_id, render_mode)
    except (ImportError, ValueError, TypeError, AttributeError) as error:
        raise ConfigError(
            with_place(f"environment {env_id!r} cannot be made: {one_line(error)}", error, OURS)
        ) from error


def make_team(env_id: str, steps: Mapping[str, Steps], render_mode: str | None = None) -> Team:
    """Make an environment with its agents' observations prepared; raises as both halves of it do."""
    parallel = make_parallel(env_id, render_mode)
    try:
        return Team(parallel, steps)
    except (ConfigError, KeyError) as error:
        parallel.close()
        if isinstance(error, KeyError):
            raise ConfigError(f"{env_id} has an agent {error} that the policy does not know") from error
        raise


def longest_episode(parallel: Any, asked: int | None) -> int:
    """Steps after which an episode is over at the latest."""
    if asked is not None:
        return asked
    environment = getattr(parallel, "environment", None)
    places = (
        getattr(environment, "spec", None),
        parallel,
        getattr(getattr(environment, "adapter", None), "env", None),
    )
    inner = [getattr(place, "unwrapped", None) for place in places]
    for place in (*places, *inner):
        for name in _LIMITS:
            found = getattr(place, name, None)
            if isinstance(found, int) and found > 0:
                return found
    return LONGEST


def vector_steps(config: TrainingSettings, space: Any) -> list[dict[str, Any]]:
    """The steps that make a vector of what an agent sees, as the settings ask."""
    steps: list[dict[str, Any]] = []
    if isinstance(space, spaces.Dict):
        main = next((key for key in _KEYS if isinstance(space.get(key), spaces.Box)), "")
        keys = config.selected or ([main] if main else [])
        if len(keys) == 1:
            steps.append({"step": "select", "key": keys[0]})
            space = space.get(keys[0])
        else:
            steps.append({"step": "keep", "keys": keys or _numbers_in(space)})
    if config.grayscale:
        steps.append({"step": "grayscale"})
    if config.resize:
        steps.append({"step": "resize", "shape": [config.resize, config.resize]})
    if config.frame_stack > 1:
        steps.append({"step": "frame_stack", "size": config.frame_stack})
    flat = isinstance(space, spaces.Box) and len(space.shape) == 1 and config.frame_stack == 1
    return check_steps([*steps, *([] if flat else [{"step": "flatten"}])])


def _numbers_in(space: Any, within: str = "") -> list[str]:
    """Paths of all that is made of numbers: a text that stands beside them is left out."""
    paths: list[str] = []
    for key, entry in space.spaces.items():
        if isinstance(entry, spaces.Dict):
            paths += _numbers_in(entry, f"{within}{key}/")
        elif isinstance(entry, (spaces.Box, spaces.Discrete, spaces.MultiDiscrete, spaces.MultiBinary)):
            paths.append(f"{within}{key}")
    return paths


def action_kind(space: Any) -> str:
    """``discrete``, ``continuous``, or the class's name where no algorithm here learns such actions."""
    if isinstance(space, spaces.Discrete):
        return "discrete"
    bounded = isinstance(space, spaces.Box) and space.is_bounded() and np.issubdtype(space.dtype, np.floating)  # pyright: ignore[reportArgumentType]
    return "continuous" if bounded else type(space).__name__
