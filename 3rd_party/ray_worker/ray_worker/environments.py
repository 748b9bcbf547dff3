"""Makes environments for RLlib: preprocessed, without action masks, with actions counted from zero."""

# Values returned by environments are untyped.

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from mosaic_worker.learning.joint_env import Steps, make_parallel
from mosaic_worker.learning.observation_steps import MAIN_ENTRIES
from mosaic_worker.learning.policy_evaluation import PolicyEvaluation
from mosaic_worker.learning.single_env import make_single, prepared
from mosaic_worker.learning.training_command import ConfigError
from mosaic_worker.preprocessing import check_steps
from ray_worker.settings import RayConfig

Env = gym.Env[Any, Any]

IMAGE_SIZES = (42, 64, 84, 96)
"""Heights and widths of images for which RLlib has convolutions."""
OURS = ("ray_worker",)


class RemoveActionMask(gym.Wrapper[Any, Any, Any, Any]):
    """Wrapper that removes the action mask from observations, because RLlib's own networks use none.

    Attributes:
        masked: Whether observations had a mask.
    """

    def __init__(self, env: Env) -> None:
        super().__init__(env)
        seen: Any = env.observation_space
        self.masked = isinstance(seen, spaces.Dict) and set(seen.spaces) == {"observation", "action_mask"}
        if self.masked:
            self.observation_space = seen["observation"]

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        observation, info = self.env.reset(seed=seed, options=options)
        return self._shown(observation), info

    def step(self, action: Any) -> Any:
        observation, reward, terminated, truncated, info = self.env.step(action)
        return self._shown(observation), float(reward), bool(terminated), bool(truncated), info

    def _shown(self, observation: Any) -> Any:
        return observation["observation"] if self.masked else observation


class FromZero(gym.ActionWrapper[Any, Any, Any]):
    """Wrapper that counts actions from zero, as RLlib requires."""

    def __init__(self, env: Env) -> None:
        super().__init__(env)
        self._start = starts_of(env.action_space)
        self.action_space = from_zero(env.action_space)

    def action(self, action: Any) -> Any:
        return action + self._start


def starts_of(space: Any) -> Any:
    """Return the first action of each choice."""
    return np.asarray(getattr(space, "start", 0), np.int64)


def from_zero(space: Any) -> Any:
    """Return the space with actions counted from zero."""
    if not np.any(starts_of(space)):
        return space
    return (
        spaces.Discrete(int(space.n))
        if isinstance(space, spaces.Discrete)
        else spaces.MultiDiscrete(space.nvec)
    )


def unbounded(space: Any) -> Any:
    """Return a vector space without bounds, because RLlib requires equal spaces if agents share a network."""
    if isinstance(space, spaces.Box) and len(space.shape) == 1:
        return spaces.Box(-np.inf, np.inf, space.shape, np.float32)
    return space


def make_environment(env_id: str, steps: Steps = (), render_mode: str | None = None) -> Env:
    """Make one environment with one agent.

    Raises:
        ConfigError: The id is unknown, a package is missing, or the steps do not fit.
    """
    return prepared(RemoveActionMask(make_single(env_id, render_mode, OURS)), steps, env_id)


def trainable(env: Env) -> Env:
    """Return the environment with actions that RLlib can handle.

    Raises:
        ConfigError: RLlib cannot handle its actions.
    """
    check_actions(env.spec.id if env.spec else type(env.unwrapped).__name__, env.action_space)
    return FromZero(env) if np.any(starts_of(env.action_space)) else env


def check_actions(where: str, space: Any) -> None:
    """Check that RLlib can learn actions of this space.

    Raises:
        ConfigError: RLlib cannot learn them.
    """
    if isinstance(space, spaces.Box):
        if len(space.shape) != 1 or not (np.isfinite(space.low).all() and np.isfinite(space.high).all()):
            raise ConfigError(
                f"{where} has the actions {space}; real-valued actions must be a vector with finite bounds"
            )
    elif not (
        isinstance(space, spaces.Discrete)
        or (isinstance(space, spaces.MultiDiscrete) and space.nvec.ndim == 1)
    ):
        raise ConfigError(f"{where} has the actions {space}, which no network of this worker supports")


