"""Running mean and variance, to normalize observations and rewards."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

EPSILON = 1e-8


class RunningMoments:
    """Mean and variance of all batches, by the parallel algorithm of Chan, Golub and LeVeque, 1979.

    Args:
        shape: Shape of one observation.
        state: Result of :meth:`state`, to continue from.
    """

    def __init__(self, shape: tuple[int, ...], state: Mapping[str, Any] | None = None) -> None:
        state = state or {}
        self.mean = np.array(state.get("mean", np.zeros(shape)), np.float64)
        self.var = np.array(state.get("var", np.ones(shape)), np.float64)
        self.count = float(state.get("count", 1e-4))

    def update(self, batch: NDArray[Any]) -> None:
        """Include a batch of shape (N, *shape) in the moments."""
        values = batch.astype(np.float64)
        count = len(values)
        delta = values.mean(axis=0) - self.mean
        total = self.count + count
        squares = self.var * self.count + values.var(axis=0) * count
        self.var = (squares + delta**2 * (self.count * count / total)) / total
        self.mean = self.mean + delta * (count / total)
        self.count = total

    def normalized(self, batch: NDArray[Any], clip: float) -> NDArray[np.float32]:
        """Return a batch scaled to mean 0 and variance 1, clipped to ±``clip``."""
        shown = (batch - self.mean) / np.sqrt(self.var + EPSILON)
        return np.clip(shown, -clip, clip).astype(np.float32)

    def step(self, clip: float) -> dict[str, Any]:
        """Return the same normalization as a step of :mod:`mosaic_worker.preprocessing`."""
        mean, var = self.mean.tolist(), self.var.tolist()
        return {"step": "normalize", "mean": mean, "var": var, "epsilon": EPSILON, "clip": clip}

    def state(self) -> dict[str, Any]:
        """Return plain data from which another instance can continue."""
        return {"mean": self.mean.tolist(), "var": self.var.tolist(), "count": self.count}


class RewardScale:
    """Divides rewards by the standard deviation of the discounted return, as ``NormalizeReward`` does.

    Args:
        count: Number of copies of the environment.
        gamma: Discount factor.
        state: Result of :meth:`state`, to continue from.
    """

    def __init__(self, count: int, gamma: float, state: Mapping[str, Any] | None = None) -> None:
        state = state or {}
        self._gamma = gamma
        self._return = np.array(state.get("return", np.zeros(count)), np.float64)
        self._moments = RunningMoments((), state.get("moments"))

    def __call__(self, rewards: NDArray[np.float64], dones: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return scaled rewards, clipped to ±10."""
        self._return = self._return * self._gamma + rewards
        self._moments.update(self._return)
        self._return[dones] = 0.0
        scaled = rewards / np.sqrt(self._moments.var + EPSILON)
        return np.clip(scaled, -10.0, 10.0)

    def state(self) -> dict[str, Any]:
        """Return plain data from which another instance can continue."""
        return {"return": self._return.tolist(), "moments": self._moments.state()}
