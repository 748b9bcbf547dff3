"""Checks a value against a JSON Schema, and describes an error in one sentence.

``jsonschema`` does the check, while the sentences are MOSAIC's. The library is imported when the first value
is checked, because its import takes long.
"""

from __future__ import annotations

import difflib
import json
import math
import operator
from collections.abc import Mapping, Sequence, Set
from functools import cache
from importlib import import_module
from typing import Any, Final, cast

from gym_gui.workers.patterns import either
from gym_gui.workers.settings.settings_text import text_of

_WORDS: Final = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": 'a JSON object, such as {"top_k": 20}',
    "policy": "the path of a policy",
    "file": "the path of a file",
    "program": "the path of a program",
    "secret": "env:NAME or keyring:NAME",
    "episode": 'a recorded episode, such as {"run": "runs/mine", "episode": 0}',
    "server": "an address such as http://localhost:8000/v1",
    "model": "the name of a model",
    "prompts": "the path of a folder",
}
_BOUNDS: Final = {
    "minimum": "at least",
    "exclusiveMinimum": "more than",
    "maximum": "at most",
    "exclusiveMaximum": "less than",
}
_WITHIN: Final = {
    "minimum": operator.ge,
    "exclusiveMinimum": operator.gt,
    "maximum": operator.le,
    "exclusiveMaximum": operator.lt,
}
_COUNTS: Final = {"minItems": "at least", "maxItems": "at most"}
_SAID: Final = {*_BOUNDS, "type", "enum", "oneOf", "const", "pattern"}
"""Keywords that :func:`wanted` describes; for other keywords the library's message is used."""

_PLAIN: Final = {"type", "title", "description", "default"}
"""Keys that a simple schema may have besides options, bounds and ``x-`` keys.

Simple schemas are texts, numbers and choices of texts; the library checks values of all others.
"""
_OF_CHOICE: Final = {"const", "title", "description"}


def first_problem(schema: Mapping[str, Any], value: object, name: str) -> str:
    """Return the first error of a value as a sentence without a full stop; ``""`` if it is valid.

    Args:
        schema: Schema that the value must match.
        value: The value.
        name: Name of the value in the sentence.
    """
    if _is_plain(schema, value):
        return ""
    try:
        error = next(iter(_validator(schema).iter_errors(value)), None)
    except import_module("referencing.exceptions").Unresolvable as nowhere:
        return f"{name} cannot be checked: its schema has a reference without a target ({nowhere})"
    if error is None:
        return ""
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.absolute_path)
    if error.validator in _COUNTS:
        bound, many = error.validator_value, "entry" if error.validator_value == 1 else "entries"
        return f"{name}{place} must have {_COUNTS[error.validator]} {bound} {many}, not {len(error.instance)}"
    if error.validator not in _SAID or (error.validator == "pattern" and "x-kind" not in error.schema):
        return f"{name}{place}: {error.message}"
    # A text typed in place of a reference to a key may be the key itself.
    instead = "" if error.schema.get("x-kind") == "secret" else f", not {_shown(error.instance)}"
    return f"{name}{place} must be {wanted(error.schema)}{instead}"


def _is_plain(schema: Mapping[str, Any], value: object) -> bool:
    """Return whether a value is valid for a simple schema, so that the library is not needed.

    Simple schemas are text (any, or one of several options), numbers within bounds, true or false, and lists
    of simple values. Importing the library would take a tenth of a session process's start-up time.
    """
    match value:
        case str():
            return _is_plain_text(schema, value)
        case bool():
            return schema.get("type") == "boolean" and _has_only(schema, _PLAIN)
        case int() | float():
            kinds = ("number", "integer") if isinstance(value, int) else ("number",)
            if schema.get("type") not in kinds or not _has_only(schema, {*_PLAIN, *_BOUNDS}):
                return False
            within = all(holds(value, schema[key]) for key, holds in _WITHIN.items() if key in schema)
            return within and math.isfinite(value)
        case list():
            return _is_plain_list(schema, cast("list[object]", value))
        case _:
            return False


