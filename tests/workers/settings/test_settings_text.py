"""What people type in the place of a value, and how values are shown to them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gym_gui.workers.settings.settings_text import number_text, text_of, value_of_text


@pytest.mark.parametrize(
    ("text", "schema", "value"),
    [
        ("500,000", {"type": "integer"}, 500_000),
        ("1_000_000", {"type": "integer"}, 1_000_000),
        ("1e6", {"type": "integer"}, 1_000_000),
        ("\N{MINUS SIGN}3", {"type": "integer"}, -3),
        ("3e-4", {"type": "number"}, 3e-4),
        ("none", {"type": ["number", "null"]}, None),
        ("64, 64", {"type": "array", "items": {"type": "integer"}}, [64, 64]),
        ("64 64", {"type": "array", "items": {"type": "integer"}}, [64, 64]),
        ("[128]", {"type": "array"}, [128]),
        ("[]", {"type": "array"}, []),
        ('0, "left"', {"type": "array"}, [0, "left"]),
        ("left, the right", {"type": "array"}, ["left", "the right"]),
        ("yes", {"type": "boolean"}, True),
        ('{"top_k": 20}', {"type": "object"}, {"top_k": 20}),
        (" relu ", {"type": "string"}, "relu"),
    ],
)
def test_what_is_typed_is_read(text: str, schema: dict[str, Any], value: object) -> None:
    assert value_of_text(text, schema) == value


@pytest.mark.parametrize(
    ("text", "schema", "left"),
    [
        ("soon", {"type": "integer"}, "soon"),
        ("1.5", {"type": "integer"}, 1.5),
        ("none", {"type": "number"}, "none"),
        ("64, x", {"type": "array", "items": {"type": "integer"}}, [64, "x"]),
        ("{top_k: 20}", {"type": "object"}, "{top_k: 20}"),
    ],
)
def test_what_is_no_value_is_left_to_the_check(text: str, schema: dict[str, Any], left: object) -> None:
    assert value_of_text(text, schema) == left


def test_values_are_shown_as_people_type_them() -> None:
    values = (None, True, [64, 64], 500_000, 3e-4, ["busy", "a/b"], [], {"a": 1}, [1000, 2])
    shown = ["none", "on", "64, 64", "500,000", "3e-4", "busy, a/b", "[]", '{"a": 1}', "1000, 2"]
    assert [text_of(value) for value in values] == shown


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_reads_as_the_same_number(number: float) -> None:
    assert float(number_text(number)) == number


@given(st.lists(st.text() | st.integers() | st.booleans() | st.none() | st.lists(st.integers())))
def test_a_list_reads_as_the_same_list(entries: list[Any]) -> None:
    assert value_of_text(text_of(entries), {"type": "array"}) == entries
