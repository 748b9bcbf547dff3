"""Settings are checked against what the worker says of them, before anything is started."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gym_gui.core.errors import UnknownNameError, UsageError
from gym_gui.services.trainer.settings_flags import flags_of, texts_of_flags
from gym_gui.services.trainer.training_settings import AlgorithmSchema, read_schemas
from tests.support.training import SCHEMA, search_trainer

PROPERTIES: Mapping[str, Mapping[str, Any]] = {
    "total_steps": {"type": "integer", "minimum": 1, "default": 1000},
    "learning_rate": {"type": "number", "exclusiveMinimum": 0, "maximum": 1, "default": 0.001},
    "norm_adv": {"type": "boolean", "default": True},
    "device": {"type": "string", "enum": ["auto", "cpu", "cuda"], "default": "auto"},
    "hidden": {
        "type": "array",
        "items": {"type": "integer", "minimum": 1},
        "minItems": 1,
        "maxItems": 3,
        "default": [64, 64],
    },
    "target_kl": {"type": ["number", "null"], "exclusiveMinimum": 0, "default": None},
    "select": {"type": "string", "default": ""},
}
PPO = AlgorithmSchema(
    "ppo", "PPO", actions=("discrete", "continuous"), observations=("vector",), properties=PROPERTIES
)


def test_settings_that_fit_are_handed_on() -> None:
    given_ = {
        "total_steps": 5e5,
        "learning_rate": 1,
        "norm_adv": False,
        "device": "cpu",
        "hidden": (32,),
        "target_kl": None,
        "select": "",
    }
    checked = PPO.checked(given_)
    assert checked == {**given_, "hidden": [32]}
    assert isinstance(checked["total_steps"], int)
    assert PPO.checked(PPO.defaults) == PPO.defaults


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"lerning_rate": 1}, "unknown setting of ppo 'lerning_rate'. Did you mean 'learning_rate'?"),
        ({"learning_rate": 3}, "learning_rate must be a number, more than 0 and at most 1, not 3"),
        ({"learning_rate": 0}, "learning_rate must be a number, more than 0 and at most 1, not 0"),
        (
            {"learning_rate": math.nan},
            "learning_rate must be a number, more than 0 and at most 1, not nan",
        ),
        (
            {"learning_rate": "fast"},
            "learning_rate must be a number, more than 0 and at most 1, not 'fast'",
        ),
        ({"learning_rate": None}, "learning_rate must be a number, more than 0 and at most 1, not none"),
        ({"total_steps": 0}, "total_steps must be a whole number, at least 1, not 0"),
        ({"total_steps": 1.5}, "total_steps must be a whole number, at least 1, not 1.5"),
        ({"total_steps": True}, "total_steps must be a whole number, at least 1, not true"),
        ({"norm_adv": 1}, "norm_adv must be true or false, not 1"),
        ({"device": "gpu"}, "device must be auto, cpu or cuda, not 'gpu'. Did you mean cpu?"),
        ({"hidden": []}, "hidden must have at least 1 entry, not 0"),
        ({"hidden": [1] * 9}, "hidden must have at most 3 entries, not 9"),
        ({"hidden": [64, 0]}, "hidden[1] must be a whole number, at least 1, not 0"),
        ({"hidden": 64}, "hidden must be a list, each a whole number, at least 1, not 64"),
        ({"target_kl": -1}, "target_kl must be a number, more than 0, or none, not -1"),
    ],
)
def test_what_does_not_fit_is_said_in_one_sentence(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError) as caught:
        PPO.checked(settings)
    assert str(caught.value) == words


@pytest.mark.parametrize(
    ("flags", "settings"),
    [
        (["--total-steps", "2_048", "--norm-adv"], {"total_steps": 2048, "norm_adv": True}),
        (["--total_steps=1e6", "--no-norm-adv"], {"total_steps": 1_000_000, "norm_adv": False}),
        (["--hidden", "64", "32", "--target-kl", "none"], {"hidden": [64, 32], "target_kl": None}),
        (["--hidden=[64,32]", "--norm-adv", "off"], {"hidden": [64, 32], "norm_adv": False}),
        (["--select", "image", "--device", "cpu"], {"select": "image", "device": "cpu"}),
    ],
)
def test_settings_as_a_person_types_them(flags: list[str], settings: dict[str, Any]) -> None:
    assert PPO.checked_texts(texts_of_flags(flags, PROPERTIES)) == settings


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--total-steps"], "--total-steps needs a value"),
        (["stray"], "'stray' is not an option"),
        (["--total-stepps", "3"], "Did you mean 'total_steps'"),
        (["--no-select"], "unknown setting of ppo 'no_select'"),
        (["--total-steps", "many"], "total_steps must be a whole number, at least 1, not 'many'"),
    ],
)
def test_slips_of_a_person_are_told(flags: list[str], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        PPO.checked_texts(texts_of_flags(flags, PROPERTIES))


VALUES = st.fixed_dictionaries(
    {},
    optional={
        "total_steps": st.integers(1, 10**12),
        "learning_rate": st.floats(0, 1, exclude_min=True),
        "norm_adv": st.booleans(),
        "device": st.sampled_from(["auto", "cpu", "cuda"]),
        "hidden": st.lists(st.integers(1, 9999), min_size=1, max_size=3),
        "target_kl": st.none() | st.floats(0, 9, exclude_min=True),
    },
)


@given(settings=VALUES)
def test_flags_say_what_the_settings_say(settings: dict[str, Any]) -> None:
    assert PPO.checked_texts(texts_of_flags(flags_of(settings), PROPERTIES)) == settings


def test_a_value_that_begins_with_a_dash_is_no_option() -> None:
    assert flags_of({"select": "-x", "shift": -1.5}) == ["--select=-x", "--shift=-1.5"]
    with pytest.raises(UsageError, match="must be a number, a text, a list or a flag"):
        flags_of({"select": {}})


@pytest.mark.parametrize(
    ("kinds", "words"),
    [
        (
            ("multi_discrete", ""),
            "it learns discrete or continuous actions, but here they are multi_discrete",
        ),
        (("discrete", "image"), "it learns from vector observations, but here they are image"),
        (("discrete", "vector"), ""),
        (("box", "dict"), ""),
        (("", ""), ""),
    ],
)
def test_what_an_algorithm_can_learn(kinds: tuple[str, str], words: str) -> None:
    assert PPO.incompatibility(*kinds) == words


def test_a_schema_is_read_and_a_bad_one_named(tmp_path: Path) -> None:
    worker = search_trainer(tmp_path)
    schema = read_schemas(worker)["search"]
    assert (schema.title, schema.actions, schema.masks) == ("Random search", ("discrete",), False)
    assert list(schema.properties) == ["total_steps", "step_s", "spread", "fault"]
    path = tmp_path / "train_schema.json"
    strange = json.loads(json.dumps(SCHEMA))
    strange["algorithms"]["search"]["properties"]["spread"]["type"] = "object"
    for content in ("{", "[]", "{}", '{"algorithms": {"search": {}}}', json.dumps(strange)):
        path.write_text(content)
        with pytest.raises(
            UsageError, match=r"train_schema\.json is not a train schema .*training_schema search_trainer"
        ):
            read_schemas(worker)
    path.unlink()
    with pytest.raises(UsageError, match=r"train_schema\.json cannot be read \(No such file"):
        read_schemas(worker)
    assert read_schemas(replace(worker, train=None)) == {}


def test_an_unknown_setting_is_an_unknown_name() -> None:
    with pytest.raises(UnknownNameError) as caught:
        PPO.checked({"gamma": 1})
    assert caught.value.name == "gamma"
