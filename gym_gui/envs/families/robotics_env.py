"""Gymnasium-Robotics environments in which rendering does not change the state."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np


class StatePreservingRender(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Wrapper that restores MuJoCo's state after each rendered picture.

    Before rendering, the package moves the mark of the goal and lets MuJoCo recompute its state. Without the
    wrapper, the next steps would use other forces and lead to other results.
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
    """Return all arrays of MuJoCo's state with their names; its Python interface cannot copy a state."""
    found = ((name, getattr(data, name)) for name in dir(data) if not name.startswith("_"))
    return [(name, value) for name, value in found if isinstance(value, np.ndarray)]
