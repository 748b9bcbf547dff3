"""The robotic warehouse with pictures that need no display, and with ends that say what they are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any, NamedTuple

import gymnasium
import numpy as np
from PIL import Image, ImageDraw

from gym_gui.core.errors import UsageError
from gym_gui.envs.families.tuple_parallel import TupleParallel
from gym_gui.envs.pictures import Picture

CELL = 31
"""Pixels of a cell and the line beside it, as in the package's own window."""
_PADDING = 2
_IDLE = 0
_WAYS: Mapping[str, tuple[int, int]] = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}
_ENUMS: Mapping[str, str] = {
    "reward_type": "RewardType",
    "observation_type": "ObservationType",
    "image_observation_layers": "ImageLayer",
}
"""Arguments of the package that are written as words here."""
_GROUND, _LINES, _GOAL, _GREY = (255, 255, 255), (0, 0, 0), (60, 60, 60), (170, 170, 170)
_SHELF, _ASKED_FOR = (72, 61, 139), (0, 128, 128)
_ROBOT, _LOADED, _OWN = (255, 140, 0), (255, 0, 0), (255, 0, 255)
"""The package's colours, and a frame for whom a picture is for."""


class Robot(NamedTuple):
    """A robot to be drawn.

    Attributes:
        row: Where it is.
        column: Where it is.
        way: ``up``, ``down``, ``left`` or ``right``.
        loaded: Whether it is known to carry a shelf.
    """

    row: int
    column: int
    way: str
    loaded: bool = False


def warehouse(env_id: str, render_mode: str | None, env_kwargs: Mapping[str, Any]) -> TupleParallel:
    """Make an environment of the package.

    Args:
        env_id: As the package registers it.
        render_mode: ``"rgb_array"`` or ``None``.
        env_kwargs: For the package's class; its enumerations by name, in any case.

    Raises:
        UsageError: One of its enumerations has no such name.
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
    """What the package leaves undone: it tells time that is up as an end, and draws in a window alone."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self.metadata = {"render_modes": ["rgb_array"], "render_fps": 10}

    @property
    def unwrapped(self) -> Any:
        return self.env.unwrapped

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Work in a warehouse has no end: it is cut by time, or when nothing is delivered for long."""
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


def draw(
    rows: int,
    columns: int,
    goals: Iterable[tuple[int, int]],
    shelves: Mapping[tuple[int, int], bool],
    robots: Iterable[Robot],
    *,
    own: tuple[int, int] | None = None,
    outside: Iterable[tuple[int, int]] = (),
) -> Picture:
    """A warehouse as the package's window shows it.

    Args:
        rows: Of the picture.
        columns: Of the picture.
        goals: Row and column of each.
        shelves: Whether it is asked for, by row and column.
        robots: All of them.
        own: Row and column of the robot for which it is drawn; framed.
        outside: Cells that are not in the warehouse; grey.
    """
    picture = Image.new("RGB", (columns * CELL + 1, rows * CELL + 1), _GROUND)
    pen = ImageDraw.Draw(picture)
    for row, column in outside:
        pen.rectangle(_box(row, column, 0), _GREY)
    for n in range(max(rows, columns) + 1):
        pen.line((n * CELL, 0, n * CELL, rows * CELL), _LINES)
        pen.line((0, n * CELL, columns * CELL, n * CELL), _LINES)
    for row, column in goals:
        pen.rectangle(_box(row, column, 1), _GOAL)
        pen.text(_middle(row, column), "G", _GROUND, anchor="mm", font_size=18)
    for (row, column), asked in shelves.items():
        pen.rectangle(_box(row, column, _PADDING + 1), _ASKED_FOR if asked else _SHELF)
    for robot in robots:
        _draw_robot(pen, robot, own == (robot.row, robot.column))
    return np.asarray(picture)


def _draw_robot(pen: ImageDraw.ImageDraw, robot: Robot, own: bool) -> None:
    (x, y), radius = _middle(robot.row, robot.column), CELL // 3
    colour = _LOADED if robot.loaded else _ROBOT
    pen.ellipse(
        (x - radius, y - radius, x + radius, y + radius), colour, _OWN if own else None, 3 if own else 0
    )
    right, down = _WAYS[robot.way]
    pen.line((x, y, x + right * radius, y + down * radius), _LINES, 2)


def _box(row: int, column: int, inset: int) -> tuple[int, int, int, int]:
    left, top = column * CELL, row * CELL
    return left + inset, top + inset, left + CELL - inset, top + CELL - inset


def _middle(row: int, column: int) -> tuple[int, int]:
    return column * CELL + CELL // 2 + 1, row * CELL + CELL // 2 + 1
