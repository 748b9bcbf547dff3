"""For trainings: legal actions that an environment tells otherwise, told in its info as all others are."""

# What environments hand out is untyped.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

from typing import Any, Callable, Dict, Mapping, Optional

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from mosaic_worker.learning.action_masks import mask_method


class MaskMethodInInfo(gym.Wrapper):  # pyright: ignore[reportMissingTypeArgument]  # 3.8 knows none at run time
    """Puts what ``action_masks()`` returns into ``info["action_mask"]``.

    Args:
        env: The environment.
        method: Its :func:`~mosaic_worker.learning.action_masks.mask_method`.
    """

    def __init__(self, env: Any, method: Callable[[], Any]) -> None:
        super().__init__(env)
        self._method = method

    def reset(self, *, seed: Optional[int] = None, options: Optional[Dict[str, Any]] = None) -> Any:
        observation, info = self.env.reset(seed=seed, options=options)
        return observation, self._told(info)

    def step(self, action: Any) -> Any:
        observation, reward, terminated, truncated, info = self.env.step(action)
        if not (terminated or truncated):  # there is nothing to choose any more
            info = self._told(info)
        return observation, reward, terminated, truncated, info

    def _told(self, info: Mapping[str, Any]) -> Dict[str, Any]:
        # A copy: many environments hand out one array that they go on writing to.
        return {**info, "action_mask": np.array(self._method(), bool)}


def masks_in_info(env: Any) -> Any:
    """The environment, wrapped where it tells legal actions by a method."""
    method = mask_method(env)
    return env if method is None else MaskMethodInInfo(env, method)


class MaskBesideInInfo(gym.Wrapper):  # pyright: ignore[reportMissingTypeArgument]  # 3.8 knows none at run time
    """Moves an ``action_mask`` that stands beside the observation into the info."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self.observation_space: Any = env.observation_space["observation"]

    def reset(self, *, seed: Optional[int] = None, options: Optional[Dict[str, Any]] = None) -> Any:
        observation, info = self.env.reset(seed=seed, options=options)
        return observation["observation"], _with_mask(info, observation)

    def step(self, action: Any) -> Any:
        observation, reward, terminated, truncated, info = self.env.step(action)
        return observation["observation"], reward, terminated, truncated, _with_mask(info, observation)


def _with_mask(info: Mapping[str, Any], observation: Mapping[str, Any]) -> Dict[str, Any]:
    return {**info, "action_mask": np.asarray(observation["action_mask"])}


def mask_beside_in_info(env: Any) -> Any:
    """The environment, wrapped where what it shows is an observation with the legal actions beside it."""
    shown: Any = env.observation_space
    beside = isinstance(shown, spaces.Dict) and set(shown.spaces) == {"observation", "action_mask"}
    return MaskBesideInInfo(env) if beside else env
