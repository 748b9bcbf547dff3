"""Gymnasium-Robotics with pictures that do not change the state."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np


class UndisturbedByLooks(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Environment that continues after a picture as if none had been drawn.

    The package moves the goal's mark before it draws and lets MuJoCo recompute the state for that. The next
    steps would then begin with other forces and take another course.
    """

    def render(self) -> Any:
        data: Any = getattr(self.unwrapped, "data", None)
        kept = {name: value.copy() for name, value in _arrays(data)}
        try:
            return self.env.render()
        finally:
            for name, value in _arrays(data):
                if value.shape == kept[name].shape:  # contact forces are recomputed by each step
                    value[...] = kept[name]


def _arrays(data: Any) -> list[tuple[str, Any]]:
    """Return all arrays of MuJoCo's state; its Python interface cannot copy one state into another."""
    found = ((name, getattr(data, name)) for name in dir(data) if not name.startswith("_"))
    return [(name, value) for name, value in found if isinstance(value, np.ndarray)]
