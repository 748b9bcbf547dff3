"""Whatever an environment draws becomes one kind of picture, or is said to be missing."""

from __future__ import annotations

import io
import logging
from typing import Any

import numpy as np
import pytest

from gym_gui.core.paradigms import adapt
from gym_gui.envs import Environment, EnvSpec, list_specs, make, render_modes
from gym_gui.envs.environment_registry import family_of
from gym_gui.envs.families.custom import CustomFamily
from gym_gui.envs.pictures import as_picture, as_text
from tests.support.arenas import Corridor

RED = np.full((2, 3, 3), (255, 0, 0), np.uint8)


@pytest.mark.parametrize(
    "drawn",
    [
        RED,
        RED.tolist(),
        [RED * 0, RED],  # frames since the last look
        np.stack([RED * 0, RED]),
        RED.astype(np.float32) / 255,
        RED.astype(np.float64),
        RED.astype(np.int64),
        RED == 255,
        np.concatenate([RED, np.full((2, 3, 1), 128, np.uint8)], axis=2),  # RGBA
        np.asfortranarray(RED),
        np.repeat(RED, 2, axis=1)[:, ::2],
        RED[::-1, ::-1],
    ],
)
def test_every_kind_of_picture_is_made_one(drawn: Any) -> None:
    picture = as_picture(drawn)
    assert picture is not None
    assert (picture.dtype, picture.shape) == (np.uint8, (2, 3, 3))
    assert picture.flags.c_contiguous and picture.flags.owndata
    np.testing.assert_array_equal(picture, RED)


def test_grey_pictures_and_floats_beyond_their_range() -> None:
    for grey in (np.full((2, 2), 7, np.uint8), np.full((2, 2, 1), 7, np.uint8)):
        np.testing.assert_array_equal(as_picture(grey), np.full((2, 2, 3), 7))
    odd = as_picture(np.array([[[-3.0, np.nan, 300.0]]]))
    assert odd is not None and odd.tolist() == [[[0, 0, 255]]]


def test_a_picture_is_a_copy_of_what_the_environment_draws_on() -> None:
    canvas = RED.copy()
    picture = as_picture(canvas)
    canvas[:] = 0
    np.testing.assert_array_equal(picture, RED)


@pytest.mark.parametrize("nothing", [None, "text", [], np.zeros((0, 3, 3), np.uint8)])
def test_nothing_was_drawn(nothing: Any) -> None:
    assert as_picture(nothing) is None


@pytest.mark.parametrize("wrong", [np.zeros(4), np.zeros((2, 2, 5)), np.array([[["a", "b", "c"]]]), object()])
def test_what_is_no_picture_is_refused(wrong: Any) -> None:
    with pytest.raises(ValueError, match=r"its (shape is|values are)"):
        as_picture(wrong)


def test_text_may_come_in_several_ways() -> None:
    assert as_text("a\x1b[41mb") == "a\x1b[41mb"
    assert as_text(io.StringIO("a")) == "a"
    assert as_text(["a", "b"]) == "b"
    assert as_text(None) == as_text(RED) == as_text([]) == ""


class Painter(Corridor):
    """Draws what it is told to, or raises it."""

    metadata = {"render_modes": ["rgb_array", "ansi"]}  # noqa: RUF012  # as Gymnasium has it
    render_mode = "rgb_array"
    drawn: Any = RED

    def render(self) -> Any:
        if isinstance(self.drawn, Exception):
            raise self.drawn
        return self.drawn


def painter(drawn: Any) -> Environment:
    env = Painter()
    env.drawn = drawn
    spec = EnvSpec("my/Painter-v0", "custom", "gymnasium", ("gymnasium",), "tests", entry_point=Painter)
    return Environment(spec, adapt(env), CustomFamily())


@pytest.mark.parametrize("drawn", [RuntimeError("no display"), np.zeros(3), object()])
def test_a_picture_that_fails_is_missing_and_said_once(drawn: Any, caplog: pytest.LogCaptureFixture) -> None:
    environment = painter(drawn)
    environment.adapter.reset(seed=0)
    with caplog.at_level(logging.WARNING):
        assert [environment.picture() for _ in range(3)] == [None] * 3
    (said,) = caplog.records
    assert "my/Painter-v0: its picture is missing" in said.getMessage()
    assert environment.adapter.step({"agent_0": 0}).rewards == {"agent_0": 0.0}, "play goes on"


def test_a_text_that_fails_is_missing_and_said_once(caplog: pytest.LogCaptureFixture) -> None:
    environment = painter(RuntimeError("no terminal"))
    assert [environment.ansi(), environment.ansi()] == ["", ""]
    assert ["its text is missing" in record.getMessage() for record in caplog.records] == [True]


@pytest.mark.parametrize(
    "task",
    [
        "CartPole-v1",
        "FrozenLake-v1",
        "MiniGrid-Empty-5x5-v0",
        "MosaicMultiGrid-S-1v1-IndAgObs-v1",
        "connect_four_v3",
        "simple_v3",
    ],
)
def test_real_environments_are_pictured(task: str) -> None:
    environment = make(task, render_mode="rgb_array")
    environment.adapter.reset(seed=0)
    picture = environment.picture()
    assert picture is not None and picture.ndim == 3 and picture.shape[2] == 3
    assert picture.std() > 0
    assert environment.ansi() == ""
    plain = make(task)
    plain.adapter.reset(seed=0)
    assert plain.picture() is None and plain.ansi() == ""


@pytest.mark.parametrize(
    ("task", "has"),
    [
        ("FrozenLake-v1", "\x1b[41m"),  # where one stands
        ("Taxi-v4", "\x1b["),
        ("CliffWalking-v1", "C"),
        ("open_spiel/connect_four", "......."),
        ("chess_v6", "R N B Q K B N R"),
    ],
)
def test_text_keeps_its_colors(task: str, has: str) -> None:
    environment = make(task, render_mode="ansi")
    environment.adapter.reset(seed=0)
    assert has in environment.ansi()
    assert environment.picture() is None


@pytest.mark.parametrize(
    ("task", "modes"),
    [
        ("CartPole-v1", ("rgb_array",)),
        ("FrozenLake-v1", ("rgb_array", "ansi")),
        ("Blackjack-v1", ("rgb_array",)),
        ("chess_v6", ("rgb_array", "ansi")),
        ("connect_four_v3", ("rgb_array",)),
        ("MiniGrid-Empty-5x5-v0", ("rgb_array",)),
        ("open_spiel/chess", ("ansi",)),
        ("tests.envs.test_pictures:Painter", ("rgb_array", "ansi")),
    ],
)
def test_how_it_can_be_drawn(task: str, modes: tuple[str, ...]) -> None:
    assert render_modes(task) == modes


def test_render_modes_are_those_of_the_class() -> None:
    """What is read from the source agrees with what the made environments say."""
    used = {"rgb_array", "ansi"}
    for spec in [s for s in list_specs("gymnasium") if "/" not in s.id] + list_specs("mpe2"):
        said = set(make(spec).env.metadata["render_modes"]) & used
        assert set(family_of(spec).render_modes(spec)) == said, spec.id
