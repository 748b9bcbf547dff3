"""Environments that no policy solves without a memory."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

HELD = 8
"""Steps for which :class:`Cue` has to be remembered."""


class Cue(gym.Env[Any, Any]):
    """What is seen first is the right action :data:`HELD` steps later, after noise: 100 are won or lost."""

    observation_space, action_space = spaces.Box(-1.0, 1.0, (2,), np.float32), spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.wanted, self.steps = int(self.np_random.integers(2)), 0
        return np.array([2.0 * self.wanted - 1.0, 0.0], np.float32), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.steps += 1
        seen = np.array([0.0, self.np_random.uniform(-1, 1)], np.float32)
        if self.steps <= HELD:
            return seen, 0.0, False, False, {}
        return seen, 100.0 if action == self.wanted else -100.0, True, False, {}


class Unmoving(gym.ObservationWrapper[Any, Any, Any]):
    """CartPole-v1 that shows where cart and pole are, and not how fast they move."""

    def __init__(self) -> None:
        super().__init__(gym.make("CartPole-v1"))
        whole: Any = self.env.observation_space
        self.observation_space = spaces.Box(whole.low[[0, 2]], whole.high[[0, 2]], dtype=np.float32)

    def observation(self, observation: Any) -> Any:
        """See :meth:`gymnasium.ObservationWrapper.observation`."""
        return observation[[0, 2]]


ENTRIES: dict[str, Any] = {"Cue-v0": Cue, "Unmoving-v0": Unmoving}
