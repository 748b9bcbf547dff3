"""An environment of stacked frames, as Atari's are after their wrappers; importing it registers it."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces


class Screens(gym.Env[Any, Any]):
    """Four grey frames of noise; nothing happens in them."""

    observation_space = spaces.Box(0, 255, (4, 84, 84), np.uint8)
    action_space = spaces.Discrete(6)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        return self._see(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        return self._see(), 0.0, True, False, {}

    def _see(self) -> Any:
        return self.np_random.integers(0, 256, (4, 84, 84), np.uint8)


gym.register("Screens-v0", Screens)
