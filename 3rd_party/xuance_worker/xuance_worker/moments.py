"""Running mean and variance, to normalize observations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

EPSILON, CLIP = 1e-8, 10.0


class Moments:
    """Mean and variance of all vectors so far (Chan, Golub and LeVeque 1983), in double precision.

    Args:
        size: Length of a vector.
        state: Result of :meth:`state`, to continue from.
    """

    def __init__(self, size: int, state: Mapping[str, Any] | None = None) -> None:
        given = state or {}
        self._mean = np.asarray(given.get("mean", np.zeros(size)), np.float64)
        self._var = np.asarray(given.get("var", np.ones(size)), np.float64)
        self._count = float(given.get("count", 1e-4))

    def update(self, vector: NDArray[Any]) -> None:
        """Include a vector in the moments."""
        total = self._count + 1.0
        delta = vector - self._mean
        self._var = (self._var * self._count + delta**2 * self._count / total) / total
        self._mean = self._mean + delta / total
        self._count = total

    def normalized(self, vector: NDArray[Any]) -> NDArray[np.float32]:
        """Return the vector scaled to mean 0 and variance 1, clipped to ±10."""
        moved = (vector - self._mean) / np.sqrt(self._var + EPSILON)
        return np.clip(moved, -CLIP, CLIP).astype(np.float32)

    def step(self) -> dict[str, Any]:
        """Return the same normalization as a preprocessing step."""
        return {
            "step": "normalize",
            "mean": self._mean.tolist(),
            "var": self._var.tolist(),
            "epsilon": EPSILON,
            "clip": CLIP,
        }

    def state(self) -> dict[str, Any]:
        """Return plain data from which another instance can continue."""
        return {"mean": self._mean.tolist(), "var": self._var.tolist(), "count": self._count}
