"""Whether an action may be played, in every space; never an exception, whatever it is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import given, settings
from hypothesis import strategies as st

from gym_gui.core.experiment.legality import ActionNames, problem_with
from gym_gui.core.spaces import to_space
from tests.support.space_strategies import any_space

BOX = spaces.Box(np.array([-1, 0], np.float32), np.array([1, np.inf], np.float32))
MULTI = spaces.MultiDiscrete([2, 3], start=[0, 5])

LEGAL: list[tuple[Any, Any, Any]] = [
    (spaces.Discrete(3), 2, None),
    (spaces.Discrete(3), np.int8(0), None),
    (spaces.Discrete(3), np.array(1), None),
    (spaces.Discrete(3, start=-5), -3, [0, 0, 1]),
    (BOX, [1, 0], None),
    (BOX, np.array([-1.0, 1e30]), None),
    (MULTI, [1, 7], None),
    (MULTI, np.array([0, 5], np.int32), [1, 0, 1, 0, 0]),
    (spaces.MultiBinary(3), [0, 1, 1], None),
    (spaces.Text(3, charset="ab"), "ab", None),
    (spaces.Dict({"x": BOX, "n": spaces.Discrete(2)}), {"x": [0, 0], "n": 1}, None),
    (spaces.Tuple([spaces.Discrete(2), BOX]), (1, [0, 0]), None),
]
ILLEGAL: list[tuple[Any, Any, Any, str]] = [
    (spaces.Discrete(3), 3, None, "action 3 is outside 0..2"),
    (spaces.Discrete(3, start=-5), -6, None, "action -6 is outside -5..-3"),
    (spaces.Discrete(3), 1.0, None, "1.0 is no action number"),
    (spaces.Discrete(3), False, None, "False is no action number"),
    (spaces.Discrete(3), np.True_, None, "is no action number"),
    (spaces.Discrete(3), np.array([1]), None, "is no action number"),
    (spaces.Discrete(3), 1, [1, 0, 1], "action 1 is not legal now"),
    (spaces.Discrete(3, start=-5), -3, [1, 1, 0], "action -3 is not legal now"),
    (BOX, [2, 0], None, "[2.0, 0.0] is outside the bounds"),
    (BOX, [0, -0.1], None, "outside the bounds"),
    (BOX, [0, np.nan], None, "not a number (NaN)"),
    (BOX, [0, np.inf], None, "it is infinite"),
    (BOX, [0], None, "its shape is (1,), but (2,) is needed"),
    (BOX, "up", None, "'up' is no array of numbers"),
    (BOX, [[1], [2, 3]], None, "is no array of numbers"),
    (BOX, None, None, "its shape is ()"),
    (MULTI, [2, 5], None, "[2, 5] is outside the action space"),
    (MULTI, [0, 4], None, "outside the action space"),
    (MULTI, [0.0, 5.0], None, "is no array of (2,) action numbers"),
    (MULTI, [0], None, "is no array of (2,) action numbers"),
    (MULTI, [[0], [1, 2]], None, "is no array of (2,) action numbers"),
    (MULTI, [1, 5], [1, 0, 1, 1, 1], "[1, 5] is not legal now"),
    (spaces.MultiBinary(3), [0, 2, 1], None, "no array of zeros and ones of shape (3,)"),
    (spaces.MultiBinary(3), [0, 1], None, "no array of zeros and ones"),
    (spaces.Text(3, charset="ab"), "abc", None, "character 'c' is not allowed"),
    (spaces.Text(3, charset="ab"), "abab", None, "its length is 4, but 1..3 is needed"),
    (spaces.Text(3), 5, None, "5 is no text"),
    (spaces.Dict({"x": BOX}), {"y": 1}, None, "its part 'x' is missing"),
    (spaces.Dict({"x": BOX}), {"x": [0, 0, 0]}, None, "in part 'x': its shape is (3,)"),
    (spaces.Dict({"x": BOX}), 5, None, "its part 'x' is missing"),
    (spaces.Tuple([BOX, spaces.Discrete(2)]), ([0, 0],), None, "its part '1' is missing"),
    (
        spaces.Tuple([spaces.Dict({"n": spaces.Discrete(2)})]),
        ({"n": 2},),
        None,
        "in part '0': in part 'n': action 2",
    ),
]


@pytest.mark.parametrize(("space", "action", "mask"), LEGAL)
def test_it_may_be_played(space: Any, action: Any, mask: Any) -> None:
    assert problem_with(to_space(space), action, None if mask is None else np.array(mask)) == ""


@pytest.mark.parametrize(("space", "action", "mask", "words"), ILLEGAL)
def test_it_may_not_and_it_is_said_why(space: Any, action: Any, mask: Any, words: str) -> None:
    problem = problem_with(to_space(space), action, None if mask is None else np.array(mask))
    assert words in problem and len(problem) < 200


@settings(max_examples=150, deadline=None)
@given(any_space, st.integers(0, 2**31 - 1))
def test_what_a_space_samples_may_be_played(space: Any, seed: int) -> None:
    space.seed(seed)
    assert problem_with(to_space(space), space.sample()) == ""


strange = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.text(max_size=3),
        st.binary(max_size=3),
        st.builds(object),
        st.builds(lambda x: np.array(x), st.lists(st.integers(-3, 3), max_size=3)),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=2), inner, max_size=2)
    ),
    max_leaves=6,
)


@settings(max_examples=300, deadline=None)
@given(any_space, strange)
def test_anything_at_all_gets_an_answer(space: Any, action: Any) -> None:
    assert isinstance(problem_with(to_space(space), action), str)


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 9), st.integers(-5, 5), st.integers(-20, 20), st.data())
def test_discrete_agrees_with_gymnasium(n: int, start: int, action: int, data: st.DataObject) -> None:
    space = spaces.Discrete(n, start=start)
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    inside = bool(space.contains(action))
    assert (problem_with(to_space(space), action) == "") == inside
    assert (problem_with(to_space(space), action, mask) == "") == (inside and bool(mask[action - start]))


@pytest.mark.parametrize(
    ("slot", "number", "mask", "told"),
    [
        ("agent", 6, [1, 0, 1], "right is not legal now; legal are: left, ahead"),
        ("agent/goal", 6, [1, 0, 1], "right cannot start: what can start now is left, ahead"),
        ("agent", 8, [1, 1, 1, 0], "action 8 is not legal now"),
    ],
)
def test_an_action_that_has_a_word_is_named_by_it(slot: str, number: int, mask: list[int], told: str) -> None:
    space = to_space(spaces.Discrete(len(mask), start=5))
    names = ActionNames.of(slot, ("left", "right", "ahead"))
    assert problem_with(space, number, np.array(mask, bool), names) == told


def test_of_many_legal_actions_some_are_named() -> None:
    names = ActionNames([f"go {i}" for i in range(99)])
    told = problem_with(to_space(spaces.Discrete(99)), 0, np.arange(99) > 0, names)
    assert told == "go 0 is not legal now; legal are: go 1, go 2, go 3, go 4, go 5, go 6, …"
