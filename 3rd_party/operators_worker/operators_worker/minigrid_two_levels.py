"""Two-level control of MiniGrid: a scripted manager, and the skills it asks for.

The manager's slot (``agent_0/goal``) sees MiniGrid's observation and the mask of options
that can start; it takes the most wanted of them: the goal once it is in sight, else a door,
else a key, else a look around. The controller's slot sees ``{"observation": MiniGrid's,
"option": index}`` and takes one step towards what the option names, over cells in sight. It
wanders while there is nothing to walk to. Neither keeps a memory; the only chance is in the
wandering, drawn from (policy seed, step).

Measured strength, both together, share of 200 episodes solved within the step limit: 1.0 on
Empty-8x8, DoorKey-5x5, -6x6 and -8x8, 0.48 on FourRooms, where chance has to find the way.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mosaic_worker.rng import uniform
from mosaic_worker.worker import Batch, Slot
from operators_worker.behavior import Behavior, require
from operators_worker.minigrid_map import (
    DOOR,
    EMPTY,
    FLOOR,
    FORWARD,
    GOAL,
    KEY,
    LEFT,
    LOCKED,
    OPEN,
    PICKUP,
    RIGHT,
    TOGGLE,
    Point,
)

Image = NDArray[np.integer[Any]]

WANTED = ("reach goal", "open door", "take key", "explore")
"""The options there are, the most wanted first."""

_AHEAD = 0.85
"""How often a wanderer goes on where it could: now and then a turn, so that no circle holds it."""


class MiniGridManager(Behavior):
    """Chooses options."""

    def __init__(self, slot: Slot) -> None:
        super().__init__(slot)
        require(
            set(slot.action_meanings) == set(WANTED), "minigrid_manager", "a manager's slot of MiniGrid", slot
        )
        self._ranking = [list(slot.action_meanings).index(option) for option in WANTED]

    def select(self, batch: Batch) -> list[int]:
        masks = batch.action_masks
        if masks is None:
            return [self._ranking[0]] * len(batch)
        return [next((k for k in self._ranking if mask[k]), self._ranking[-1]) for mask in masks]


class MiniGridSkills(Behavior):
    """Carries options out."""

    def __init__(self, slot: Slot) -> None:
        super().__init__(slot)
        seen = slot.observation_space.spaces.get("observation")
        image = seen.spaces.get("image") if seen is not None else None
        option = slot.observation_space.spaces.get("option")
        fits = (
            image is not None
            and len(image.shape) == 3
            and image.shape[2] == 3
            and option is not None
            and option.n == len(WANTED)
        )
        require(fits, "minigrid_skills", "the slot of an agent with a manager, in MiniGrid", slot)

    def select(self, batch: Batch) -> list[int]:
        seen = batch.observations
        chances = zip(uniform(batch.seeds, batch.steps), uniform(batch.seeds, batch.steps, 1), strict=True)
        views = zip(seen["observation"]["image"], seen["option"], chances, strict=True)
        return [_step(image, int(option), float(go), float(turn)) for image, option, (go, turn) in views]


def _step(image: Image, option: int, go: float, turn: float) -> int:
    """The next move; ``go`` and ``turn`` are uniform numbers for one who wanders."""
    find, at_target = _SKILLS[option]
    move = _towards(image, find(image), at_target)
    return _wander(image, go, turn) if move is None else move


def _no_goals(image: Image) -> list[Point]:
    return []


def _goals(image: Image) -> list[Point]:
    return _cells(image, GOAL)


def _keys(image: Image) -> list[Point]:
    """Keys that lie about; what is carried is shown in the agent's own cell."""
    return [cell for cell in _cells(image, KEY) if cell != _me(image)]


def _doors(image: Image) -> list[Point]:
    """Shut doors that can be opened with what is held."""
    has_key = image[(*_me(image), 0)] == KEY
    shut = [cell for cell in _cells(image, DOOR) if image[(*cell, 2)] != OPEN]
    return [cell for cell in shut if has_key or image[(*cell, 2)] != LOCKED]


# By number of the option, which is all that a controller sees of it: where to go, and what to do there.
_SKILLS: tuple[tuple[Callable[[Image], list[Point]], int], ...] = (
    (_no_goals, FORWARD),
    (_keys, PICKUP),
    (_doors, TOGGLE),
    (_goals, FORWARD),
)


def _cells(image: Image, kind: int) -> list[Point]:
    columns, rows = np.nonzero(image[..., 0] == kind)
    return [(int(c), int(r)) for c, r in zip(columns, rows, strict=True)]


def _me(image: Image) -> Point:
    return image.shape[0] // 2, image.shape[1] - 1


def _towards(image: Image, targets: Collection[Point], at_target: int) -> int | None:
    """One step of the shortest way to a target in sight; ``None`` where there is no way."""
    me = _me(image)
    ahead = (me[0], me[1] - 1)
    if ahead in targets:
        return at_target
    step = _first_step(image, me, targets)
    if step is None:
        return None
    if step == ahead:
        return FORWARD
    return LEFT if step[0] < me[0] else RIGHT


def _wander(image: Image, go: float, turn: float) -> int:
    column, row = _me(image)
    if _free(image, (column, row - 1)) and go < _AHEAD:
        return FORWARD
    left, right = _free(image, (column - 1, row)), _free(image, (column + 1, row))
    if left != right:
        return LEFT if left else RIGHT
    return LEFT if turn < 0.5 else RIGHT


def _free(image: Image, cell: Point) -> bool:
    kind, _, state = image[cell]
    return kind in (EMPTY, FLOOR, GOAL) or (kind == DOOR and state == OPEN)


def _neighbours(image: Image, cell: Point) -> Iterator[Point]:
    for dc, dr in ((0, -1), (-1, 0), (1, 0), (0, 1)):
        column, row = cell[0] + dc, cell[1] + dr
        if 0 <= column < image.shape[0] and 0 <= row < image.shape[1]:
            yield column, row


def _first_step(image: Image, start: Point, targets: Collection[Point]) -> Point | None:
    """First cell of a shortest way over free cells to a target (breadth first)."""
    came: dict[Point, Point] = {start: start}
    queue = deque([start])
    while queue:
        cell = queue.popleft()
        for nearby in _neighbours(image, cell):
            if nearby in came or not (nearby in targets or _free(image, nearby)):
                continue
            came[nearby] = cell
            if nearby in targets:
                while came[nearby] != start:
                    nearby = came[nearby]
                return nearby
            queue.append(nearby)
    return None
