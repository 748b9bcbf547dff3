"""What a schema of text lets through without the library is what the library lets through."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import jsonschema
import pytest

from gym_gui.workers.settings_check import first_problem

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
    {"type": "integer", "enum": ["a"]},
    {"type": ["string", "null"]},
    {},
]


@pytest.mark.parametrize("schema", SCHEMAS, ids=str)
def test_the_library_agrees(schema: dict[str, Any]) -> None:
    for value in ("a", "b", "ab", "", 1, True, None, ["a"]):
        valid = jsonschema.Draft202012Validator(schema).is_valid(value)
        assert (first_problem(schema, value, "It") == "") == valid, value


def test_a_choice_is_judged_without_it() -> None:
    """Each process that plays would import it."""
    program = (
        "import sys; from gym_gui.workers.settings_check import first_problem; "
        f"print(first_problem({CHOICE!r}, 'a', 'It'), 'jsonschema' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False"]
