"""Wrapper with which an episode can be continued in another process, without pickling the environment.

Gymnasium environments draw random numbers only from their own ``np_random``. The generator's state at the
start of the episode and the actions since then therefore restore the episode: the actions are played again,
and the last observation must then equal the recorded one.
"""

# Values returned by environments are untyped.

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import gymnasium as gym
import numpy as np

MOST_ACTIONS = 20_000
"""Longest episode, in steps, that is continued; replaying a longer one would take too long."""


class Continuable(gym.Wrapper[Any, Any, Any, Any]):
    """Wrapper that records what is needed to restore the current episode in another process.

    Args:
        env: The environment.
        snapshot: Result of :meth:`snapshot`; the first reset then restores this episode.
    """

    def __init__(self, env: gym.Env[Any, Any], snapshot: Mapping[str, Any] | None = None) -> None:
        super().__init__(env)
        self._goal = snapshot
        self._continued = False
        self._seed: int | None = None
        self._generator: dict[str, Any] | None = None
        self._actions: list[Any] = []
        self._last: Any = None

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        """Restore the snapshot's episode at the first call if possible; otherwise begin a new one."""
        if self._goal is not None:
            goal, self._goal = self._goal, None
            there = self._go_to(goal)
            if there is not None:
                self._continued = True
                return there
        return self._begin(seed, options)

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Do one step and record it; see :meth:`gymnasium.Env.step`."""
        if len(self._actions) <= MOST_ACTIONS:
            self._actions.append(action)
        result = self.env.step(action)
        self._last = result[0]
        return result

    def snapshot(self) -> dict[str, Any] | None:
        """Return the state of the episode as plain data; ``None`` if the episode is too long."""
        if len(self._actions) > MOST_ACTIONS or self._last is None:
            return None
        return {
            "seed": self._seed,
            "generator": self._generator,
            "actions": [np.asarray(action).tolist() for action in self._actions],
            "seen": _digest(self._last),
        }

    def continued(self) -> bool:
        """Return whether the first reset restored the snapshot's episode."""
        return self._continued

    def _begin(self, seed: int | None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        self._seed, self._actions = seed, []
        self._generator = None if seed is not None else _plain(self.unwrapped.np_random.bit_generator.state)
        observation, info = self.env.reset(seed=seed, options=options)
        self._last = observation
        return observation, info

    def _go_to(self, goal: Mapping[str, Any]) -> tuple[Any, dict[str, Any]] | None:
        """Replay a snapshot's episode; return ``None`` if it ends or its last observation differs."""
        try:
            if goal["generator"] is not None:
                # Seeding first makes the kind of generator that the environment uses.
                self.unwrapped.np_random.bit_generator.state = goal["generator"]
            observation, info = self._begin(goal["seed"])
            for action in goal["actions"]:
                observation, _, terminated, truncated, info = self.step(self._as_action(action))
                if terminated or truncated:
                    return None
        except Exception:  # third-party code may reject this state: a new episode begins
            return None
        return (observation, info) if _digest(observation) == goal["seen"] else None

    def _as_action(self, action: Any) -> Any:
        return np.asarray(action, self.action_space.dtype)[()]


def _digest(observation: Any) -> str:
    array = np.ascontiguousarray(observation)
    return hashlib.sha256(f"{array.dtype}{array.shape}".encode() + array.tobytes()).hexdigest()


def _plain(value: Any) -> Any:
    """Convert a bit generator's state to plain data without numpy types."""
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value
