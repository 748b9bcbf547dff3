"""Environments so small that each tests one part of a learning algorithm, or of an import.

After Andy L. Jones, "Debugging RL, Without the Agonizing Pain", 2021. Importing this module
registers them: ``sb3_probes:Matching-v0`` and so on, also in a child process.
"""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

_UNIT = spaces.Box(-1.0, 1.0, (1,), np.float32)


def _seen(value: float) -> np.ndarray[Any, Any]:
    return np.array([value], np.float32)


class Matching(gym.Env[Any, Any]):
    """Reward 1 for action 4 at observation 0 and for 3 at 1, else -1.

    No policy does that by chance: without biases, as before the first gradient step, both actions are
    as good at 0, and the first of them is chosen.
    """

    observation_space, action_space = _UNIT, spaces.Discrete(2, start=3)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.wanted = int(self.np_random.integers(2))
        return _seen(float(self.wanted)), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        assert action in self.action_space
        return _seen(0.0), 1.0 if action == 4 - self.wanted else -1.0, True, False, {}


class Reaching(gym.Env[Any, Any]):
    """Reward falls with the distance between the action (in -2 to 2) and twice the observation."""

    observation_space, action_space = _UNIT, spaces.Box(-2.0, 2.0, (1,), np.float32)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.wanted = float(self.np_random.uniform(-0.8, 0.8))
        return _seen(self.wanted), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        assert action in self.action_space
        return _seen(0.0), -abs(float(action[0]) - 2.0 * self.wanted), True, False, {}


class MaskedBandit(gym.Env[Any, Any]):
    """Four arms; the best pays 10 but is always illegal, of the legal two the later pays 1."""

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


class MaskMethodBandit(MaskedBandit):
    """The same, which tells what is legal by a method, as sb3-contrib's examples do."""

    def __init__(self) -> None:
        super().__init__(in_info=True)

    def _show(self) -> tuple[Any, dict[str, Any]]:
        return _seen(0.0), {}

    def action_masks(self) -> Any:
        return np.array([False, False, True, True])


class Remembering(gym.Env[Any, Any]):
    """What is shown first has to be named two steps later, when nothing of it is seen."""

    observation_space, action_space = _UNIT, spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.wanted, self.at = int(self.np_random.integers(2)), 0
        return _seen(2.0 * self.wanted - 1.0), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.at += 1
        over = self.at == 3
        reward = (1.0 if action == self.wanted else -1.0) if over else 0.0
        return _seen(0.0), reward, over, False, {}


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


class Pictures(gym.Env[Any, Any]):
    """Images, beside other things with ``in_dict``; four actions."""

    action_space = spaces.Discrete(4)

    def __init__(self, size: int = 40, in_dict: bool = False) -> None:
        image = spaces.Box(0, 255, (size, size, 3), np.uint8)
        self.in_dict = in_dict
        more = {"image": image, "speed": spaces.Box(-1, 1, (2,), np.float32), "gear": spaces.Discrete(3)}
        self.observation_space = spaces.Dict(more) if in_dict else image

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.observation_space.seed(seed)
        self.at = 0
        return self.observation_space.sample(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.at += 1
        return self.observation_space.sample(), 1.0, self.at == 10, False, {}


class Dashboard(gym.Env[Any, Any]):
    """A Dict of vectors and numbers; four actions."""

    action_space = spaces.Discrete(4)
    observation_space = spaces.Dict(
        speed=spaces.Box(-1, 1, (2,), np.float32), gear=spaces.Discrete(3), doors=spaces.MultiBinary(4)
    )

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        return self.observation_space.sample(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        return self.observation_space.sample(), float(action), True, False, {}


class Cockpit(gym.Env[Any, Any]):
    """A Dict of every kind, an image among them; three switches."""

    action_space = spaces.MultiBinary(3)
    observation_space = spaces.Dict(
        place=spaces.Box(-1, 1, (2,)),
        gear=spaces.Discrete(3),
        lights=spaces.MultiBinary(4),
        dials=spaces.MultiDiscrete([2, 3]),
        view=spaces.Box(0, 255, (36, 36, 3), np.uint8),
    )

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.at = 0
        return self.observation_space.sample(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.at += 1
        return self.observation_space.sample(), 1.0, self.at == 10, False, {}


class Places(gym.Env[Any, Any]):
    """A number is seen, several are done."""

    observation_space = spaces.Discrete(5)

    def __init__(self, binary: bool = False) -> None:
        self.action_space = spaces.MultiBinary(3) if binary else spaces.MultiDiscrete([2, 4])

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        return int(self.np_random.integers(5)), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        assert action in self.action_space
        return int(self.np_random.integers(5)), 1.0, True, False, {}


NAMES: list[str] = []
for _name, _make, _more in (
    ("Matching-v0", Matching, {}),
    ("Reaching-v0", Reaching, {}),
    ("MaskedBandit-v0", MaskedBandit, {}),
    ("MaskedBanditInfo-v0", MaskedBandit, {"kwargs": {"in_info": True}}),
    ("MaskMethodBandit-v0", MaskMethodBandit, {}),
    ("Remembering-v0", Remembering, {}),
    ("PaysNan-v0", Broken, {"kwargs": {"how": "nan"}}),
    ("Raises-v0", Broken, {"kwargs": {"how": "raises"}}),
    ("Pictures-v0", Pictures, {}),
    ("PictureDict-v0", Pictures, {"kwargs": {"in_dict": True}}),
    ("Dashboard-v0", Dashboard, {}),
    ("Cockpit-v0", Cockpit, {}),
    ("Places-v0", Places, {}),
    ("Switches-v0", Places, {"kwargs": {"binary": True}}),
):
    if _name not in gym.registry:
        gym.register(_name, _make, disable_env_checker=True, **_more)
    NAMES.append(_name)
