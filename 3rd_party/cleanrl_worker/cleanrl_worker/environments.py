"""Makes training environments with preprocessed observations and checks their spaces."""

# Values returned by environments are untyped.

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from cleanrl_worker.config.base import TrainingConfig
from mosaic_worker.learning.observation_steps import entry_steps, picture_steps
from mosaic_worker.learning.policy_evaluation import PolicyEvaluation
from mosaic_worker.learning.single_env import Steps, make_prepared
from mosaic_worker.learning.training_command import ConfigError
from mosaic_worker.preprocessing import check_steps

Env = gym.Env[Any, Any]

OURS = ("cleanrl_worker",)
"""Packages whose lines are left out of error messages."""


def preprocessing_for(config: TrainingConfig, observation_space: Any) -> list[dict[str, Any]]:
    """Return the steps that turn observations into vectors or images, according to the settings."""
    steps, space = entry_steps(config, observation_space)
    if isinstance(space, spaces.Discrete):
        steps.append({"step": "one_hot"})
    elif not isinstance(space, spaces.Box):
        steps.append({"step": "flatten"})
    return check_steps([*steps, *picture_steps(config)])


def make_environment(env_id: str, steps: Steps = (), render_mode: str | None = None) -> Env:
    """Make one environment whose observations are preprocessed for the policy.

    Raises:
        ConfigError: The environment cannot be made, or no algorithm here handles its observations or actions.
    """
    env: Env = make_prepared(env_id, steps, render_mode, OURS)
    try:
        observed, acts = env.observation_space, env.action_space
        if not isinstance(observed, spaces.Box):
            raise ConfigError(f"{env_id} observes {observed}, which cannot be converted to an array")
        flat = isinstance(acts, spaces.MultiDiscrete) and len(acts.shape) == 1
        if not (flat or isinstance(acts, (spaces.Discrete, spaces.Box))):
            raise ConfigError(
                f"{env_id} has the actions {acts}; only Discrete, MultiDiscrete and Box actions are supported"
            )
        if isinstance(acts, spaces.Box) and not np.issubdtype(acts.dtype, np.floating):  # pyright: ignore[reportArgumentType]
            raise ConfigError(f"{env_id} has the actions {acts} of integers, which are not supported")
    except ConfigError:
        env.close()
        raise
    return env


EVALUATION = PolicyEvaluation(make_environment)
"""Evaluates policies of this worker in environments made by :func:`make_environment`."""


def observation_kind(space: Any) -> str:
    """Return ``image`` if observations have three or more axes, else ``vector``."""
    return "image" if len(space.shape) >= 3 else "vector"


def action_kind(space: Any) -> str:
    """Return ``discrete``, ``multi_discrete`` or ``continuous``."""
    kinds = {spaces.Discrete: "discrete", spaces.MultiDiscrete: "multi_discrete"}
    return kinds.get(type(space), "continuous")
