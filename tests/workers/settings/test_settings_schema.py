"""What a worker says of its settings: read strictly, and what does not fit is said in a sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import pydantic
import pytest

from gym_gui.core.errors import UsageError
from gym_gui.workers.capabilities import WorkerCapabilities
from gym_gui.workers.definition import WorkerTypeDefinition
from gym_gui.workers.discovery import discover
from gym_gui.workers.manifest import ManifestError, parse_manifest
from gym_gui.workers.registry import WorkerTypeRegistry
from gym_gui.workers.settings.settings_schema import Setting, json_schema, problems, settings_from_schema
from gym_gui.workers.settings.settings_table import settings_from_tables

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
    assert (seed.name, seed.kind, seed.advanced) == ("seed", "integer", True)  # every worker has it
    return tuple(own)


def test_settings_are_read_with_their_options():
    sides, mood = read(TABLES)
    assert (sides.kind, sides.default, sides.wanted) == ("integer", 6, "a whole number from 2 to 100")
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
        ('[settings.a]\ntype = "color"', "settings.a.type is 'color'"),
        ('[settings.a]\ntype = "text"\nmeening = "x"', "Did you mean 'meaning'"),
        ('[settings.a]\ntype = "choice"', "choice without options"),
        ('[settings.a]\ntype = "text"\nmodule = "dice.probe"', "has a module, but is of type text"),
        ('[settings.a]\ntype = "server"\nmodule = "dice probe"', "package.module"),
        ('[settings.a]\ntype = "text"\ncommand = ["x"]', "has a command, but is of type text"),
        ('[settings.a]\ntype = "file"\ncommand = ["x"]\nmodule = "y"', "or has a module"),
        ('[settings.a]\ntype = "text"\nprovider = "b"', "has a provider, but is of type text"),
        ('[settings.a]\ntype = "secret"\nprovider = "b"', "none of its choices"),
        ('[settings.a]\ntype = "text"\noptions = [{value = "x"}]', "has options, but is of type text"),
        ('[settings.a]\ntype = "choice"\noptions = [{value = "x"}, {value = "x"}]', "option twice"),
        ('[settings.a]\ntype = "choice"\noptions = [{title = "x"}]', "options[0].value is missing"),
        ('[settings.a]\ntype = "choice"\noptions = [{value = "x", color = "y"}]', "options[0].color"),
        ('[settings.a]\ntype = "whole"\nminimum = 3\nmaximum = 2', "minimum 3 is above the maximum 2"),
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


def one(kind: str, **more: Any) -> Setting:
    (setting,) = settings_from_tables({"a": {"type": kind, **more}})
    return setting


@pytest.mark.parametrize(
    ("setting", "value", "wrong"),
    [
        (one("whole", minimum=0), 3, False),
        (one("whole", minimum=0), -1, True),
        (one("whole"), True, True),
        (one("whole"), 2.5, True),
        (one("whole"), 2.0, True),
        (one("number", maximum=1), 0.5, False),
        (one("number", maximum=1), 1.5, True),
        (one("number"), float("inf"), True),
        (one("number"), float("nan"), True),
        (one("flag"), "yes", True),
        (one("list"), [1], False),
        (one("list"), "1", True),
        (one("choice", options=[{"value": "x"}]), "y", True),
        (one("secret"), "env:KEY", False),
        (one("secret"), "sk-12345", True),
        (one("secret"), "env:KEY\n", True),
        (one("policy", required=True), None, True),
        (one("policy", required=True), "", True),
        (one("policy"), None, False),
    ],
)
def test_values_are_checked(setting: Setting, value: Any, wrong: bool):
    assert bool(problems([setting], {"a": value})) is wrong


@pytest.mark.parametrize(
    ("setting", "value", "sentence"),
    [
        (one("whole", minimum=2, maximum=100), 1, "A must be a whole number from 2 to 100, not 1"),
        (one("whole", maximum=1_000_000), 2e6, "A must be a whole number, at most 1,000,000, not 2000000.0"),
        (one("choice", options=[{"value": "x"}, {"value": "y"}]), "z", "A must be x or y, not 'z'"),
        (one("flag"), "yes", "A must be true or false, not 'yes'"),
        (one("policy", title="Checkpoint", required=True), None, "Checkpoint is missing"),
    ],
)
def test_what_is_wrong_is_one_sentence(setting: Setting, value: Any, sentence: str):
    assert setting.problem(value) == sentence


OUTRIGHT = """
[schema]
required = ["level"]
[schema.properties.level]
type = "integer"
title = "Level"
description = "How hard it tries"
minimum = 1
maximum = 9
[schema.properties.weights]
type = "array"
maxItems = 2
uniqueItems = true
items = {"$ref" = "#/$defs/weight"}
[schema.properties.pair]
type = "array"
prefixItems = [{type = "string"}, {type = "integer"}]
[schema.properties.best]
anyOf = [{type = "number", minimum = 0}, {type = "null"}]
[schema."$defs".weight]
type = "number"
exclusiveMinimum = 0
"""


def test_a_manifest_may_give_a_json_schema_outright():
    level, weights, pair, best = read(OUTRIGHT)
    assert (level.kind, level.label, level.meaning, level.required) == (
        "integer",
        "Level",
        "How hard it tries",
        True,
    )
    assert level.problem(12) == "Level must be a whole number from 1 to 9, not 12"
    assert weights.problem([0.5, 0]) == "Weights[1] must be a number, more than 0, not 0"
    assert weights.problem([1, 2, 3]) == "Weights must have at most 2 entries, not 3"
    assert "non-unique" in weights.problem([1, 1])
    assert pair.problem(["a", "b"]) == "Pair[1] must be a whole number, not 'b'"
    assert best.nullable and best.problem(-1) == "Best must be a number, at least 0, or none, not -1"
    assert all(
        setting.problem(value) == "" for setting, value in ((weights, [1]), (pair, ["a", 1]), (best, 0.5))
    )


@pytest.mark.parametrize(
    ("tables", "words"),
    [
        ("[schema]\n", "[schema.properties.NAME]"),
        ('[schema.properties.a]\ntype = "color"', "no JSON Schema: properties.a.type"),
        ('[schema.properties.a]\npattern = "("', "no JSON Schema: properties.a.pattern"),
        ('[schema.properties.a]\ntype = "string"\n[settings.b]\ntype = "text"', "both settings and schema"),
    ],
)
def test_a_schema_that_is_none_is_named_with_its_place(tables: str, words: str):
    with pytest.raises(ManifestError) as caught:
        read(tables)
    assert words in str(caught.value) and str(WHERE) in str(caught.value)


def test_a_reference_that_leads_out_of_the_schema_is_not_followed():
    (setting,) = read('[schema.properties.a]\n"$ref" = "http://localhost:1/other.json"')
    assert "has a reference without a target" in setting.problem(3)


def test_settings_are_one_json_schema_for_other_programs():
    sides, mood = read(TABLES)
    schema = json_schema((sides, mood), "Dice")
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema" and schema["title"] == "Dice"
    jsonschema.Draft202012Validator.check_schema(schema)
    judge = jsonschema.Draft202012Validator(schema)
    assert judge.is_valid({"sides": 6, "mood": "calm"})
    assert not judge.is_valid({"sides": 1}) and not judge.is_valid({"mood": "sad"})
    assert settings_from_schema(schema) == (sides, mood), "read again, they are the same"


def test_defaults_that_do_not_fit_are_told_by_the_check():
    with pytest.raises(
        UsageError, match=r"settings\.a of dice_worker: its default is not valid.*at least 3, not 2"
    ):
        parse_manifest(
            f'{HEAD}[settings.a]\ntype = "whole"\nminimum = 3\ndefault = 2', WHERE
        ).check_defaults()
    with WorkerTypeRegistry.isolated() as registry:
        discover(registry)
        for worker in registry.all():
            worker.check_defaults()


def definition(**more: Any) -> WorkerTypeDefinition:
    return WorkerTypeDefinition("dice_worker", "Dice", "", WorkerCapabilities("dice_worker"), **more)


def test_a_worker_from_code_is_described_by_its_model():
    class Settings(pydantic.BaseModel):
        sides: int = pydantic.Field(6, ge=2, le=100, description="How many")
        loud: bool = False
        name: str

    sides, loud, name, _ = definition(config_schema=Settings).settings_schema
    assert (sides.kind, sides.default, sides.wanted) == ("integer", 6, "a whole number from 2 to 100")
    assert (sides.meaning, loud.kind, name.kind, name.required) == ("How many", "boolean", "string", True)


def test_without_a_description_default_values_show_the_types():
    shown = definition(default_settings={"a": True, "b": 2, "c": 0.5, "d": [1], "e": "x"}).settings_schema
    assert [setting.kind for setting in shown] == [
        "boolean",
        "integer",
        "number",
        "array",
        "string",
        "integer",
    ]


def test_bundled_workers_describe_what_they_accept():
    with WorkerTypeRegistry.isolated() as registry:
        discover(registry)
        behavior = next(s for s in registry.require("operators_worker").settings_schema if s.policies)
        (checkpoint, *_) = registry.require("cleanrl_worker").settings_schema
    from operators_worker.behavior import BEHAVIORS

    assert [option.value for option in behavior.options] == list(BEHAVIORS)
    assert (checkpoint.name, checkpoint.kind, checkpoint.required) == ("checkpoint", "policy", True)


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


@pytest.mark.parametrize("value", ["env:SOME_KEY", "keyring:openai", "", "EMPTY"])
def test_a_key_is_a_reference_or_what_servers_without_keys_are_given(value: str):
    assert one("secret").problem(value) == ""


def test_what_was_typed_in_the_place_of_a_key_is_not_repeated():
    key = one("secret")
    sentence = key.problem("sk-planted-0123456789")
    assert "env:NAME or keyring:NAME" in sentence and "planted" not in sentence


@pytest.mark.parametrize(
    ("description", "value", "said"),
    [
        ("Tokens in the whole run; 0: no limit", 0, "no limit"),
        ("Tokens in the whole run; 0: no limit", 10, ""),
        ("Steps ahead; 0: 0.8 seconds of them. They are the same everywhere", 0, "0.8 seconds of them"),
        ("Seconds for one move; 0: no limit.", 0.0, "no limit"),
        ("Whose way is drawn; empty: the centre of mass", "", "the centre of mass"),
        ("Above this; none: never.", None, "never"),
        (
            "What it must have been trained with; by default whatever its file says",
            None,
            "whatever its file says",
        ),
        ("At 10: 20 or more", 10, ""),
    ],
)
def test_special_values_say_what_they_stand_for(description: str, value: object, said: str) -> None:
    assert Setting("a", {"description": description}).said_of(value) == said
