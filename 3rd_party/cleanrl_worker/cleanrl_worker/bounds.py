"""Scales continuous actions to the bounds of an action space."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray


class Bounds:
    """Scales between [-1, 1] and the box of an environment's actions.

    Args:
        low: Lower bounds, of the box's shape.
        high: Upper bounds, of the box's shape.

    Raises:
        ValueError: A bound is not finite, or a lower bound is not below its upper bound; the message says
            which.
    """

    def __init__(self, low: NDArray[Any], high: NDArray[Any]) -> None:
        self._low, self._high = np.asarray(low, np.float64), np.asarray(high, np.float64)
        if not (np.isfinite(self._low) & np.isfinite(self._high)).all():
            raise ValueError("its actions have no finite bounds")
        if not (self._low < self._high).all():
            raise ValueError("the lower bounds of its actions are not all below the upper ones")
        self.size = math.prod(self._low.shape)

    def scale(self, actions: NDArray[Any]) -> NDArray[np.float64]:
        """Map actions (N, A) in [-1, 1] to (N, *shape) within the bounds."""
        shaped = np.asarray(actions, np.float64).reshape(len(actions), *self._low.shape)
        scaled = self._low + (shaped + 1.0) * 0.5 * (self._high - self._low)
        return np.clip(scaled, self._low, self._high)
