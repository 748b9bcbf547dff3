"""Values as JSON in a run folder, and actions back from there, exact."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import orjson
import pytest
from gymnasium import spaces
from hypothesis import given, settings
from hypothesis import strategies as st

from gym_gui.core.plain_data import action_from_plain, to_plain
from gym_gui.core.spaces import to_space
from tests.support.space_strategies import any_space, exactly

BOX = spaces.Box(-1, 1, (2,), np.float32)


def through_a_file(value: Any) -> Any:
    return orjson.loads(orjson.dumps(to_plain(value)))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1, 1),
        (True, True),
        (None, None),
        ("ä", "ä"),
        (1.5, 1.5),
        (float("nan"), None),
        (float("-inf"), None),
        (np.float32(0.1), 0.10000000149011612),
        (np.int8(-3), -3),
        (np.bool_(True), True),
        (np.array([[1, 2]]), [[1, 2]]),
        (np.array([0.5, np.nan, np.inf]), [0.5, None, None]),
        (np.array(3), 3),
        ((1, [2, (3,)]), [1, [2, [3]]]),
        ({"a": np.int64(1), 2: {"b": (1.0,)}}, {"a": 1, "2": {"b": [1.0]}}),
        (b"bytes", [98, 121, 116, 101, 115]),
        (2**70, 2**70),
        (complex(1, 2), "(1+2j)"),
    ],
)
def test_as_json_carries_it(value: Any, expected: Any) -> None:
    got = to_plain(value)
    assert got == expected and type(got) is type(expected)
    json.dumps(got, allow_nan=False)


@settings(max_examples=200, deadline=None)
@given(any_space, st.integers(0, 2**31 - 1))
def test_any_action_comes_back_exact(space: Any, seed: int) -> None:
    space.seed(seed)
    action = space.sample()
    back = action_from_plain(to_space(space), through_a_file(action))
    assert exactly(action, back), (action, back)


@pytest.mark.parametrize(
    "space",
    [
        spaces.Sequence(BOX, stack=True),
        spaces.Sequence(spaces.Dict({"a": BOX, "t": spaces.Text(3)}), stack=True),
        spaces.Sequence(spaces.Tuple([BOX, spaces.Discrete(4)]), stack=True),
    ],
)
def test_stacked_sequences_come_back_exact(space: Any) -> None:
    space.seed(4)
    for _ in range(10):
        action = space.sample()
        assert exactly(action, action_from_plain(to_space(space), through_a_file(action)))


@settings(max_examples=100, deadline=None)
@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_no_bit_of_a_float_is_lost(number: float) -> None:
    space = spaces.Box(-np.inf, np.inf, (1,), np.float32)
    action = np.array([number], np.float32)
    assert action_from_plain(to_space(space), through_a_file(action)).tobytes() == action.tobytes()


@pytest.mark.parametrize(
    ("space", "data"),
    [
        (spaces.Discrete(3), None),
        (spaces.Discrete(3), "1"),
        (spaces.Discrete(3), 1.0),
        (spaces.Discrete(3), True),
        (spaces.Discrete(3), [1]),
        (BOX, [1.0]),
        (BOX, ["a", "b"]),
        (BOX, {"x": 1}),
        (spaces.Box(0, 255, (1,), np.uint8), [300]),
        (spaces.MultiDiscrete([2, 2]), [[1], [1, 1]]),
        (spaces.Dict({"a": BOX}), {}),
        (spaces.Dict({"a": BOX}), [1]),
        (spaces.Tuple([BOX, BOX]), [[0, 0]]),
        (spaces.OneOf([BOX]), [3, [0, 0]]),
        (spaces.OneOf([BOX]), 0),
        (spaces.Sequence(BOX), 7),
        (spaces.Graph(BOX, None), [[[0, 0]]]),
    ],
)
def test_what_is_no_action_is_refused(space: Any, data: Any) -> None:
    with pytest.raises(ValueError, match=f"is not an action of a {to_space(space).kind} space"):
        action_from_plain(to_space(space), data)