def action_kind(space: Any) -> str:
    """Return ``discrete``, ``multi_discrete`` or ``continuous``."""
    if isinstance(space, spaces.Box):
        return "continuous"
    return "discrete" if isinstance(space, spaces.Discrete) else "multi_discrete"


def steps_for(space: Any, config: RayConfig) -> list[dict[str, Any]]:
    """Return the preprocessing steps that RLlib's networks need to learn from the observations.

    Raises:
        ConfigError: A setting does not fit the observation, or RLlib has no network for the image size.
    """
    steps: list[dict[str, Any]] = []
    if isinstance(space, spaces.Dict):
        main = next((key for key in MAIN_ENTRIES if key in space.spaces), "")
        keys = config.selected or ([main] if main else [])
        for key in keys:
            if key not in space.spaces:
                raise ConfigError(f"the observation has no entry {key!r}; it has {', '.join(space.spaces)}")
        if len(keys) == 1:
            steps.append({"step": "select", "key": keys[0]})
            space = space.spaces[keys[0]]
        elif keys:
            steps.append({"step": "keep", "keys": keys})
    if is_picture(space):
        return check_steps([*steps, *_image_steps(tuple(space.shape or ()), config)])
    if config.grayscale or config.resize:
        raise ConfigError(f"grayscale and resize are only for uint8 images, not for {space}")
    if not isinstance(space, spaces.Box) or len(space.shape) != 1:
        steps.append({"step": "flatten"})
    if config.frame_stack > 1:
        steps.append({"step": "frame_stack", "size": config.frame_stack, "axis": 0})
    if not isinstance(space, spaces.Box) or space.dtype != np.float32:
        steps.append({"step": "dtype", "dtype": "float32"})
    return check_steps(steps)


def is_picture(space: Any) -> bool:
    """Return whether a space is an image of bytes: height by width, with or without channels."""
    if not isinstance(space, spaces.Box) or space.dtype != np.uint8 or len(space.shape) not in (2, 3):
        return False
    return bool((space.low == 0).all() and (space.high == 255).all())


def _image_steps(shape: tuple[int, ...], config: RayConfig) -> list[dict[str, Any]]:
    steps: list[dict[str, Any]] = []
    height, width = (config.resize, config.resize) if config.resize else shape[:2]
    flat = len(shape) == 2
    if config.grayscale and len(shape) == 3 and shape[2] == 3:
        steps.append({"step": "grayscale", "keep_dim": True})
    if config.resize:
        steps.append({"step": "resize", "shape": [height, width]})
    if max(height, width) < IMAGE_SIZES[0]:
        steps.append({"step": "flatten"})
    elif height != width or height not in IMAGE_SIZES or (flat and config.frame_stack == 1):
        sizes = ", ".join(map(str, IMAGE_SIZES))
        raise ConfigError(
            f"RLlib has no network for images of {'x'.join(map(str, shape))}; give --resize with one of "
            f"{sizes}"
            f"{', or --frame-stack for images without channels' if flat else ''}"
        )
    if config.frame_stack > 1:
        axis = None if flat and max(height, width) >= IMAGE_SIZES[0] else -1
        steps.append({"step": "frame_stack", "size": config.frame_stack, "axis": axis})
        if axis is None:
            steps.append({"step": "transpose", "axes": [1, 2, 0]})
    return [*steps, {"step": "rescale", "low": 0.0, "high": 1.0}]


def _no_mask(_: Any, __: Any) -> None:
    """Return no mask, because RLlib's networks use none."""


EVALUATION = PolicyEvaluation(make_environment, mask_of=_no_mask, max_steps=20_000)
"""Evaluates policies of this worker in environments made by :func:`make_environment`."""


def is_joint(env_id: str) -> bool:
    """Return whether an environment has several agents; an environment of Gymnasium has one agent."""
    try:
        make_single(env_id).close()
    except ConfigError:
        try:
            make_parallel(env_id).close()
        except ConfigError:
            return False
        return True
    return False
