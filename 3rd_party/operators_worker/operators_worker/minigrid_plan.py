"""Shortest plans over poses (x, y, direction) on a :class:`~operators_worker.minigrid_map.ObservedMap`.

The search is Dijkstra's algorithm; a turn or a step costs one action, a closed door two, and moving an
obstacle out of the way (pick it up, put it aside) eight.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection
from typing import NamedTuple

from operators_worker.minigrid_map import (
    CLOSED,
    DOOR,
    FORWARD,
    KEY,
    LEFT,
    MOVABLE,
    OPEN,
    RIGHT,
    VECTORS,
    Cell,
    ObservedMap,
    Point,
    walkable,
)

Pose = tuple[int, int, int]
_OBSTACLE_COST = 8


def front_of(pose: Pose) -> Point:
    """Return the cell that is faced from ``pose``."""
    dx, dy = VECTORS[pose[2]]
    return pose[0] + dx, pose[1] + dy


def unlocks(carrying: Cell | None, door: Cell) -> bool:
    """Return whether the carried object is a key that fits the locked ``door``."""
    return carrying is not None and carrying.kind == KEY and carrying.color == door.color


class AllowedActions(NamedTuple):
    """Actions that a plan may use on its way.

    Attributes:
        doors: Open closed doors.
        key: Unlock doors with the carried key.
        lift: Move objects out of the way.
        look: Go to closed doors to see the cells behind them.
    """

    doors: bool = True
    key: bool = True
    lift: bool = False
    look: bool = True


PLAIN = AllowedActions()
NO_KEY = AllowedActions(key=False)
LIFTING = AllowedActions(lift=True)
WALKING = AllowedActions(doors=False, key=False, look=False)


class Planner:
    """Finds shortest paths from the agent's pose.

    Every search returns the poses from the current one to the end, or ``None`` if there is no path.

    Args:
        seen: The map, which is read at each call.
    """

    def __init__(self, seen: ObservedMap) -> None:
        self._seen = seen

    def to_cells(self, cells: Collection[Point]) -> list[Pose] | None:
        """Return a path onto one of ``cells``."""
        return self._search(lambda pose: (pose[0], pose[1]) in cells, PLAIN) if cells else None

    def to_face(self, cells: Collection[Point], way: AllowedActions = PLAIN) -> list[Pose] | None:
        """Return a path to a pose that faces one of ``cells``."""
        return self._search(lambda pose: front_of(pose) in cells, way) if cells else None

    def to_unseen(self, way: AllowedActions = PLAIN) -> list[Pose] | None:
        """Return a path to the nearest pose that faces an unseen cell.

        Closed doors count only if all cells on this side of the doors have been seen: opening a wrong door
        ends some episodes (MiniGrid-GoToDoor, MiniGrid-RedBlueDoors).
        """
        known = self._seen.cells

        def faces_door(pose: Pose) -> bool:
            cell = known.get(front_of(pose))
            return cell is not None and self._shut(cell, way)

        path = self._search(lambda pose: front_of(pose) not in known, way._replace(doors=False))
        return path or (self._search(faces_door, way) if way.look else None)

    def _shut(self, cell: Cell, way: AllowedActions) -> bool:
        """Return whether a cell is a door that is not open and can be opened."""
        if cell.kind != DOOR or cell.state == OPEN:
            return False
        return cell.state == CLOSED or (way.key and unlocks(self._seen.carrying, cell))

    def _cost(self, cell: Cell | None, way: AllowedActions) -> int:
        """Return the number of actions to enter the cell ahead; 0 if it cannot be entered."""
        if cell is None:
            return 0
        if walkable(cell):
            return 1
        if self._shut(cell, way):
            return 2 if way.doors else 0
        return _OBSTACLE_COST if way.lift and cell.kind in MOVABLE else 0

    def _search(self, done: Callable[[Pose], bool], way: AllowedActions) -> list[Pose] | None:
        cells = self._seen.cells
        start: Pose = (*self._seen.position, self._seen.direction)
        before: dict[Pose, Pose] = {start: start}
        cost = {start: 0}
        queue: list[tuple[int, int, Pose]] = [(0, 0, start)]
        count = 0
        while queue:
            spent, _, pose = heapq.heappop(queue)
            if spent > cost[pose]:
                continue
            if done(pose):
                return _walk_back(pose, before)
            x, y, d = pose
            ahead = front_of(pose)
            steps = [((x, y, (d - 1) % 4), 1), ((x, y, (d + 1) % 4), 1)]
            if price := self._cost(cells.get(ahead), way):
                steps.insert(0, ((*ahead, d), price))
            for after, price in steps:
                if spent + price < cost.get(after, 1 << 30):
                    cost[after] = spent + price
                    before[after] = pose
                    count += 1
                    heapq.heappush(queue, (spent + price, count, after))
        return None


def _walk_back(pose: Pose, before: dict[Pose, Pose]) -> list[Pose]:
    path = [pose]
    while before[pose] != pose:
        pose = before[pose]
        path.append(pose)
    return path[::-1]


def first_move(path: list[Pose]) -> int | None:
    """Return the action from the first to the second pose of ``path``; ``None`` without a second pose."""
    if len(path) < 2:
        return None
    turn = (path[1][2] - path[0][2]) % 4
    return FORWARD if turn == 0 else RIGHT if turn == 1 else LEFT
