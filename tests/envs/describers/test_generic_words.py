"""Any observation in words: every kind of space, sound and short."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import given, settings
from hypothesis import strategies as st

from gym_gui import envs
from gym_gui.core.spaces import to_space
from gym_gui.envs.describers import SpaceDescriber
from gym_gui.envs.describers.value_words import action_form, has_text, is_picture, number, value_text
from tests.support.space_strategies import any_space


@settings(max_examples=150)
@given(any_space, st.integers(0, 2**32 - 1))
def test_every_value_can_be_said_and_says_the_same_twice(space: Any, seed: int) -> None:
    space.seed(seed)
    value, described = space.sample(), to_space(space)
    words = value_text(described, value)
    assert words and words == value_text(described, value)
    assert action_form(described).startswith("Your action is")


def test_numbers_are_written_as_people_do() -> None:
    assert [number(x) for x in (3.0, -0.25, 1 / 3, 1.2e9, np.float32(0.5), True)] == [
        *("3", "-0.25", "0.333", "1200000000", "0.5", "yes")
    ]
    assert [number(x) for x in (np.nan, -np.inf)] == ["nan", "-inf"]


def test_components_have_their_names_and_bounds() -> None:
    space = spaces.Box(np.array([-1, -np.inf, 0], np.float32), np.array([1, np.inf, np.inf], np.float32))
    words = value_text(to_space(space), np.array([0.5, -2, 7], np.float32), ["position", "speed", "fuel"])
    assert words == "position: 0.5 (between -1 and 1)\nspeed: -2\nfuel: 7 (at least 0)"


def test_what_is_in_a_container_is_said_line_by_line() -> None:
    space = spaces.Dict(
        {
            "at": spaces.Discrete(9, start=1),
            "seen": spaces.Tuple([spaces.MultiBinary(3), spaces.Text(8)]),
            "map": spaces.Box(0, 1, (2, 2), np.int64),
        }
    )
    value = {"at": 4, "seen": (np.array([1, 0, 1], np.int8), "a wolf"), "map": np.eye(2, dtype=np.int64)}
    assert value_text(to_space(space), value).splitlines() == [
        *("at: 4 (of 1 to 9)", "map: a table of 2 rows and 2 columns", "  1, 0", "  0, 1"),
        *("seen, part 1: on are 0, 2 of 0 to 2", "seen, part 2: a wolf"),
    ]


def test_much_is_summed_up() -> None:
    space = spaces.Box(-1, 1, (10, 10, 10), np.float32)
    words = value_text(to_space(space), np.zeros((10, 10, 10), np.float32))
    assert words == "1000 numbers (10 x 10 x 10) from 0 to 0, 0 on average"


@pytest.mark.parametrize(
    ("space", "form"),
    [
        (spaces.Discrete(3, start=2), "a whole number from 2 to 4."),
        (spaces.Box(-1, 1, (2,), np.float32), "a list of 2 numbers, each between -1 and 1."),
        (spaces.Box(-np.inf, np.inf, (1,), np.float32), "a list of 1 number."),
        (spaces.MultiDiscrete([2, 3]), "a list of 2 whole numbers, in the ranges 0 to 1, 0 to 2."),
        (
            spaces.Tuple([spaces.Discrete(2), spaces.Discrete(2)]),
            "written as JSON of the form [<0 to 1>, <0 to 1>].",
        ),
    ],
)
def test_how_an_action_is_written_down(space: Any, form: str) -> None:
    assert action_form(to_space(space)) == f"Your action is {form}"


@pytest.mark.parametrize("shape", [(64, 64, 3), (84, 84), (4, 84, 84), (3, 64, 64), (4, 84, 84, 3)])
def test_pictures_cannot_be_said(shape: tuple[int, ...]) -> None:
    described = to_space(spaces.Box(0, 255, shape, np.uint8))
    assert is_picture(described) and not has_text(described)


def test_codes_of_cells_are_no_picture_and_are_said_layer_by_layer() -> None:
    described = to_space(spaces.Box(0, 255, (7, 7, 3), np.uint8))
    assert not is_picture(described) and has_text(described)
    value = np.arange(147, dtype=np.uint8).reshape(7, 7, 3)
    lines = value_text(described, value).splitlines()
    assert len(lines) == 24 and lines[8] == "layer 2 of 3, a table of 7 rows and 7 columns"
    assert lines[9] == "  1, 4, 7, 10, 13, 16, 19"


@pytest.mark.parametrize(
    "space",
    [
        spaces.Box(-1, 1, (84, 84), np.float32),
        spaces.Box(-1, 1, (2, 1000), np.float32),
        spaces.Box(-1, 1, (9000,), np.float64),
        spaces.MultiDiscrete([3] * 5000),
        spaces.MultiBinary(5000),
    ],
    ids=str,
)
def test_what_is_only_summed_up_is_not_offered_as_text(space: Any) -> None:
    space.seed(1)
    described = to_space(space)
    assert not has_text(described)
    words = value_text(described, space.sample())
    assert len(words) < 120 and "\n" not in words


def test_a_long_collection_is_cut_and_says_so() -> None:
    space = spaces.Sequence(spaces.Discrete(5), stack=False)
    lines = value_text(to_space(space), tuple([3] * 100)).splitlines()
    assert lines[0] == "items: 100 in all" and lines[-1] == "  and 76 more" and len(lines) == 26


def test_memory_is_told_byte_by_byte() -> None:
    described = to_space(spaces.Box(0, 255, (128,), np.uint8))
    value = np.random.default_rng(1).integers(0, 256, 128).astype(np.uint8)
    head, *rows = value_text(described, value).splitlines()
    assert head == "128 bytes" and len(rows) == 8
    back = [int(byte, 16) for row in rows for byte in row.split(": ")[1].split()]
    assert back == value.tolist() and [row.split(":")[0] for row in rows][-1] == "70"


class Console(gymnasium.Env[Any, Any]):
    """A machine that shows its memory, as the Atari games do with ``obs_type="ram"``."""

    observation_space = spaces.Box(0, 255, (128,), np.uint8)
    action_space = spaces.Discrete(2)

    def __init__(self, render_mode: str | None = None) -> None:
        self.render_mode = render_mode

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        return np.zeros(128, np.uint8), {}


def test_who_sees_memory_is_told_what_it_is() -> None:
    gymnasium.register("tests/Console-v0", entry_point=Console)
    try:
        environment = envs.make("tests/Console-v0")
        try:
            describer = environment.describer("agent_0")
            assert describer.can_say("agent_0")
            assert "You see the memory of the machine" in describer.briefing("agent_0")
        finally:
            environment.close()
    finally:
        del gymnasium.registry["tests/Console-v0"]


@settings(max_examples=60)
@given(any_space)
def test_the_form_of_an_action_is_spelled_out(space: Any) -> None:
    form = action_form(to_space(space))
    assert not any(f"<{kind}>" in form for kind in ("Box", "MultiBinary", "MultiDiscrete", "Text", "OneOf"))


def test_an_agent_is_told_the_game_and_its_actions() -> None:
    environment = envs.make("FrozenLake-v1")
    try:
        describer = SpaceDescriber(environment)
        briefing = describer.briefing("agent_0")
        observation = environment.adapter.reset(seed=1)["agent_0"]
        assert briefing.startswith("The game is FrozenLake.")
        assert briefing.endswith("Your actions:\n- left\n- down\n- right\n- up")
        assert describer.text("agent_0", observation) == "0 (of 0 to 15)"
    finally:
        environment.close()
