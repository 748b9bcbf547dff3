"""Single decisions on hand-drawn worlds. The agent is ``A`` and looks up; letters as MiniGrid prints them."""

from __future__ import annotations

import numpy as np
import pytest

from operators_worker.minigrid_guide import Guide
from operators_worker.minigrid_map import (
    BALL,
    DONE,
    DOOR,
    DROP,
    EMPTY,
    FORWARD,
    LEFT,
    PICKUP,
    RIGHT,
    TOGGLE,
    WALL,
    Cell,
    ObservedMap,
)
from operators_worker.minigrid_mission import parse_mission
from operators_worker.minigrid_plan import LIFTING, NO_KEY, Planner

_CELLS = {
    "#": (WALL, 5, 0),
    ".": (EMPTY, 0, 0),
    "A": (EMPTY, 0, 0),
    "b": (BALL, 2, 0),
    "k": (5, 0, 0),
    "x": (7, 2, 0),
    "d": (DOOR, 0, 1),
    "o": (DOOR, 0, 0),
    "l": (DOOR, 0, 2),
    "?": (0, 0, 0),
}
UP = 3


def _image(*rows: str, held: str = "A") -> np.ndarray:
    """A 7 x 7 view; the last row holds the agent in its middle."""
    cells = np.array([[_CELLS[c] for c in row] for row in rows], np.uint8)
    image = cells.transpose(1, 0, 2).copy()
    image[3, 6] = _CELLS[held]
    return image


def _guide(mission: str) -> Guide:
    tasks = parse_mission(mission)
    assert tasks is not None
    return Guide(tasks)


CLOSED_ROOM = ("#######", "#.....#", "#.....#", "#.....#", "#.....#")


@pytest.mark.parametrize(("side", "turn"), [("left", LEFT), ("right", RIGHT)])
def test_a_place_in_the_mission_is_seen_from_the_start(side: str, turn: int):
    guide = _guide(f"go to the blue ball on your {side}")
    assert guide.act(_image(*CLOSED_ROOM, "#.....#", "#b.A.b#"), UP) == turn


def test_front_and_behind_are_told_apart():
    ahead = _image(*CLOSED_ROOM, "#..b..#", "#..A..#")
    assert _guide("go to the blue ball in front of you").act(ahead, UP) == DONE
    assert _guide("go to the blue ball behind you").act(ahead, UP) != DONE


def test_what_lies_beyond_the_first_door_is_not_meant_by_a_place():
    guide = _guide("go to the blue ball in front of you")
    corridor = _image("???????", "???????", "???????", "???????", "???????", "###o###", "#..A..#")
    assert guide.act(corridor, UP) == FORWARD  # into the door, to see more
    assert guide.act(_image(*CLOSED_ROOM, "#..b..#", "###A###"), UP) != DONE


@pytest.mark.parametrize(
    ("mission", "ahead", "held", "action"),
    [
        ("pick up the blue ball", "b", "A", PICKUP),
        ("open the red door", "d", "A", TOGGLE),
        ("open the red door", "o", "A", TOGGLE),
        ("open the red door", "l", "k", TOGGLE),
        ("put the blue ball next to the red key", ".", "b", DROP),
    ],
)
def test_what_is_done_before_the_object(mission: str, ahead: str, held: str, action: int):
    row = f"#.k{ahead}..#" if action == DROP else f"#..{ahead}..#"
    assert _guide(mission).act(_image(*CLOSED_ROOM, row, "#..A..#", held=held), UP) == action


def test_a_ball_opens_no_lock():
    guide = _guide("open the red door")
    assert guide.act(_image(*CLOSED_ROOM, "#..l..#", "#..A..#", held="b"), UP) != TOGGLE


def test_the_unseen_comes_before_the_shut_door():
    seen = ObservedMap()
    seen.cells = {(x, 1): Cell(WALL, 5, 0) for x in range(-4, 4)}
    # The door is one step away, the unseen corner at the far end of the room.
    seen.add_observation(
        _image("?######", "?.....#", "#.....#", "#.....#", "#.....#", "#.....#", "#d.A..#"), UP
    )
    path = Planner(seen).to_unseen()
    assert path is not None and path[-1][1] < -3
    # With the corner known to be wall, the door is what is left.
    seen.cells |= {(-3, -5): Cell(WALL, 5, 0)}
    assert Planner(seen).to_unseen() == [(0, 0, UP), (0, 0, 2), (-1, 0, 2)]


def test_a_way_through_a_locked_door_needs_the_key():
    seen = ObservedMap()
    seen.add_observation(
        _image("#######", "#..b..#", "###l###", "#.....#", "#.....#", "#.....#", "#..A..#", held="k"), UP
    )
    planner, ball = Planner(seen), {(0, -5)}
    assert planner.to_face(ball) is not None
    assert planner.to_face(ball, NO_KEY) is None


def test_things_are_lifted_only_where_there_is_no_other_way():
    seen = ObservedMap()
    seen.add_observation(
        _image("#######", "#..k..#", "#.....#", "###b###", "#.....#", "#.....#", "#..A..#"), UP
    )
    planner, key = Planner(seen), {(0, -5)}
    assert planner.to_face(key) is None
    path = planner.to_face(key, LIFTING)
    assert path is not None and (0, -3, UP) in path
    seen.add_observation(
        _image("#######", "#..k..#", "#.....#", "#..b..#", "#.....#", "#.....#", "#..A..#"), UP
    )
    around = planner.to_face(key, LIFTING)
    assert around is not None and (0, -3, UP) not in around


def test_a_door_is_remembered_while_it_is_stood_in():
    seen = ObservedMap()
    seen.add_observation(_image(*CLOSED_ROOM, "###o###", "#..A..#"), UP)
    seen.moved(FORWARD)
    seen.add_observation(_image("#######", *CLOSED_ROOM, "###A###"), UP)
    assert seen.position == (0, -1)
    assert seen.cells[0, -1] == Cell(DOOR, 0, 0)
