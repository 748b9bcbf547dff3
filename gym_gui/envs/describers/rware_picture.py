"""Draws a robotic warehouse like the package's own window, without a display."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

import numpy as np
from PIL import Image, ImageDraw

from gym_gui.envs.pictures import Picture

CELL: Final = 31
"""Pixels of a warehouse cell with the line beside it, as in the package's own window."""
_PADDING = 2
_WAYS: Mapping[str, tuple[int, int]] = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}
_GROUND, _LINES, _GOAL, _GREY = (255, 255, 255), (0, 0, 0), (60, 60, 60), (170, 170, 170)
_SHELF, _ASKED_FOR = (72, 61, 139), (0, 128, 128)
_ROBOT, _LOADED, _OWN = (255, 140, 0), (255, 0, 0), (255, 0, 255)
"""The package's colors, and a color for the frame of the robot that the picture is for."""


class Robot(NamedTuple):
    """Robot in a picture of a warehouse.

    Attributes:
        row: Row of the robot.
        column: Column of the robot.
        way: ``up``, ``down``, ``left`` or ``right``.
        loaded: Whether the robot is known to carry a shelf.
    """

    row: int
    column: int
    way: str
    loaded: bool = False


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
    """Return a picture of a robotic warehouse, similar to the package's window.

    Args:
        rows: Rows of the picture.
        columns: Columns of the picture.
        goals: Row and column of each goal.
        shelves: Whether a shelf is requested, by its row and column.
        robots: All robots.
        own: Row and column of the observing robot, which gets a frame; ``None`` for none.
        outside: Cells outside of the warehouse; drawn grey.
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
    color = _LOADED if robot.loaded else _ROBOT
    pen.ellipse(
        (x - radius, y - radius, x + radius, y + radius), color, _OWN if own else None, 3 if own else 0
    )
    right, down = _WAYS[robot.way]
    pen.line((x, y, x + right * radius, y + down * radius), _LINES, 2)


def _box(row: int, column: int, inset: int) -> tuple[int, int, int, int]:
    left, top = column * CELL, row * CELL
    return left + inset, top + inset, left + CELL - inset, top + CELL - inset


def _middle(row: int, column: int) -> tuple[int, int]:
    return column * CELL + CELL // 2 + 1, row * CELL + CELL // 2 + 1
