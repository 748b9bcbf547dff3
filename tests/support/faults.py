"""Environments that wait for a test, or die, in the middle of a chosen episode.

Named in experiments as ``tests.support.faults:gated`` and so on; they run inside real
session host processes.
"""

from __future__ import annotations

import ctypes
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gymnasium as gym
from pettingzoo.utils import BaseParallelWrapper

_AT_STEP = 2


class _Deed:
    """Does something at the third step of episodes with one seed.

    Args:
        deed: ``wait`` until ``<folder>/open`` exists, ``segfault``, ``exit``, or ``nothing``.
        folder: Where ``reached-<pid>`` is left before it.
        at: The seed.
        times: How often in all, over all processes; without it, always.
    """

    def __init__(self, deed: str, folder: str, at: int, times: int | None) -> None:
        self._deed, self._folder, self._at, self._times = deed, Path(folder), at, times
        self._seed, self._step = -1, 0

    def reset(self, seed: int | None) -> None:
        self._seed, self._step = -1 if seed is None else seed, 0

    def step(self) -> None:
        self._step += 1
        if self._step != _AT_STEP or self._seed != self._at or self._deed == "nothing":
            return
        before = len(list(self._folder.glob("reached-*")))
        (self._folder / f"reached-{os.getpid()}-{before}").touch()
        if self._times is not None and before >= self._times:
            return
        if self._deed == "segfault":
            ctypes.string_at(0)
        elif self._deed == "exit":
            os._exit(7)
        while not (self._folder / "open").exists():
            time.sleep(0.005)


class Gated(gym.Wrapper[Any, Any, Any, Any]):
    """A Gymnasium environment with a deed in it."""

    def __init__(self, env: gym.Env[Any, Any], deed: _Deed) -> None:
        super().__init__(env)
        self._deed = deed

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        self._deed.reset(seed)
        return self.env.reset(seed=seed, options=options)

    def step(self, action: Any) -> Any:
        self._deed.step()
        return self.env.step(action)


def gated(
    folder: str, at: int, deed: str = "wait", times: int | None = None, base: str = "CartPole-v1"
) -> Gated:
    """A registered environment with a deed in it."""
    return Gated(gym.make(base), _Deed(deed, folder, at, times))


class GatedSpread(BaseParallelWrapper[Any, Any, Any]):
    """Three agents who move at once, with a deed among them."""

    def __init__(self, folder: str, at: int, deed: str = "wait", times: int | None = None) -> None:
        # Not above: it loads pygame, which would turn the segmentation faults into aborts.
        from mpe2 import simple_spread_v3

        super().__init__(simple_spread_v3.parallel_env(N=3, max_cycles=6))
        self._deed = _Deed(deed, folder, at, times)

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> Any:
        self._deed.reset(seed)
        return super().reset(seed=seed, options=dict(options or {}))

    def step(self, actions: Mapping[str, Any]) -> Any:
        self._deed.step()
        return super().step(dict(actions))
