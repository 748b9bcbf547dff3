"""Robotic warehouse, with pictures that need no display and with correct truncation."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import gymnasium

from gym_gui.core.errors import UsageError
from gym_gui.envs.describers.rware_picture import Robot, draw
from gym_gui.envs.families.tuple_parallel import TupleParallel

_IDLE = 0
_ENUMS: Mapping[str, str] = {
    "reward_type": "RewardType",
    "observation_type": "ObservationType",
    "image_observation_layers": "ImageLayer",
}
"""Name of the package's enumeration for each argument whose values are its members."""


def warehouse(env_id: str, render_mode: str | None, env_kwargs: Mapping[str, Any]) -> TupleParallel:
    """Make an environment of the package ``rware``.

    Args:
        env_id: Id under which the package registers the environment.
        render_mode: ``"rgb_array"`` or ``None``.
        env_kwargs: Arguments of the package's class; members of its enumerations by name, in any case.

    Raises:
        UsageError: An enumeration has no such member.
    """
    module: Any = import_module("rware.warehouse")
    kwargs = {name: _read(module, name, value) for name, value in env_kwargs.items()}
    made: Any = gymnasium.make(env_id, disable_env_checker=True, **kwargs)
    made.unwrapped.render_mode = render_mode
    return TupleParallel(_Warehouse(made), _IDLE)


def _read(module: Any, name: str, value: Any) -> Any:
    if name not in _ENUMS:
        return value
    if isinstance(value, list):
        parts: list[Any] = value  # pyright: ignore[reportUnknownVariableType]
        return [_read(module, name, part) for part in parts]
    known: Mapping[str, Any] = getattr(module, _ENUMS[name]).__members__
    if str(value).upper() not in known:
        raise UsageError(f"{name} is {value!r}", fix=f"There are: {', '.join(map(str.lower, known))}")
    return known[str(value).upper()]


class _Warehouse(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Corrects the package, which reports a time limit as termination and renders only in a window."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self.metadata = {"render_modes": ["rgb_array"], "render_fps": 10}

    @property
    def unwrapped(self) -> Any:
        return self.env.unwrapped

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Play a step; report each end (step limit, or too long without a delivery) as truncation."""
        seen, rewards, ended, _, info = self.env.step(action)
        return seen, rewards, False, bool(ended), info

    def render(self) -> Any:
        if self.render_mode != "rgb_array":
            return None
        game = self.unwrapped
        shelves = {(shelf.y, shelf.x): shelf in game.request_queue for shelf in game.shelfs}
        robots = [Robot(a.y, a.x, a.dir.name.lower(), a.carrying_shelf is not None) for a in game.agents]
        rows, columns = game.grid_size
        return draw(rows, columns, [(y, x) for x, y in game.goals], shelves, robots)
