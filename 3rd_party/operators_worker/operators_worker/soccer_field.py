"""Layout of MosaicMultiGrid's soccer field, as published, and the positions that agree with a view.

The field is 16 x 11 cells with a wall around it; each goal is three cells before the end wall. Green (team 1)
defends the left goal, blue (team 2) the right one. Observations encode a cell as (object, color, state); the
state of an agent with the ball is increased by 100. The agent's own cell shows the object that it carries.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Point = tuple[int, int]

WIDTH, HEIGHT = 16, 11
UNSEEN, WALL, BALL, AGENT, GOAL = 0, 2, 6, 10, 11
GREEN, BLUE = 1, 2
GOALS: dict[int, tuple[Point, ...]] = {
    GREEN: ((1, 4), (1, 5), (1, 6)),
    BLUE: ((14, 4), (14, 5), (14, 6)),
}
"""Goal cells by the color of the team that defends them."""
NOOP, LEFT, RIGHT, FORWARD, PICKUP, DROP = range(6)
VECTORS: tuple[Point, ...] = ((1, 0), (0, 1), (-1, 0), (0, -1))
CARRYING = 100

_ANY, _FREE, _OPEN = -1, 0, 9
"""Constraints on a cell's fixed content: none; no wall; neither wall nor goal."""


def view_offsets(size: int) -> list[list[Point]]:
    """Return, for each direction, (dx, dy) of every view cell, row by row as ``image.reshape(-1, 3)``."""
    half = size // 2
    cells = [(i - half, size - 1 - j) for i in range(size) for j in range(size)]
    return [[(fx * ahead - fy * side, fy * ahead + fx * side) for side, ahead in cells] for fx, fy in VECTORS]


class Locator:
    """Finds the positions that agree with a view.

    Args:
        size: Width of the square view.
    """

    def __init__(self, size: int) -> None:
        ground = np.full((WIDTH + 2 * size, HEIGHT + 2 * size), WALL, np.int8)
        ground[size + 1 : size + WIDTH - 1, size + 1 : size + HEIGHT - 1] = _OPEN
        for color, cells in GOALS.items():
            for x, y in cells:
                ground[size + x, size + y] = GOAL + color
        self.offsets = view_offsets(size)
        self._own = (size // 2) * size + size - 1
        x, y = np.meshgrid(np.arange(WIDTH), np.arange(HEIGHT), indexing="ij")
        self._expected = [
            np.stack([ground[size + x + dx, size + y + dy] for dx, dy in offsets], axis=-1)
            for offsets in self.offsets
        ]

    def everywhere(self) -> NDArray[np.bool_]:
        """Return all cells on which an agent can be, shape (WIDTH, HEIGHT)."""
        possible = np.zeros((WIDTH, HEIGHT), np.bool_)
        possible[1:-1, 1:-1] = True
        return possible

    def agree(self, image: NDArray[np.integer], direction: int) -> NDArray[np.bool_]:
        """Return the positions from which ``image`` can be seen, shape (WIDTH, HEIGHT)."""
        codes = np.array([_ground(kind, color) for kind, color, _ in image.reshape(-1, 3).tolist()])
        codes[self._own] = _ANY
        expected = self._expected[direction]
        same = (expected == codes) | (codes == _ANY) | ((codes == _FREE) & (expected != WALL))
        return same.all(axis=-1)


def _ground(kind: int, color: int) -> int:
    """Return the fixed content of the field under a seen cell."""
    if kind == UNSEEN:
        return _ANY
    if kind == AGENT:
        return _FREE
    if kind == GOAL:
        return GOAL + color
    return WALL if kind == WALL else _OPEN
