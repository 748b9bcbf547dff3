"""Makes training environments with separate action masks and preprocessed observations."""

# Values returned by environments are untyped.

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from mosaic_worker.learning.action_masks import mask_method
from mosaic_worker.learning.observation_steps import MAIN_ENTRIES
from mosaic_worker.learning.policy_evaluation import PolicyEvaluation
from mosaic_worker.learning.single_env import make_single, prepared
from mosaic_worker.learning.training_command import ConfigError
from mosaic_worker.preprocessing import check_steps
from sb3_worker.config import TrainingConfig

Env = gym.Env[Any, Any]
Step = Mapping[str, Any]

OURS = ("sb3_worker",)
CNN_SIZE = 36
"""Smallest side of an image, in pixels, for the library's convolutions."""


class SeparateActionMask(gym.Wrapper[Any, Any, Any, Any]):
    """Wrapper that takes the action mask out of observations and provides it to the library.

    The mask is read from ``action_mask`` in the observation, else from the info (without a mask every action
    is legal). If the environment has a method ``action_masks()``, the info contains its result.

    Attributes:
        masks: Whether the environment has given or declared a mask so far.
    """

    def __init__(self, env: Env) -> None:
        super().__init__(env)
        self.masks = mask_method(env) is not None
        self._beside = False
        self._mask: NDArray[np.bool_] | None = None
        seen: Any = env.observation_space
        if isinstance(seen, spaces.Dict) and "action_mask" in seen.spaces:
            self._beside = self.masks = True
            rest = {key: space for key, space in seen.spaces.items() if key != "action_mask"}
            self._only = set(rest) == {"observation"}
            self.observation_space = rest["observation"] if self._only else spaces.Dict(rest)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        observation, info = self.env.reset(seed=seed, options=options)
        return self._split(observation, info), info

    def step(self, action: Any) -> Any:
        observation, reward, terminated, truncated, info = self.env.step(action)
        return self._split(observation, info), float(reward), terminated, truncated, info

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the mask, true for legal actions, for the library's maskable algorithms."""
        if self._mask is not None:
            return self._mask
        acts: Any = self.action_space
        several = np.sum(acts.nvec) if isinstance(acts, spaces.MultiDiscrete) else 1
        return np.ones(int(acts.n) if isinstance(acts, spaces.Discrete) else int(several), np.bool_)

    def _split(self, observation: Any, info: dict[str, Any]) -> Any:
        mask = observation["action_mask"] if self._beside else info.get("action_mask")
        self._mask = None if mask is None else np.asarray(mask).reshape(-1).astype(bool)
        self.masks = self.masks or mask is not None
        if not self._beside:
            return observation
        if self._only:
            return observation["observation"]
        return {key: value for key, value in observation.items() if key != "action_mask"}


class FromZero(gym.ActionWrapper[Any, Any, Any]):
    """Wrapper that counts actions from zero, as the library requires."""

    def __init__(self, env: Env) -> None:
        super().__init__(env)
        acts: Any = env.action_space
        self._start = np.asarray(acts.start)
        one = isinstance(acts, spaces.Discrete)
        self.action_space = spaces.Discrete(int(acts.n)) if one else spaces.MultiDiscrete(acts.nvec)

    def action(self, action: Any) -> Any:
        return action + self._start


def make_environment(env_id: str, steps: Sequence[Step] = (), render_mode: str | None = None) -> Env:
    """Make one environment with its masks taken out and ``steps`` applied.

    Raises:
        ConfigError: The id is unknown, a package is missing, or the steps do not fit.
    """
    return prepared(SeparateActionMask(make_single(env_id, render_mode, OURS)), steps, env_id)


def _mask_of(env: Any, _: Any) -> NDArray[np.bool_] | None:
    mask = env.get_wrapper_attr("action_masks")()
    return None if mask.all() else mask


EVALUATION = PolicyEvaluation(make_environment, mask_of=_mask_of, max_steps=20_000)
"""Evaluates policies of this worker in environments made by :func:`make_environment`."""


def playable(env: Env) -> Env:
    """Return the environment with actions that the library can handle.

    Raises:
        ConfigError: The library does not handle actions of this kind.
    """
    acts: Any = env.action_space
    if isinstance(acts, spaces.Box):
        if not (np.isfinite(acts.low).all() and np.isfinite(acts.high).all()):
            raise ConfigError(
                f"{name_of(env)} has the actions {acts}, whose bounds are infinite; none can be learned"
            )
        return env
    if isinstance(acts, spaces.Discrete | spaces.MultiDiscrete):
        return FromZero(env) if np.any(np.asarray(getattr(acts, "start", 0)) != 0) else env
    if isinstance(acts, spaces.MultiBinary):
        return env
    raise ConfigError(f"{name_of(env)} has the actions {acts}, which Stable-Baselines3 does not handle")


