"""A map of a MiniGrid environment, built from the agent's observations.

Coordinates are relative to the start of the episode: the agent starts at (0, 0), x grows to the right and y
downward, as in MiniGrid. Directions are those of the environment (``direction``: 0 right, 1 down, 2 left, 3
up). Encodings are those of ``minigrid.core.constants`` (object, color, state).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Point = tuple[int, int]

EMPTY, WALL, FLOOR, DOOR, KEY, BALL, BOX, GOAL, LAVA = 1, 2, 3, 4, 5, 6, 7, 8, 9
OPEN, CLOSED, LOCKED = 0, 1, 2
LEFT, RIGHT, FORWARD, PICKUP, DROP, TOGGLE, DONE = range(7)
VECTORS: tuple[Point, ...] = ((1, 0), (0, 1), (-1, 0), (0, -1))
MOVABLE = frozenset((KEY, BALL, BOX))


class Cell(NamedTuple):
    """Content of a cell when last seen: MiniGrid's object, color and state numbers."""

    kind: int
    color: int
    state: int


class ObservedMap:
    """Map of all cells seen so far, with the agent's pose.

    Attributes:
        cells: Seen cells by position.
        position: Position of the agent.
        direction: Direction of the agent, 0-3.
        carrying: Carried object, or ``None``.
        start_direction: Direction of the agent at the start.
        start_room: Cells seen before the agent first went through a door; ``None`` until then.
    """

    def __init__(self) -> None:
        self.cells: dict[Point, Cell] = {}
        self.position: Point = (0, 0)
        self.direction = 0
        self.start_direction: int | None = None
        self.start_room: frozenset[Point] | None = None
        self.carrying: Cell | None = None
        self._offsets: list[list[tuple[int, int, int, int]]] = []

    @property
    def front(self) -> Point:
        """The cell the agent faces."""
        dx, dy = VECTORS[self.direction]
        return self.position[0] + dx, self.position[1] + dy

    def moved(self, action: int) -> None:
        """Update the agent's position after its own ``action``; call this before :meth:`add_observation`."""
        cell = self.cells.get(self.front)
        if action == FORWARD and cell is not None and walkable(cell):
            self.position = self.front
            if cell.kind == DOOR and self.start_room is None:
                self.start_room = frozenset(self.cells)

    def add_observation(self, image: NDArray[np.integer], direction: int) -> None:
        """Add an observation to the map.

        Args:
            image: Shape (V, V, 3), V odd; the agent is at ``[V // 2, V - 1]`` and looks towards ``[:, 0]``.
            direction: Direction of the agent.
        """
        if not self._offsets:
            self._offsets = _view_offsets(image.shape[0])
        if self.start_direction is None:
            self.start_direction = direction
        self.direction = direction
        view = image.tolist()
        x, y = self.position
        for i, j, dx, dy in self._offsets[direction]:
            kind, color, state = view[i][j]
            if kind:
                self.cells[x + dx, y + dy] = Cell(kind, color, state)
        # The agent's own cell shows the carried object, not the door it may be in.
        own = Cell(*view[image.shape[0] // 2][image.shape[1] - 1])
        self.carrying = own if own.kind in MOVABLE else None
        if (x, y) not in self.cells or self.cells[x, y].kind != DOOR:
            self.cells[x, y] = Cell(EMPTY, 0, 0)

    def find(self, kinds: frozenset[int], color: int | None = None) -> set[Point]:
        """Return the positions of seen objects of one of ``kinds`` and of ``color`` (``None`` for any
        color).
        """
        return {p for p, c in self.cells.items() if c.kind in kinds and color in (None, c.color)}


def walkable(cell: Cell) -> bool:
    """Return whether the agent can enter a cell and survive."""
    return cell.kind in (EMPTY, FLOOR, GOAL) or (cell.kind == DOOR and cell.state == OPEN)


def _view_offsets(size: int) -> list[list[tuple[int, int, int, int]]]:
    """Return, for each direction, (i, j, dx, dy) of every view cell except the agent's own."""
    half = size // 2
    result: list[list[tuple[int, int, int, int]]] = []
    for fx, fy in VECTORS:
        rows: list[tuple[int, int, int, int]] = []
        for i in range(size):
            for j in range(size):
                side, ahead = i - half, size - 1 - j
                if side or ahead:
                    rows.append((i, j, fx * ahead - fy * side, fy * ahead + fx * side))
        result.append(rows)
    return result
