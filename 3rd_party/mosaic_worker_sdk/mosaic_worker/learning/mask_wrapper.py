"""Wrappers for training that put the legal actions into ``info["action_mask"]``, wherever an environment
provides them.
"""

# Values returned by environments are untyped.

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
        method: Method that :func:`~mosaic_worker.learning.action_masks.mask_method` returned for ``env``.
    """

    def __init__(self, env: Any, method: Callable[[], Any]) -> None:
        super().__init__(env)
        self._method = method

    def reset(self, *, seed: Optional[int] = None, options: Optional[Dict[str, Any]] = None) -> Any:
        observation, info = self.env.reset(seed=seed, options=options)
        return observation, self._with_method_mask(info)

    def step(self, action: Any) -> Any:
        observation, reward, terminated, truncated, info = self.env.step(action)
        if not (terminated or truncated):  # after the last step, no action is chosen
            info = self._with_method_mask(info)
        return observation, reward, terminated, truncated, info

    def _with_method_mask(self, info: Mapping[str, Any]) -> Dict[str, Any]:
        # A copy, because many environments return one array and change it later.
        return {**info, "action_mask": np.array(self._method(), bool)}


def masks_in_info(env: Any) -> Any:
    """Return the environment, wrapped if it provides legal actions by the method ``action_masks``."""
    method = mask_method(env)
    return env if method is None else MaskMethodInInfo(env, method)


class MaskBesideInInfo(gym.Wrapper):  # pyright: ignore[reportMissingTypeArgument]  # 3.8 knows none at run time
    """Moves an ``action_mask`` from the observation into the info; the inner observation remains."""

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
    """Return the environment, wrapped if its observations are dicts of ``observation`` and
    ``action_mask``.
    """
    shown: Any = env.observation_space
    beside = isinstance(shown, spaces.Dict) and set(shown.spaces) == {"observation", "action_mask"}
    return MaskBesideInInfo(env) if beside else env
