"""Chooses the next action for a task from a map of a MiniGrid environment."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from operators_worker.minigrid_map import (
    BOX,
    CLOSED,
    DONE,
    DOOR,
    DROP,
    EMPTY,
    FORWARD,
    GOAL,
    KEY,
    LOCKED,
    MOVABLE,
    OPEN,
    PICKUP,
    RIGHT,
    TOGGLE,
    VECTORS,
    Cell,
    ObservedMap,
    Point,
)
from operators_worker.minigrid_mission import MissionObject, Task
from operators_worker.minigrid_plan import LIFTING, NO_KEY, WALKING, Planner, Pose, first_move, unlocks


class Guide:
    """Chooses the actions of one episode that carry out a list of tasks.

    A task counts as done when the action for which BabyAI's verifier waits has just been played; a door that
    was open from the beginning must still be opened.

    Args:
        tasks: Tasks of the mission, in order.
    """

    def __init__(self, tasks: list[Task]) -> None:
        self._tasks = tasks
        self._seen = ObservedMap()
        self._plan = Planner(self._seen)
        self._last: int | None = None
        self._keep_free: set[Point] | None = None

    def act(self, image: NDArray[np.integer], direction: int) -> int:
        """Add an observation to the map (:meth:`ObservedMap.add_observation`) and choose the next action."""
        if self._last is not None:
            self._seen.moved(self._last)
        self._seen.add_observation(image, direction)
        if self._seen.carrying is None:
            self._keep_free = None
        # A carried object that is to be dropped is dropped first.
        self._last = self._choose() if self._keep_free is None else self._put_down(self._keep_free)
        return self._last

    def pursue(self, tasks: list[Task]) -> None:
        """Replace the current tasks by new ones and keep the map."""
        self._tasks, self._keep_free = tasks, None

    def _choose(self) -> int:
        while True:
            action = self._do(self._tasks[0])
            if action is not None:
                return action
            if len(self._tasks) == 1:
                return DONE
            self._tasks.pop(0)
            self._last = None  # the action has completed one task and must not complete another

    def _do(self, task: Task) -> int | None:
        """Return the next action for ``task``; ``None`` if the task is done."""
        if task.verb == "reach":
            return self._enter(self._seen.find(frozenset((GOAL,))))
        if task.verb == "explore":
            return self._look_around()
        targets = self._matching(task.thing)
        if task.verb == "drop":
            return None if self._seen.carrying is None else self._put_down(set())
        if task.verb == "goto":
            return self._face(targets)
        if task.verb == "open":
            return self._open(targets)
        if task.verb == "pickup":
            return self._fetch(task.thing, targets)
        return self._put(task, targets)

    def _matching(self, thing: MissionObject) -> set[Point]:
        found = self._seen.find(thing.kinds, thing.color)
        return {p for p in found if self._lies(p, thing.place)} if thing.place else found

    def _lies(self, point: Point, place: str) -> bool:
        """Return whether ``point`` is on that side of the start pose and in the start room."""
        if self._seen.start_room is not None and point not in self._seen.start_room:
            return False
        fx, fy = VECTORS[self._seen.start_direction or 0]
        ahead, right = point[0] * fx + point[1] * fy, point[1] * fx - point[0] * fy
        return {"front": ahead > 0, "behind": ahead < 0, "right": right > 0, "left": right < 0}[place]

    def _enter(self, cells: set[Point]) -> int:
        """Return an action that leads onto one of ``cells``."""
        path = self._plan.to_cells(cells)
        return self._explore(cells) if path is None else self._along(path)

    def _face(self, cells: Collection[Point]) -> int | None:
        """Return an action that leads to facing one of ``cells``; ``None`` if the agent does so already."""
        if self._seen.front in cells:
            return None
        path = self._plan.to_face(cells)
        return self._explore(cells) if path is None else self._along(path)

    def _open(self, doors: set[Point]) -> int | None:
        cells, front = self._seen.cells, self._seen.front
        if self._last == TOGGLE and front in doors and cells[front].state == OPEN:
            return None
        shut = {p for p in doors if cells[p].state != OPEN}
        ready = {p for p in shut if cells[p].state == CLOSED or unlocks(self._seen.carrying, cells[p])}
        wanted = ready if shut else doors - {self._seen.position}
        if not wanted:
            return self._explore(shut)
        action = self._face(wanted)
        return TOGGLE if action is None else action

    def _fetch(self, thing: MissionObject, targets: set[Point]) -> int | None:
        held = self._seen.carrying
        if held is not None:
            mine = _matches(held, thing)
            if mine and self._last == PICKUP:
                return None
            path = self._plan.to_face(targets, NO_KEY)
            if mine or path is not None:
                return self._put_down(_cells(path))
        action = self._face(targets)
        return PICKUP if action is None else action

    def _put(self, task: Task, targets: set[Point]) -> int | None:
        beside = self._matching(task.beside or MissionObject())
        around = {n for p in beside for n in _neighbors(p)}
        if self._last == DROP and self._seen.front in targets & around:
            return None
        held = self._seen.carrying
        if held is None or not _matches(held, task.thing):
            return self._fetch(task.thing, targets - beside)
        free = {p for p in around if p in self._seen.cells and self._seen.cells[p].kind == EMPTY}
        action = self._face(free - {self._seen.position})
        return DROP if action is None else action

    def _look_around(self) -> int:
        """Explore without touching anything: go to unseen cells, or to doors and objects of possible use."""
        cells = self._seen.cells
        doors = {p for p in self._seen.find(frozenset((DOOR,))) if cells[p].state != OPEN}
        ready = {p for p in doors if cells[p].state == CLOSED or unlocks(self._seen.carrying, cells[p])}
        things = self._seen.find(frozenset((GOAL,)) if self._seen.carrying else MOVABLE | {GOAL})
        ways = (self._plan.to_unseen(WALKING), *(self._plan.to_face(p, WALKING) for p in (ready, things)))
        path = next((way for way in ways if way is not None and len(way) > 1), None)
        return RIGHT if path is None else self._along(path)

    def _explore(self, wanted: Collection[Point]) -> int:
        """Explore; if nothing unseen is reachable, fetch a key or move an obstacle.

        Args:
            wanted: Known cells that cannot be reached at present.
        """
        path = self._plan.to_unseen()
        if path is not None:
            return self._along(path)
        locked = {p for p in self._seen.find(frozenset((DOOR,))) if self._seen.cells[p].state == LOCKED}
        reachable = {p for p in locked if self._plan.to_face({p}) is not None}
        key = self._fetch_key({self._seen.cells[p].color for p in reachable})
        if key is None and reachable:
            key = self._open_box()
        if key is not None:
            return key
        for cells in (wanted, locked - reachable):
            path = self._plan.to_face(cells, LIFTING)
            if path is not None and len(path) > 1:
                return self._along(path)
        path = self._plan.to_unseen(LIFTING)
        return RIGHT if path is None else self._along(path)

    def _fetch_key(self, colors: Collection[int]) -> int | None:
        """Fetch a key of one of ``colors``; return ``None`` if none is reachable."""
        keys = {p for p in self._seen.find(frozenset((KEY,))) if self._seen.cells[p].color in colors}
        path = self._plan.to_face(keys, NO_KEY)
        if path is None:
            return None
        if self._seen.carrying is not None:
            return self._put_down(_cells(path))
        return PICKUP if len(path) == 1 else self._along(path)

    def _open_box(self) -> int | None:
        """Open a box, which may contain a key; return ``None`` if none is reachable."""
        path = self._plan.to_face(self._seen.find(frozenset((BOX,))))
        if path is None:
            return None
        return TOGGLE if len(path) == 1 else self._along(path)

    def _put_down(self, keep_free: set[Point]) -> int:
        """Drop the carried object, neither at a door nor on the cells of ``keep_free``."""
        self._keep_free = keep_free
        cells = self._seen.cells
        empty = {p for p, c in cells.items() if c.kind == EMPTY} - {self._seen.position}
        doors = self._seen.find(frozenset((DOOR,)))
        aside = empty - keep_free - {n for door in doors for n in _neighbors(door)}
        path = self._plan.to_face(aside) or self._plan.to_face(empty)
        if path is None:
            return RIGHT
        return DROP if len(path) == 1 else self._along(path)

    def _along(self, path: list[Pose]) -> int:
        """Return the action that follows ``path``; it opens doors and removes obstacles ahead."""
        move = first_move(path)
        if move in (None, FORWARD):
            front = self._seen.cells.get(self._seen.front)
            if front is not None and front.kind == DOOR and front.state != OPEN:
                return TOGGLE
            if front is not None and front.kind in MOVABLE:
                return self._put_down(_cells(path)) if self._seen.carrying else PICKUP
        return RIGHT if move is None else move


def _matches(held: Cell, thing: MissionObject) -> bool:
    return held.kind in thing.kinds and thing.color in (None, held.color)


def _neighbors(p: Point) -> list[Point]:
    return [(p[0] + dx, p[1] + dy) for dx, dy in VECTORS]


def _cells(path: list[Pose] | None) -> set[Point]:
    return {(x, y) for x, y, _ in path or ()}
