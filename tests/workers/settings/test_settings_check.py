"""What a plain schema lets through without the library is what the library lets through."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import jsonschema
import pytest

from gym_gui.workers.settings.settings_check import first_problem

CHOICE = {"type": "string", "oneOf": [{"const": "a", "title": "A"}, {"const": "b"}], "x-label": "Which"}
SCHEMAS: list[dict[str, Any]] = [
    CHOICE,
    {"type": "string", "oneOf": [{"const": "a"}, {"const": "a"}]},
    {"type": "string", "oneOf": [{"pattern": "^a"}, {"const": "ab"}]},
    {"type": "string", "enum": ["a", "b"], "default": "b"},
    {"type": "string", "enum": ["a"], "maxLength": 0},
    {"type": "string", "description": "any"},
    {"type": "string", "pattern": "^b"},
    {"type": "string", "const": "b"},
    {"type": "string", "oneOf": [{"const": "a"}], "enum": ["b"]},
    {"type": "string", "oneOf": [{}, {"const": "a"}]},
    {"oneOf": [{"const": "a", "x-environments": ["CartPole-*"]}, {"const": "b", "title": "B"}]},
    {"oneOf": [{"const": "a", "minLength": 2}, {"const": "b"}]},
    {"enum": ["a", 1]},
    {"type": "integer", "enum": ["a"]},
    {"type": "integer", "minimum": 1, "maximum": 2, "title": "N"},
    {"type": "integer", "exclusiveMinimum": 1},
    {"type": "integer", "multipleOf": 2},
    {"type": "number", "exclusiveMaximum": 1.5, "default": 1},
    {"type": "number", "enum": [1, 1.5]},
    {"type": "boolean", "default": True},
    {"type": "boolean", "const": False},
    {"type": ["string", "null"]},
    {"type": "array", "title": "All"},
    {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}, "minItems": 1, "maxItems": 2},
    {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
    {"type": "array", "prefixItems": [{"type": "integer"}]},
    {},
]


@pytest.mark.parametrize("schema", SCHEMAS, ids=str)
def test_the_library_agrees(schema: dict[str, Any]) -> None:
    for value in ("a", "b", "ab", "", 0, 1, 2, 1.5, -0.5, True, False, None, [], ["a"], ["a"] * 3, [1]):
        valid = jsonschema.Draft202012Validator(schema).is_valid(value)
        assert (first_problem(schema, value, "It") == "") == valid, value


def test_what_bundled_workers_are_told_is_judged_without_it() -> None:
    """Each process that plays would import it."""
    program = """
import sys
from gym_gui.workers.discovery import known_workers
settings = [setting for worker in known_workers() for setting in worker.settings_schema]
told = [(setting, option.value) for setting in settings for option in setting.options]
told += [(setting, setting.default) for setting in settings if setting.default is not None]
print(len(told))
for setting, value in told:
    if problem := setting.problem(value) or "jsonschema" in sys.modules:
        print(setting.name, value, problem)
        break
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    count, *problems = done.stdout.splitlines()
    assert int(count) > 50 and not problems
