"""The environment as a slot sees it, and as a policy does: named, made, its observations prepared."""

# What environments hand out is untyped.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from cleanrl_worker.config.base import TrainingConfig
from mosaic_worker import environments
from mosaic_worker.failures import one_line, with_place
from mosaic_worker.learning.policy_evaluation import PolicyEvaluation
from mosaic_worker.learning.training_command import ConfigError
from mosaic_worker.preprocessing import PreprocessingError, check_steps, wrap

Env = gym.Env[Any, Any]
Steps = Sequence[Mapping[str, Any]]

_KEYS = ("image", "observation", "rgb")
"""Entries of a Dict that are what a policy wants to see, the first that is there."""
OURS = ("cleanrl_worker",)
"""Lines of this package tell nobody what is wrong with an environment."""
_PACKAGES = {
    "MiniGrid-": "minigrid",
    "BabyAI-": "minigrid",
    "ALE/": "ale_py",
    "Skills/": "gym_gui.envs.gymnasium_ids",
    "SingleAgent/": "gym_gui.envs.gymnasium_ids",
}
"""Who registers environments with such names."""


class MaskInInfo(gym.Wrapper[Any, Any, Any, Any]):
    """Moves an ``action_mask`` that stands beside the observation into the info."""

    def __init__(self, env: Env) -> None:
        super().__init__(env)
        self.observation_space: Any = env.observation_space["observation"]  # type: ignore[index]

    def reset(self, **keywords: Any) -> tuple[Any, dict[str, Any]]:
        """See :meth:`gymnasium.Env.reset`."""
        observation, info = self.env.reset(**keywords)
        return observation["observation"], {**info, "action_mask": np.asarray(observation["action_mask"])}

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """See :meth:`gymnasium.Env.step`."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        info = {**info, "action_mask": np.asarray(observation["action_mask"])}
        return observation["observation"], reward, terminated, truncated, info


def make_raw_environment(env_id: str, render_mode: str | None = None) -> Env:
    """Make one environment as a slot sees it: the action mask in ``info``, observations as they are.

    Raises:
        ConfigError: The id is unknown, or a package is missing.
    """
    package = next((name for head, name in _PACKAGES.items() if env_id.startswith(head)), "")
    try:
        if package and env_id not in gym.registry:
            __import__(package)
        env: Env = environments.make_environment(env_id, render_mode)
    except (gym.error.Error, ImportError, ValueError, TypeError, AttributeError) as error:
        raise ConfigError(
            with_place(f"environment {env_id!r} cannot be made: {one_line(error)}", error, OURS)
        ) from error
    observed = env.observation_space
    if isinstance(observed, spaces.Dict) and set(observed) == {"observation", "action_mask"}:
        env = MaskInInfo(env)
    return env


def preprocessing_for(config: TrainingConfig, observation_space: Any) -> list[dict[str, Any]]:
    """The steps that make vectors or images of what an environment shows, as the settings ask."""
    steps: list[dict[str, Any]] = []
    space = observation_space
    if isinstance(space, spaces.Dict):
        main = next((key for key in _KEYS if isinstance(space.get(key), spaces.Box)), "")
        keys = config.selected or ([main] if main else [])
        if len(keys) == 1:
            steps.append({"step": "select", "key": keys[0]})
            space = space.get(keys[0])
        else:
            steps.append({"step": "keep", "keys": keys or _numbers_in(space)})
    if isinstance(space, spaces.Discrete):
        steps.append({"step": "one_hot"})
    elif not isinstance(space, spaces.Box):
        steps.append({"step": "flatten"})
    if config.grayscale:
        steps.append({"step": "grayscale"})
    if config.resize:
        steps.append({"step": "resize", "shape": [config.resize, config.resize]})
    if config.frame_stack > 1:
        steps.append({"step": "frame_stack", "size": config.frame_stack})
    return check_steps(steps)


def _numbers_in(space: Any, within: str = "") -> list[str]:
    """Paths of all that is made of numbers: a text that stands beside them is left out."""
    paths: list[str] = []
    for key, entry in space.spaces.items():
        if isinstance(entry, spaces.Dict):
            paths += _numbers_in(entry, f"{within}{key}/")
        elif isinstance(entry, (spaces.Box, spaces.Discrete, spaces.MultiDiscrete, spaces.MultiBinary)):
            paths.append(f"{within}{key}")
    return paths


def make_environment(env_id: str, steps: Steps = (), render_mode: str | None = None) -> Env:
    """Make one environment as the policy sees it.

    Raises:
        ConfigError: It cannot be made, or its observations or actions are of a kind that no
            algorithm here handles.
    """
    env = make_raw_environment(env_id, render_mode)
    try:
        try:
            wrapped: Env = wrap(env, list(steps))
        except PreprocessingError as error:
            raise ConfigError(f"observations of {env_id} cannot be prepared: {error}") from error
        observed, acts = wrapped.observation_space, wrapped.action_space
        if not isinstance(observed, spaces.Box):
            raise ConfigError(f"{env_id} observes {observed}, which no step makes an array of")
        flat = isinstance(acts, spaces.MultiDiscrete) and len(acts.shape) == 1
        if not (flat or isinstance(acts, (spaces.Discrete, spaces.Box))):
            raise ConfigError(f"{env_id} acts in {acts}; Discrete, MultiDiscrete and Box actions are learnt")
        if isinstance(acts, spaces.Box) and not np.issubdtype(acts.dtype, np.floating):  # pyright: ignore[reportArgumentType]
            raise ConfigError(f"{env_id} acts in {acts} of whole numbers, which is not learnt")
    except ConfigError:
        env.close()
        raise
    return wrapped


EVALUATION = PolicyEvaluation(make_environment)
"""How good the policies of this worker are, and what they do."""


def observation_kind(space: Any) -> str:
    """``image`` or ``vector``."""
    return "image" if len(space.shape) >= 3 else "vector"


def action_kind(space: Any) -> str:
    """``discrete``, ``multi_discrete`` or ``continuous``."""
    kinds = {spaces.Discrete: "discrete", spaces.MultiDiscrete: "multi_discrete"}
    return kinds.get(type(space), "continuous")
