"""Environments for servers: made there, by name, in a process of their own."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces


class Corridor(gymnasium.Env[Any, Any]):
    """Walk right to the end; says in words and facts where one is."""

    metadata = {  # noqa: RUF012
        "render_modes": ["rgb_array", "ansi"],
        "action_meanings": ["left", "stay", "right"],
        "noop": 1,
        "default": 2,
    }

    def __init__(self, length: int = 4, render_mode: str | None = None) -> None:
        self.length, self.render_mode = length, render_mode
        self.observation_space = spaces.Dict(
            {"at": spaces.Discrete(length), "glow": spaces.Box(0.0, 1.0, (2,), np.float32)}
        )
        self.action_space = spaces.Discrete(3)
        self.at = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, Any]:
        super().reset(seed=seed)
        self.at = int((options or {}).get("at", 0))
        return self._seen(), {"doors": np.arange(3, dtype=np.int16), "name": "corridor"}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, Any]:
        self.at = min(self.length - 1, max(0, self.at + int(action) - 1))
        done = self.at == self.length - 1
        return self._seen(), float(done), done, False, {"is_success": done}

    def _seen(self) -> Any:
        return {"at": self.at, "glow": self.np_random.random(2, dtype=np.float32)}

    def render(self) -> Any:
        if self.render_mode == "ansi":
            return "." * self.at + "@"
        picture = np.zeros((8, 8 * self.length, 3), np.uint8)
        picture[:, 8 * self.at : 8 * self.at + 8] = 200
        return picture

    def mosaic_text(self, agent: str) -> str:
        """In words."""
        return f"You stand at {self.at} of {self.length - 1}."

    def mosaic_facts(self, agent: str) -> list[list[Any]]:
        """As facts."""
        return [["at", self.at], ["end", self.length - 1]]

    def mosaic_briefing(self, agent: str) -> str:
        """The game."""
        return "Walk to the end of the corridor."

    def mosaic_success(self) -> bool:
        """Whether it was solved."""
        return self.at == self.length - 1


class Faulty(Corridor):
    """A corridor in which something goes wrong at a step of one's choice.

    Args:
        what: ``raise``, ``lose``, ``segfault``, ``exit``, ``hang``, ``hang_in_reset``, ``outside``.
        once: A file; where it exists, nothing goes wrong any more. It is made when it does.
        at_step: When.
    """

    def __init__(self, what: str, once: str = "", at_step: int = 2, length: int = 6) -> None:
        super().__init__(length)
        self.what, self.once, self.at_step, self.steps = what, once, at_step, 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, Any]:
        self.steps = 0
        if self.what == "hang_in_reset" and self._still():
            time.sleep(3600)
        return super().reset(seed=seed, options=options)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, Any]:
        self.steps += 1
        if self.steps == self.at_step and self._still():
            if self.what == "raise":
                raise KeyError("the lamp is out")
            if self.what == "lose":
                raise WorldLost("the corridor has fallen in")
            if self.what == "segfault":
                ctypes.string_at(0)
            if self.what == "exit":
                raise SystemExit(3)
            if self.what == "hang":
                time.sleep(3600)
            if self.what == "outside":
                return {"at": "here", "glow": None}, 0.0, False, False, {}
        return super().step(action)

    def _still(self) -> bool:
        if not self.once:
            return True
        if Path(self.once).exists():
            return False
        Path(self.once).touch()
        return True


class WorldLost(Exception):
    """What speaks to a simulator raises where that is gone."""

    mosaic_lost = True


class Only(Corridor):
    """A corridor of which there is one in the world.

    Args:
        lock: A file that is there while an episode is played; two at once cannot be.
    """

    def __init__(self, lock: str, length: int = 6) -> None:
        super().__init__(length)
        self.lock, self.steps = Path(lock), 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, Any]:
        self.lock.touch(exist_ok=False)
        self.steps = 0
        return super().reset(seed=seed, options=options)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, Any]:
        self.steps += 1
        time.sleep(0.002)
        seen, reward, over, _, info = super().step(action)
        cut = self.steps >= 8
        if over or cut:
            self.lock.unlink()
        return seen, reward, over, cut, info


class OldCorridor:
    """The corridor as old gym had it: seeds by ``seed()``, four values, ``render(mode)``."""

    metadata = {"render.modes": ["rgb_array"]}  # noqa: RUF012

    def __init__(self) -> None:
        self.observation_space, self.action_space = spaces.Box(0, 9, (1,), np.int64), spaces.Discrete(3)
        self.random, self.at = np.random.default_rng(0), 0

    def seed(self, seed: int) -> None:
        """Old gym's way."""
        self.random = np.random.default_rng(seed)

    def reset(self) -> Any:
        """The observation alone."""
        self.at = int(self.random.integers(0, 3))
        return np.array([self.at])

    def step(self, action: int) -> tuple[Any, float, bool, Mapping[str, Any]]:
        """Four values; cut off at 9."""
        self.at = min(9, max(0, self.at + int(action) - 1))
        over = self.at == 9
        return np.array([self.at]), float(over), over, {"TimeLimit.truncated": True} if over else {}

    def render(self, mode: str = "human") -> Any:
        """A grey strip."""
        assert mode == "rgb_array"
        return np.full((4, 4), self.at, np.uint8)

    def close(self) -> None:
        """Nothing to do."""
