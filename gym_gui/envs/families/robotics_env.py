"""Gymnasium-Robotics whose pictures change nothing."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np


class UndisturbedByLooks(gymnasium.Wrapper[Any, Any, Any, Any]):
    """An environment that goes on after a picture as if there had been none.

    The package moves the mark of the goal before it draws, and has MuJoCo work the state out anew for that:
    the next steps then begin from other forces, and go another way.
    """

    def render(self) -> Any:
        data: Any = getattr(self.unwrapped, "data", None)
        kept = {name: value.copy() for name, value in _arrays(data)}
        try:
            return self.env.render()
        finally:
            for name, value in _arrays(data):
                if value.shape == kept[name].shape:  # forces of contacts are worked out by each step itself
                    value[...] = kept[name]


def _arrays(data: Any) -> list[tuple[str, Any]]:
    """All arrays of MuJoCo's state; its Python cannot copy one state into another."""
    found = ((name, getattr(data, name)) for name in dir(data) if not name.startswith("_"))
    return [(name, value) for name, value in found if isinstance(value, np.ndarray)]
