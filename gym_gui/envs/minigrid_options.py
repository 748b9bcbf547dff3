"""What a manager can ask for in MiniGrid: when each option may start, and when it is over.

Who plays them is a matter of workers; ``operators_worker`` has a scripted manager
(``minigrid_manager``) and scripted skills (``minigrid_skills``) for these options.

MiniGrid shows 7x7 cells with the agent in the middle of the last row, looking at row 0;
``image[column, row]`` is ``(object, colour, state)``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gym_gui.core.paradigms import Option

Cell = tuple[int, int]
Image = NDArray[np.uint8]

# minigrid.core.constants.OBJECT_TO_IDX and STATE_TO_IDX.
_DOOR, _KEY, _GOAL = 4, 5, 8
_OPEN, _LOCKED = 0, 2


def _image(observation: Any) -> Image:
    return observation["image"]


def _cells(image: Image, kind: int) -> list[Cell]:
    columns, rows = np.nonzero(image[..., 0] == kind)
    return [(int(c), int(r)) for c, r in zip(columns, rows, strict=True)]


def _me(image: Image) -> Cell:
    return image.shape[0] // 2, image.shape[1] - 1


def _sees_goal(observation: Any) -> bool:
    return bool(_cells(_image(observation), _GOAL))


def _holds_key(observation: Any) -> bool:
    image = _image(observation)
    return int(image[(*_me(image), 0)]) == _KEY  # what is carried is shown in the agent's own cell


def _keys_to_take(observation: Any) -> list[Cell]:
    image = _image(observation)
    return [cell for cell in _cells(image, _KEY) if cell != _me(image)]


def _closed_doors(observation: Any) -> list[Cell]:
    """Shut doors in sight that can be opened with what is held."""
    image, has_key = _image(observation), _holds_key(observation)
    return [
        cell
        for cell in _cells(image, _DOOR)
        if image[(*cell, 2)] != _OPEN and (has_key or image[(*cell, 2)] != _LOCKED)
    ]


def _can_take_key(observation: Any) -> bool:
    return bool(_keys_to_take(observation)) and not _holds_key(observation)


def _found_something(observation: Any) -> bool:
    return _sees_goal(observation) or _can_take_key(observation) or bool(_closed_doors(observation))


def _no_door_left(observation: Any) -> bool:
    return not _closed_doors(observation)


def _no_goal(observation: Any) -> bool:
    return not _sees_goal(observation)


OPTIONS: tuple[Option, ...] = (
    Option("explore", budget=10, is_over=_found_something),
    Option("take key", budget=20, can_start=_can_take_key, is_over=_holds_key),
    Option("open door", budget=20, can_start=lambda o: bool(_closed_doors(o)), is_over=_no_door_left),
    Option("reach goal", budget=20, can_start=_sees_goal, is_over=_no_goal),
)
"""By index, from the least to the most wanted; ``action_meanings`` of a manager's slot are their names."""
