"""Converts settings' values from and to text as people type it: ``3e-4``, ``500,000``, ``none``."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

_BOOLEANS: Final = {"true": True, "yes": True, "on": True, "1": True} | {
    "false": False,
    "no": False,
    "off": False,
    "0": False,
}
_NONE: Final = ("none", "null")
_PLAIN: Final = re.compile(r"(?!(?:true|false|null|NaN|Infinity)$)[A-Za-z][\w.:/-]*")
"""Words that a list shows without quotation marks, because they are parsed unchanged."""

_GROUPED: Final = re.compile(r"[+\u2212-]?\d{1,3}(,\d{2,3})*,\d{3}(\.\d*)?([eE][+-]?\d+)?")
"""Numbers with commas between groups of digits."""


def text_of(value: object) -> str:
    """Return a setting's value as a person would type it."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return number_text(value)
    if isinstance(value, list | tuple):
        entries = cast("Sequence[object]", value)
        if entries and all(isinstance(entry, str) and _PLAIN.fullmatch(entry) for entry in entries):
            return ", ".join(map(str, entries))
        whole = json.dumps(entries, ensure_ascii=False, default=str)
        # Without its brackets, a list that contains one list would be read as that inner list.
        bare = len(entries) > 1 or not all(isinstance(entry, list | tuple) for entry in entries)
        return whole[1:-1] if bare else whole
    return json.dumps(value, ensure_ascii=False, default=str) if isinstance(value, dict) else str(value)


def number_text(value: float) -> str:
    """Return the shortest text that is parsed as the same number; small numbers as ``3e-4``."""
    if value and abs(value) < 0.01:
        mantissa, _, power = f"{value:.10e}".partition("e")
        short = f"{mantissa.rstrip('0').rstrip('.')}e{int(power)}"
        return short if float(short) == value else repr(value)
    short = f"{value:.10g}"
    return short if float(short) == value or math.isnan(value) else repr(value)


def value_of_text(text: str, schema: Mapping[str, Any]) -> Any:
    """Return a setting's value from its text.

    Text that is not valid is returned unchanged, for the check to refuse.

    Args:
        text: Text as typed: ``3e-4``, ``1_000_000``, ``yes``, ``64, 64``, ``none``.
        schema: The setting's JSON Schema.
    """
    given = schema.get("type", "string")
    types = (given,) if isinstance(given, str) else tuple(given)
    bare = text.strip()
    if "null" in types and bare.lower() in _NONE:
        return None
    if "array" in types:
        return _list(bare, schema.get("items", {}))
    if "object" in types:
        try:
            return json.loads(bare)
        except ValueError:
            return bare
    if "boolean" in types and bare.lower() in _BOOLEANS:
        return _BOOLEANS[bare.lower()]
    if "integer" in types or "number" in types:
        return normal(_number(bare), schema)
    return bare


def normal(value: Any, schema: Mapping[str, Any]) -> Any:
    """Return a value in the schema's type: ``5e5`` as an integer if one is required, a tuple as a list."""
    types = schema.get("type", ())
    if isinstance(value, float) and "integer" in types and value.is_integer():
        return int(value)
    if isinstance(value, list | tuple):
        return [normal(entry, schema.get("items", {})) for entry in cast("Sequence[Any]", value)]
    return value


def _number(bare: str) -> int | float | str:
    if "," in bare and not _GROUPED.fullmatch(bare):
        return bare  # many people write "0,5" for one half: it is refused, and must not become 5
    plain = bare.replace(",", "").replace("_", "").replace("\N{MINUS SIGN}", "-").replace(" ", "")
    for read in (int, float):
        try:
            return read(plain)
        except ValueError:
            pass
    return bare


def _list(bare: str, items: Mapping[str, Any]) -> list[Any]:
    """Parse a list: JSON with or without brackets, words between commas, or numbers between blanks."""
    for attempt in (bare, f"[{bare}]"):
        try:
            read = json.loads(attempt)
        except ValueError:
            continue
        return normal(read if isinstance(read, list) else [read], {"items": items})
    numbers = {"integer", "number"} & {*_types(items)}
    words = bare.strip("[]()").replace(",", " ").split() if numbers else bare.split(",")
    return [value_of_text(word, items) for word in words if word.strip()]


def _types(schema: Mapping[str, Any]) -> tuple[str, ...]:
    given = schema.get("type", ())
    return (given,) if isinstance(given, str) else tuple(given)
