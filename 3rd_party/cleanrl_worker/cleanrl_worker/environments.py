"""The environment as a slot sees it, and as a policy does: named, made, its observations prepared."""

# What environments hand out is untyped.
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
"""Packages whose lines do not show what is wrong with an environment; an error's place leaves them out."""


def preprocessing_for(config: TrainingConfig, observation_space: Any) -> list[dict[str, Any]]:
    """The steps that make vectors or images of what an environment shows, as the settings ask."""
    steps, space = entry_steps(config, observation_space)
    if isinstance(space, spaces.Discrete):
        steps.append({"step": "one_hot"})
    elif not isinstance(space, spaces.Box):
        steps.append({"step": "flatten"})
    return check_steps([*steps, *picture_steps(config)])


def make_environment(env_id: str, steps: Steps = (), render_mode: str | None = None) -> Env:
    """Make one environment as the policy sees it.

    Raises:
        ConfigError: It cannot be made, or its observations or actions are of a kind that no
            algorithm here handles.
    """
    env: Env = make_prepared(env_id, steps, render_mode, OURS)
    try:
        observed, acts = env.observation_space, env.action_space
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
    return env


EVALUATION = PolicyEvaluation(make_environment)
"""How good the policies of this worker are, and what they do."""


def observation_kind(space: Any) -> str:
    """``image`` or ``vector``."""
    return "image" if len(space.shape) >= 3 else "vector"


def action_kind(space: Any) -> str:
    """``discrete``, ``multi_discrete`` or ``continuous``."""
    kinds = {spaces.Discrete: "discrete", spaces.MultiDiscrete: "multi_discrete"}
    return kinds.get(type(space), "continuous")
