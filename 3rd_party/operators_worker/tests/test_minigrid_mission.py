from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from operators_worker.minigrid_map import BALL, BOX, DOOR, KEY
from operators_worker.minigrid_mission import COLORS, MissionObject, Task, parse_mission

BALLS, BOXES, KEYS, DOORS = (frozenset((kind,)) for kind in (BALL, BOX, KEY, DOOR))
RED, GREEN, BLUE, PURPLE, YELLOW, GREY = range(6)


@pytest.mark.parametrize(
    ("mission", "tasks"),
    [
        ("get to the green goal square", [Task("reach")]),
        ("use the key to open the door and then get to the goal", [Task("reach")]),
        ("traverse the rooms to get to the goal", [Task("reach")]),
        ("go to the red ball", [Task("goto", MissionObject(BALLS, RED))]),
        ("go to a ball", [Task("goto", MissionObject(BALLS))]),
        ("fetch a grey key", [Task("pickup", MissionObject(KEYS, GREY))]),
        ("you must fetch a purple ball", [Task("pickup", MissionObject(BALLS, PURPLE))]),
        ("open the door", [Task("open", MissionObject(DOORS))]),
        ("pick up the box behind you", [Task("pickup", MissionObject(BOXES, None, "behind"))]),
        (
            "go to an object on your left",
            [Task("goto", MissionObject(BALLS | BOXES | KEYS | DOORS, None, "left"))],
        ),
        ("pick up an object", [Task("pickup", MissionObject(BALLS | BOXES | KEYS))]),
        (
            "put the red ball next to the blue box",
            [Task("put", MissionObject(BALLS, RED), MissionObject(BOXES, BLUE))],
        ),
        (
            "put the grey box near the green key",
            [Task("put", MissionObject(BOXES, GREY), MissionObject(KEYS, GREEN))],
        ),
        (
            "open the red door then the blue door",
            [Task("open", MissionObject(DOORS, RED)), Task("open", MissionObject(DOORS, BLUE))],
        ),
        (
            "go to the red ball, then pick up a key and open the yellow door",
            [
                Task("goto", MissionObject(BALLS, RED)),
                Task("pickup", MissionObject(KEYS)),
                Task("open", MissionObject(DOORS, YELLOW)),
            ],
        ),
        (
            "go to the red ball after you pick up a key",
            [Task("pickup", MissionObject(KEYS)), Task("goto", MissionObject(BALLS, RED))],
        ),
    ],
)
def test_missions(mission: str, tasks: list[Task]):
    assert parse_mission(mission) == tasks


@pytest.mark.parametrize(
    "mission",
    ["", "go to the matching object at the end of the hallway", "the red ball", "go to the red", "then"],
)
def test_what_is_not_understood(mission: str):
    assert parse_mission(mission) is None


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["go to", "pick up"]),
            st.sampled_from(["the ", "a "]),
            st.sampled_from(["", *(f"{color} " for color in COLORS)]),
            st.sampled_from(["ball", "box", "key"]),
        ),
        min_size=1,
        max_size=4,
    )
)
def test_each_clause_of_a_sequence_is_one_task(clauses: list[tuple[str, str, str, str]]):
    tasks = parse_mission(", then ".join(f"{verb} {a}{color}{kind}" for verb, a, color, kind in clauses))
    assert tasks is not None
    assert [(t.verb, t.thing.color) for t in tasks] == [
        ("goto" if verb == "go to" else "pickup", COLORS.get(color.strip())) for verb, _, color, _ in clauses
    ]


@given(st.text(max_size=60))
def test_any_text_gives_tasks_or_none(text: str):
    tasks = parse_mission(text)
    assert tasks is None or len(tasks) >= 1
