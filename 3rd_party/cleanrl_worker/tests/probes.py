"""Environments so small that each tests one part of a learning algorithm.

After Andy L. Jones, "Debugging RL, Without the Agonizing Pain", 2021. Importing this module
registers them: ``probes:Constant-v0`` and so on, also in a child process.
"""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

_UNIT = spaces.Box(-1.0, 1.0, (1,), np.float32)


def _seen(value: float) -> np.ndarray[Any, Any]:
    return np.array([value], np.float32)


class Constant(gym.Env[Any, Any]):
    """One action, one step, reward 1: the value loss must find 1."""

    observation_space, action_space = _UNIT, spaces.Discrete(1)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        return _seen(0.0), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        return _seen(0.0), 1.0, True, False, {}


class Matching(gym.Env[Any, Any]):
    """Reward 1 for the action that the observation names (actions start at 3), else -1."""

    observation_space, action_space = _UNIT, spaces.Discrete(2, start=3)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.wanted = int(self.np_random.integers(2))
        return _seen(2.0 * self.wanted - 1.0), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        assert action in self.action_space
        return _seen(0.0), 1.0 if action == 3 + self.wanted else -1.0, True, False, {}


class TwoSteps(gym.Env[Any, Any]):
    """The first action decides the reward of the second step: credit must travel back."""

    observation_space, action_space = _UNIT, spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.first: int | None = None
        return _seen(-1.0), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        if self.first is None:
            self.first = int(action)
            return _seen(1.0), 0.0, False, False, {}
        return _seen(0.0), float(self.first == 1), True, False, {}


class Endless(gym.Env[Any, Any]):
    """Reward 1 for ever; only a time limit of two steps cuts it: its value is 1 / (1 - gamma)."""

    observation_space, action_space = _UNIT, spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        return _seen(0.0), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        return _seen(0.0), 1.0, False, False, {}


class MaskedBandit(gym.Env[Any, Any]):
    """Four arms; the best pays 10 but is always illegal, of the legal two the later pays 1.

    Playing an illegal arm raises. The mask stands beside the observation or, with
    ``in_info``, in the info.
    """

    action_space = spaces.Discrete(4)
    payoffs = (0.0, 10.0, 0.2, 1.0)

    def __init__(self, in_info: bool = False) -> None:
        self.in_info = in_info
        mask = spaces.MultiBinary(4)
        self.observation_space = _UNIT if in_info else spaces.Dict(observation=_UNIT, action_mask=mask)

    def _show(self) -> tuple[Any, dict[str, Any]]:
        mask = np.array([0, 0, 1, 1], np.int8)
        if self.in_info:
            return _seen(0.0), {"action_mask": mask}
        return {"observation": _seen(0.0), "action_mask": mask}, {}

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        return self._show()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        if action not in (2, 3):
            raise ValueError(f"arm {action} is illegal")
        observation, info = self._show()
        return observation, self.payoffs[int(action)], True, False, info


class Target(gym.Env[Any, Any]):
    """Two numbers to be hit; the second is the first turned round, both within the bounds."""

    observation_space = _UNIT
    action_space = spaces.Box(-2.0, 2.0, (2, 1), np.float32)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.wanted = float(self.np_random.uniform(-1, 1))
        return _seen(self.wanted), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        assert action in self.action_space, action
        error = np.abs(action[:, 0] - np.array([self.wanted, -self.wanted])).sum()
        return _seen(0.0), -float(error), True, False, {}


class Combination(gym.Env[Any, Any]):
    """The observation names one of two, the second component shall always be its last."""

    observation_space = _UNIT
    action_space = spaces.MultiDiscrete([2, 3], start=[5, 0])

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.wanted = int(self.np_random.integers(2))
        return _seen(2.0 * self.wanted - 1.0), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        assert action in self.action_space, action
        return _seen(0.0), float(action[0] == 5 + self.wanted) + float(action[1] == 2), True, False, {}


class Picture(gym.Env[Any, Any]):
    """A patch is in the upper or the lower half of an image, and the action shall say where."""

    action_space = spaces.Discrete(2)

    def __init__(self, size: int = 6, render_mode: str | None = None) -> None:
        self.size, self.render_mode = size, render_mode
        self.observation_space = spaces.Box(0, 255, (size, size, 3), np.uint8)
        self.seen = np.zeros((size, size, 3), np.uint8)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.low = bool(self.np_random.integers(2))
        half = self.size // 2
        row = int(self.np_random.integers(half - 1)) + (half if self.low else 0)
        column = int(self.np_random.integers(self.size - 1))
        self.seen = np.zeros((self.size, self.size, 3), np.uint8)
        self.seen[row : row + 2, column : column + 2] = 10 if self.size < 36 else 255
        return self.seen, {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        return self.seen, 1.0 if bool(action) == self.low else -1.0, True, False, {}

    def render(self) -> Any:
        return np.kron(self.seen, np.ones((9, 9, 1), np.uint8))


class Recall(gym.Env[Any, Any]):
    """The first observation, 0 or 1, is the wrong action two steps later, and is never seen again.

    No policy solves this by chance: without biases, as before the first gradient step, both actions are
    as good after 0, and the first of them is chosen.
    """

    observation_space, action_space = _UNIT, spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.wanted, self.steps = int(self.np_random.integers(2)), 0
        return _seen(float(self.wanted)), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.steps += 1
        if self.steps < 3:
            return _seen(0.0), 0.0, False, False, {}
        return _seen(0.0), 1.0 if action != self.wanted else -1.0, True, False, {}


class Faraway(gym.Env[Any, Any]):
    """As Matching, told in numbers that no network likes: 5000 or 5001, beside one that never changes."""

    observation_space = spaces.Box(0.0, 1e6, (2,), np.float64)
    action_space = spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.wanted = int(self.np_random.integers(2))
        return np.array([5000.0 + self.wanted, 7.0]), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        return np.array([5000.5, 7.0]), 1000.0 if action == self.wanted else -1000.0, True, False, {}


class Broken(gym.Env[Any, Any]):
    """Pays NaN after a while, or raises."""

    observation_space, action_space = _UNIT, spaces.Discrete(2)

    def __init__(self, how: str) -> None:
        self.how, self.steps = how, 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        return _seen(0.0), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.steps += 1
        late = self.steps > 300
        if late and self.how == "raises":
            raise RuntimeError("the roof fell in")
        return _seen(0.0), float("nan") if late and self.how == "nan" else 1.0, self.steps % 5 == 0, False, {}


NAMES: list[str] = []
for _name, _make, _more in (
    ("Constant-v0", Constant, {}),
    ("Matching-v0", Matching, {}),
    ("TwoSteps-v0", TwoSteps, {}),
    ("Endless-v0", Endless, {"max_episode_steps": 2}),
    ("MaskedBandit-v0", MaskedBandit, {}),
    ("MaskedBanditInfo-v0", MaskedBandit, {"kwargs": {"in_info": True}}),
    ("Target-v0", Target, {}),
    ("Combination-v0", Combination, {}),
    ("Picture-v0", Picture, {}),
    ("BigPicture-v0", Picture, {"kwargs": {"size": 36}}),
    ("Recall-v0", Recall, {}),
    ("Faraway-v0", Faraway, {}),
    ("PaysNan-v0", Broken, {"kwargs": {"how": "nan"}}),
    ("Raises-v0", Broken, {"kwargs": {"how": "raises"}}),
):
    if _name not in gym.registry:
        gym.register(_name, _make, disable_env_checker=True, **_more)
    NAMES.append(_name)
