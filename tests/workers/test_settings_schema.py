"""What a worker says of its settings: read strictly, and what does not fit is said in a sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pydantic
import pytest

from gym_gui.workers.capabilities import WorkerCapabilities
from gym_gui.workers.definition import WorkerTypeDefinition
from gym_gui.workers.discovery import discover
from gym_gui.workers.manifest import ManifestError, parse_manifest
from gym_gui.workers.registry import WorkerTypeRegistry
from gym_gui.workers.settings_schema import Setting, SettingOption, problems

WHERE = Path("/nowhere/dice_worker/worker.toml")
HEAD = 'id = "dice_worker"\nkind = "baseline"\n[launch]\nentry = "dice.main:Dice"\n'
TABLES = """
[settings.sides]
type = "whole"
default = 6
minimum = 2
maximum = 100
[settings.mood]
type = "choice"
title = "Mood"
policies = true
options = [
  {value = "calm"}, {value = "wild", title = "Wild", environments = ["MiniGrid-*"], agents = ["*/goal"]},
]
"""


def read(tables: str) -> tuple[Setting, ...]:
    *own, seed = parse_manifest(HEAD + tables, WHERE).settings_schema
    assert (seed.name, seed.type, seed.advanced) == ("seed", "whole", True)  # every worker has it
    return tuple(own)


def test_settings_are_read_with_their_options():
    sides, mood = read(TABLES)
    assert (sides.type, sides.default, sides.minimum, sides.maximum) == ("whole", 6, 2, 100)
    assert (sides.label, mood.label, mood.policies) == ("Sides", "Mood", True)
    assert [option.label for option in mood.options] == ["calm", "Wild"]
    wild = mood.options[1]
    assert wild.incompatibility("MiniGrid-Empty-5x5-v0", "agent_0/goal") == ""
    assert wild.incompatibility("", "") == ""
    assert wild.incompatibility("CartPole-v1") == "Wild is made for MiniGrid-*, not for CartPole-v1"
    assert "agent_0" in wild.incompatibility("MiniGrid-Empty-5x5-v0", "agent_0")


@pytest.mark.parametrize(
    ("tables", "words"),
    [
        ('[settings.a]\ntitle = "A"', "settings.a.type is missing"),
        ('[settings.a]\ntype = "colour"', "settings.a.type is 'colour'"),
        ('[settings.a]\ntype = "text"\nmeening = "x"', "Did you mean 'meaning'"),
        ('[settings.a]\ntype = "choice"', "choice without options"),
        ('[settings.a]\ntype = "text"\nmodule = "dice.probe"', "has a module, but is of type text"),
        ('[settings.a]\ntype = "server"\nmodule = "dice probe"', "package.module"),
        ('[settings.a]\ntype = "text"\nprovider = "b"', "has a provider, but is of type text"),
        ('[settings.a]\ntype = "secret"\nprovider = "b"', "none of its choices"),
        ('[settings.a]\ntype = "text"\noptions = [{value = "x"}]', "has options, but is of type text"),
        ('[settings.a]\ntype = "choice"\noptions = [{value = "x"}, {value = "x"}]', "option twice"),
        ('[settings.a]\ntype = "choice"\noptions = [{title = "x"}]', "options[0].value is missing"),
        ('[settings.a]\ntype = "choice"\noptions = [{value = "x", colour = "y"}]', "options[0].colour"),
        ('[settings.a]\ntype = "whole"\nminimum = 3\nmaximum = 2', "minimum 3 is above the maximum 2"),
        ('[settings.a]\ntype = "whole"\nminimum = 3\ndefault = 2', "whole number from 3"),
        ('[settings.a]\ntype = "flag"\ndefault = 1', "yes or no"),
    ],
)
def test_a_mistake_is_named_with_its_place(tables: str, words: str):
    with pytest.raises(ManifestError) as caught:
        read(tables)
    assert words in str(caught.value) and str(WHERE) in str(caught.value)


@pytest.mark.parametrize("settings", ["settings = 3\n", "settings = {a = 3}\n"])
def test_settings_are_tables(settings: str):
    with pytest.raises(ManifestError, match="should be a table"):
        parse_manifest(settings + HEAD, WHERE)


@pytest.mark.parametrize(
    ("setting", "value", "wrong"),
    [
        (Setting("a", "whole", minimum=0), 3, False),
        (Setting("a", "whole", minimum=0), -1, True),
        (Setting("a", "whole"), True, True),
        (Setting("a", "whole"), 2.5, True),
        (Setting("a", "number", maximum=1), 0.5, False),
        (Setting("a", "number", maximum=1), 1.5, True),
        (Setting("a", "flag"), "yes", True),
        (Setting("a", "list"), [1], False),
        (Setting("a", "list"), "1", True),
        (Setting("a", "choice", options=(SettingOption("x"),)), "y", True),
        (Setting("a", "secret"), "env:KEY", False),
        (Setting("a", "secret"), "sk-12345", True),
        (Setting("a", "policy", required=True), None, True),
        (Setting("a", "policy", required=True), "", True),
        (Setting("a", "policy"), None, False),
    ],
)
def test_values_are_checked(setting: Setting, value: Any, wrong: bool):
    assert bool(problems([setting], {"a": value})) is wrong


def definition(**more: Any) -> WorkerTypeDefinition:
    return WorkerTypeDefinition("dice_worker", "Dice", "", WorkerCapabilities("dice_worker"), **more)


def test_a_worker_from_code_is_described_by_its_model():
    class Settings(pydantic.BaseModel):
        sides: int = pydantic.Field(6, ge=2, le=100, description="How many")
        loud: bool = False
        name: str

    sides, loud, name, _ = definition(config_schema=Settings).settings_schema
    assert (sides.type, sides.default, sides.minimum, sides.maximum) == ("whole", 6, 2, 100)
    assert (sides.meaning, loud.type, name.type, name.required) == ("How many", "flag", "text", True)


def test_without_a_description_default_values_show_the_types():
    shown = definition(default_settings={"a": True, "b": 2, "c": 0.5, "d": [1], "e": "x"}).settings_schema
    assert [setting.type for setting in shown] == ["flag", "whole", "number", "list", "text", "whole"]


def test_bundled_workers_describe_what_they_accept():
    with WorkerTypeRegistry.isolated() as registry:
        discover(registry)
        behavior = next(s for s in registry.require("operators_worker").settings_schema if s.policies)
        (checkpoint, *_) = registry.require("cleanrl_worker").settings_schema
    from operators_worker.behavior import BEHAVIORS

    assert [option.value for option in behavior.options] == list(BEHAVIORS)
    assert (checkpoint.name, checkpoint.type, checkpoint.required) == ("checkpoint", "policy", True)


def test_a_server_is_an_address_and_a_model_and_prompts_are_text():
    tables = """
[settings.where]
type = "server"
module = "dice.probe"
[settings.model]
type = "model"
module = "dice.probe"
[settings.texts]
type = "prompts"
module = "dice.preview"
advanced = true
"""
    schema = read(tables)
    where, model, texts = schema
    assert where.module == "dice.probe" and texts.advanced and not model.advanced
    for address in ("http://localhost:8000/v1", "https://example.org", "http://[::1]:11434/v1"):
        assert where.problem(address) == ""
    for wrong in ("localhost:8000", "ftp://example.org", "http://", "http://a b"):
        assert "an address such as http://localhost:8000/v1" in where.problem(wrong)
    assert model.problem("llama") == "" and "must be" in model.problem(3)


def test_what_was_typed_in_the_place_of_a_key_is_not_repeated():
    key = Setting("api_key", "secret")
    sentence = key.problem("sk-planted-0123456789")
    assert "env:NAME or keyring:NAME" in sentence and "planted" not in sentence