def action_kind(space: Any) -> str:
    """Return ``discrete``, ``multi_discrete``, ``multi_binary`` or ``continuous``; else the space's name."""
    kinds = {
        spaces.Discrete: "discrete",
        spaces.MultiDiscrete: "multi_discrete",
        spaces.MultiBinary: "multi_binary",
        spaces.Box: "continuous",
    }
    return next((word for kind, word in kinds.items() if isinstance(space, kind)), type(space).__name__)


def steps_for(space: Any, config: TrainingConfig) -> list[dict[str, Any]]:
    """Return the preprocessing steps that a network needs to learn from the observations.

    Args:
        space: Observation space of the environment, without the mask.
        config: Settings: ``select``, ``grayscale``, ``resize`` and ``frame_stack``.

    Raises:
        ConfigError: ``select`` names no entry, or an image setting is used without images.
    """
    steps: list[dict[str, Any]] = []
    while isinstance(space, spaces.Dict):
        main = _main_entry(space)
        keys = (config.selected if not steps else []) or ([main] if main else [])
        for key in keys:
            if key not in space.spaces:
                raise ConfigError(f"the observation has no entry {key!r}; it has {', '.join(space.spaces)}")
        if len(keys) != 1:
            steps += [{"step": "keep", "keys": keys}] if keys else []
            break
        steps.append({"step": "select", "key": keys[0]})
        space = space.spaces[keys[0]]
    if is_picture(space):
        return steps + _image_steps(tuple(space.shape or ()), config)
    if config.grayscale or config.resize:
        raise ConfigError(f"grayscale and resize are only for uint8 images, not for {space}")
    if isinstance(space, spaces.Discrete | spaces.MultiDiscrete):
        if config.frame_stack > 1 or np.any(np.asarray(getattr(space, "start", 0)) != 0):
            steps.append({"step": "one_hot"})
        elif isinstance(space, spaces.Discrete):
            return steps
    elif not isinstance(space, spaces.Box) or len(space.shape) != 1:
        steps.append({"step": "flatten"})
    if config.frame_stack > 1:
        steps.append({"step": "frame_stack", "size": config.frame_stack, "axis": 0})
    return [dict(step) for step in check_steps(steps)]


def is_picture(space: Any) -> bool:
    """Return whether a space is an image of bytes: height by width, with or without channels."""
    if not isinstance(space, spaces.Box) or space.dtype != np.uint8 or len(space.shape) not in (2, 3):
        return False
    return bool((space.low == 0).all() and (space.high == 255).all())


def _image_steps(shape: tuple[int, ...], config: TrainingConfig) -> list[dict[str, Any]]:
    steps: list[dict[str, Any]] = []
    height, width = (config.resize, config.resize) if config.resize else shape[:2]
    gray = config.grayscale and len(shape) == 3 and shape[2] == 3
    if gray:
        steps.append({"step": "grayscale", "keep_dim": False})
    if config.resize:
        steps.append({"step": "resize", "shape": [height, width]})
    if min(height, width) < CNN_SIZE:
        steps.append({"step": "flatten"})
        axis: int | None = 0
    else:
        flat = gray or len(shape) == 2
        if not flat:
            steps.append({"step": "transpose", "axes": [2, 0, 1]})
        axis = None if flat else 0
        if flat and config.frame_stack == 1:
            # A network for images needs a channel axis: one channel.
            steps.append({"step": "frame_stack", "size": 1})
    if config.frame_stack > 1:
        steps.append({"step": "frame_stack", "size": config.frame_stack, "axis": axis})
    return [dict(step) for step in check_steps(steps)]


def _main_entry(space: spaces.Dict) -> str:
    return next((key for key in MAIN_ENTRIES if key in space.spaces), "")


def name_of(env: Env) -> str:
    """Return the environment's id, or the name of its class."""
    return env.spec.id if env.spec else type(env.unwrapped).__name__


def quiet() -> None:
    """Ignore the library's warnings, which are meant for a user at a console."""
    warnings.filterwarnings("ignore", module="stable_baselines3")
    warnings.filterwarnings("ignore", module="gymnasium")
