"""Probe environments with continuous actions or images, see :mod:`probes`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces

from cleanrl_worker.registry import algorithm, load
from cleanrl_worker.session import Session
from cleanrl_worker.vector_environments import Environments
from mosaic_worker.learning.training_state import read_state
from mosaic_worker.training import TrainingRun, ask

_UNIT = spaces.Box(-1.0, 1.0, (1,), np.float32)
_LOW, _HIGH = np.array([-2.0, 10.0], np.float32), np.array([6.0, 30.0], np.float32)


class Target(gym.Env[Any, Any]):
    """One step; nothing is lost where the first action number is 4 times the observation plus 2 and the
    second 20: bounds are uneven, so it tells a policy in other units."""

    observation_space, action_space = _UNIT, spaces.Box(_LOW, _HIGH)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.seen = self.np_random.uniform(-1.0, 1.0, 1).astype(np.float32)
        return self.seen, {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        assert self.action_space.contains(action), action
        missed = np.array([(action[0] - (2.0 + 4.0 * self.seen[0])) / 4.0, (action[1] - 20.0) / 10.0])
        return self.seen, -float(np.square(missed).sum()), True, False, {}


class Late(gym.Env[Any, Any]):
    """The first action is the reward of the second step, and is seen there: credit must travel back."""

    observation_space, action_space = (
        spaces.Box(-2.0, 2.0, (1,), np.float32),
        spaces.Box(-1.0, 1.0, (1,), np.float32),
    )

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.first: float | None = None
        return np.array([2.0], np.float32), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        if self.first is None:
            self.first = float(action[0])
            return np.array([self.first], np.float32), 0.0, False, False, {}
        return np.array([-1.0], np.float32), self.first, True, False, {}


class Endless(gym.Env[Any, Any]):
    """Reward 1 for ever; only a time limit of two steps cuts it: its value is 1 / (1 - gamma)."""

    observation_space, action_space = _UNIT, spaces.Box(-1.0, 1.0, (1,), np.float32)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        return np.array([0.0], np.float32), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        return np.array([0.0], np.float32), 1.0, False, False, {}


class Lamp(gym.Env[Any, Any]):
    """A dark image with one bright quarter, whose number is the action that pays."""

    action_space = spaces.Discrete(4)

    def __init__(self, size: int) -> None:
        self.size = size
        self.observation_space = spaces.Box(0, 255, (size, size, 3), np.uint8)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.lit = int(self.np_random.integers(4))
        return self._image(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        return self._image(), float(action == self.lit), True, False, {}

    def _image(self) -> Any:
        image = np.zeros((self.size, self.size, 3), np.uint8)
        half = self.size // 2
        row, column = divmod(self.lit, 2)
        light = 10 if self.size < 36 else 255
        image[row * half : (row + 1) * half, column * half : (column + 1) * half] = light
        return image


class Unbounded(Target):
    """Actions without bounds."""

    action_space = spaces.Box(-np.inf, np.inf, (2,), np.float32)


class Pictures(Target):
    """Continuous actions by what images show."""

    observation_space = spaces.Box(0, 255, (36, 36, 3), np.uint8)


class LateMask(gym.Env[Any, Any]):
    """Two steps; in the second the action that would pay 10 is illegal, and playing it raises.

    The episode is then cut by a time limit, in a state whose only legal action pays nothing more.
    """

    observation_space, action_space = _UNIT, spaces.Discrete(3)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.steps = 0
        return self._show()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        if self.steps == 1 and action == 2:
            raise ValueError("action 2 is illegal in the second step")
        paid = [(0.0, 0.5, 1.0), (0.0, 1.0, 10.0)][self.steps][int(action)]
        self.steps += 1
        observation, info = self._show()
        return observation, paid, self.steps == 2, False, info

    def _show(self) -> tuple[Any, dict[str, Any]]:
        mask = np.array([1, 1, self.steps == 0], np.int8)
        return np.array([self.steps / 2.0], np.float32), {"action_mask": mask}


SPECS: dict[str, Any] = {}
for _name, _make, _more in (
    ("Target-v0", Target, {}),
    ("Late-v0", Late, {}),
    ("EndlessBox-v0", Endless, {"max_episode_steps": 2}),
    ("Lamp-v0", Lamp, {"kwargs": {"size": 7}}),
    ("LampLarge-v0", Lamp, {"kwargs": {"size": 36}}),
    ("Unbounded-v0", Unbounded, {}),
    ("Pictures-v0", Pictures, {}),
    ("LateMask-v0", LateMask, {}),
):
    gym.register(_name, _make, disable_env_checker=True, **_more)
    SPECS[_name] = gym.registry.pop(_name)


@pytest.fixture(autouse=True)
def off_policy_probes() -> Iterator[None]:
    """The environments of this module, by name, for as long as a test takes."""
    gym.registry.update(SPECS)
    yield
    for name in SPECS:
        gym.registry.pop(name, None)


def train(
    name: str, env_id: str, folder: Path, *, stop_at: int = 0, resume: bool = False, **settings: Any
) -> Any:
    """Train in ``folder`` as the command does, and give back what was learnt.

    Args:
        name: The algorithm.
        env_id: The environment.
        folder: Where policy, state and reports go.
        stop_at: Stop at this step, keeping everything.
        resume: Continue with what ``folder`` holds.
        settings: Of the training.
    """
    config = algorithm(name).config_class(env_id=env_id, **settings)
    restored = read_state(folder, name) if resume else None
    environments = Environments(config, restored.values["environments"] if restored else None)
    run = TrainingRun(folder)
    with contextlib.closing(run), contextlib.closing(environments):
        session = Session(name, config, environments, run, restored=restored)
        run.start(name, env_id, config.seed, config.total_steps, session.step)
        if stop_at:
            _stop_at(session, folder, stop_at)
        session.learner = load(algorithm(name).train)(config, environments, session)
        session.save()
        return session.learner


def _stop_at(session: Session, folder: Path, step: int) -> None:
    """Have the training hear the wish to stop at a step."""
    advance = session.advance

    def advance_and_ask(now: int, learner: Any) -> bool:
        if now >= step:
            ask(folder, "stop")
        return advance(now, learner)

    session.advance = advance_and_ask  # type: ignore[method-assign]
