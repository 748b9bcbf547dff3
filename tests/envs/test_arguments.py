"""What ``env_kwargs`` may say is read from source: names, types, defaults, a sentence."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import gymnasium
import pytest
from gymnasium.envs.mujoco.half_cheetah_v5 import HalfCheetahEnv

from gym_gui.envs import arguments, resolve
from gym_gui.services.environment_settings import settings_of
from gym_gui.workers.settings.settings_schema import problems


def test_what_is_read_is_what_python_says_of_the_signature() -> None:
    told = arguments("HalfCheetah-v5")
    own = inspect.signature(HalfCheetahEnv).parameters
    taken = {name for name, each in own.items() if each.kind is not inspect.Parameter.VAR_KEYWORD}
    assert taken <= set(told)
    assert {
        name: about["default"] for name, about in told.items() if name in taken and "default" in about
    } == {name: own[name].default for name in taken if "default" in told[name]}
    assert told["ctrl_cost_weight"]["type"] == "number"
    assert "ctrl_cost" in told["ctrl_cost_weight"]["description"]
    assert told["camera_name"]["x-advanced"] and "render_mode" not in told  # of the class below it


def test_the_registration_has_the_last_word_about_defaults() -> None:
    """One class makes maps of several sizes."""
    assert arguments("FrozenLake8x8-v1")["map_name"]["default"] == "8x8"
    assert arguments("MiniGrid-DoorKey-6x6-v0")["size"]["default"] == 6
    assert gymnasium.registry["FrozenLake8x8-v1"].kwargs["map_name"] == "8x8"


def test_functions_types_without_a_word_and_what_a_base_is_given() -> None:
    chess = arguments("chess_v6")
    assert chess["screen_height"]["type"] == ["integer", "null"] and chess["screen_height"]["default"] == 800
    assert "mission_space" not in arguments("MiniGrid-DoorKey-6x6-v0")
    known, others = settings_of(resolve("highway-v0"))
    assert not known and others == ("config",)


@pytest.mark.parametrize(
    ("values", "wrong"),
    [
        ({"actions": "buttons", "deltas": ["turn left right"], "delta": 10.0}, {}),
        ({"actions": "fast"}, {"actions": "buttons, combinations or numbered"}),
        ({"deltas": ["sideways"]}, {"deltas": "turn left right"}),
        ({"delta": -1}, {"delta": "at least 0"}),
    ],
)
def test_doom_says_how_it_is_steered(values: Mapping[str, Any], wrong: Mapping[str, str]) -> None:
    pytest.importorskip("vizdoom")
    known, _ = settings_of(resolve("VizdoomBasic-v1"))
    assert {setting.name for setting in known} >= {"actions", "deltas", "delta", "frame_skip"}
    found = problems(known, values)
    assert found.keys() == wrong.keys()
    assert all(words in found[name] for name, words in wrong.items())