def _is_plain_list(schema: Mapping[str, Any], values: Sequence[object]) -> bool:
    if schema.get("type") != "array" or not _has_only(schema, {*_PLAIN, *_COUNTS, "items"}):
        return False
    each = schema.get("items", {})
    many = schema.get("minItems", 0) <= len(values) <= schema.get("maxItems", len(values))
    return many and (not each or all(_is_plain(each, value) for value in values))


def _is_plain_text(schema: Mapping[str, Any], value: str) -> bool:
    if {"oneOf", "enum"} <= schema.keys() or not _has_only(schema, {*_PLAIN, "oneOf", "enum"}):
        return False
    choices: Sequence[Mapping[str, Any]] = schema.get("oneOf", ())
    if schema.get("type", "" if choices else None) not in ("string", ""):
        return False
    if not all("const" in choice and _has_only(choice, _OF_CHOICE) for choice in choices):
        return False
    options = [choice["const"] for choice in choices] or schema.get("enum")
    return options is None or options.count(value) == 1


def _has_only(schema: Mapping[str, Any], keys: Set[str]) -> bool:
    return all(key in keys or key.startswith("x-") for key in schema)


def nearest(schema: Mapping[str, Any], value: object) -> str:
    """Return the most similar option as a question ("Did you mean …?"); ``""`` if none is similar."""
    near = difflib.get_close_matches(str(value), _options(schema), 1)
    return f"Did you mean {near[0]}?" if near else ""


def wanted(schema: Mapping[str, Any]) -> str:
    """Return the valid values of a schema as text, such as ``a number, more than 0 and at most 1``."""
    given: str | Sequence[str] = schema.get("type", ())
    types = [given] if isinstance(given, str) else list(given)
    if options := _options(schema):
        words = either(options)
    elif "x-kind" in schema:
        words = _WORDS.get(schema["x-kind"], "a value")
    else:
        words = either([_WORDS[each] for each in types if each != "null"]) or "a value"
        words += _bounds(schema)
        if "array" in types and "items" in schema:
            words += f", each {wanted(schema['items'])}"
    return f"{words}, or none" if "null" in types else words


def check_schema(schema: Mapping[str, Any]) -> str:
    """Return why an object is no JSON Schema, in the library's words; ``""`` if it is one."""
    dialect = _library().Draft202012Validator
    try:
        dialect.check_schema(schema, format_checker=dialect.FORMAT_CHECKER)
    except _library().SchemaError as error:
        return f"{'.'.join(map(str, error.absolute_path)) or 'schema'}: {error.message}"
    return ""


def _library() -> Any:
    return import_module("jsonschema")


@cache
def _dialect() -> Any:
    """Return the 2020-12 validator with Python's numbers: 2.0 is no integer, infinity is no number."""
    known = _library().Draft202012Validator
    checker = known.TYPE_CHECKER.redefine_many({"integer": _is_integer, "number": _is_number})
    return _library().validators.extend(known, type_checker=checker)


def _validator(schema: Mapping[str, Any]) -> Any:
    # An empty registry prevents that a $ref to some address is downloaded.
    return _dialect()(schema, registry=import_module("referencing").Registry())


def _is_integer(_checker: object, value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(_checker: object, value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _options(schema: Mapping[str, Any]) -> list[str]:
    named = [each["const"] for each in schema.get("oneOf", ()) if "const" in each]
    return [text_of(value) for value in named or schema.get("enum", ()) if value is not None]


def _bounds(schema: Mapping[str, Any]) -> str:
    if {key for key in _BOUNDS if key in schema} == {"minimum", "maximum"}:
        return f" from {text_of(schema['minimum'])} to {text_of(schema['maximum'])}"
    said = [f"{words} {text_of(schema[key])}" for key, words in _BOUNDS.items() if key in schema]
    return f", {' and '.join(said)}" if said else ""


def _shown(value: object) -> str:
    if isinstance(value, str) or (isinstance(value, float) and value.is_integer()):
        text = repr(value)
    elif isinstance(value, bool | dict | list):
        text = json.dumps(value, default=str, ensure_ascii=False)
    else:
        text = text_of(value)
    return text if len(text) <= 60 else f"{text[:59]}…"
