"""Readers that take typed values from decoded JSON. Their errors name the file and key.

Each reader here returns a decoded value in the wanted type, or ``None`` if the value is of another type;
:class:`Fields` makes an error message of ``None``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from enum import StrEnum
from typing import Any, TypeVar, cast

from gym_gui.core.errors import RunFormatError

_T = TypeVar("_T")
_E = TypeVar("_E", bound=StrEnum)


class Fields:
    """Takes typed values out of one JSON object; :meth:`rest` returns the keys that were not taken."""

    def __init__(self, row: object, where: str) -> None:
        if not isinstance(row, dict):
            raise RunFormatError(where, f"expected an object, found {_kind(row)}")
        self._row = dict(cast("dict[str, Any]", row))
        self._where = where

    def rest(self) -> dict[str, Any]:
        """Return the keys that were not removed, with their values."""
        return self._row

    def has(self, key: str) -> bool:
        """Return whether the key is present and was not removed."""
        return key in self._row

    def any(self, key: str) -> Any:
        """Remove and return a value of any type; ``None`` if the key is absent."""
        return self._row.pop(key, None)

    def need(self, key: str, read: Callable[[Any], _T | None], what: str) -> _T:
        """Remove and return a required value."""
        if key not in self._row:
            raise RunFormatError(self._where, f"{key!r} is missing")
        return self._value(key, self._row.pop(key), read, what)

    def optional(self, key: str, read: Callable[[Any], _T | None], what: str) -> _T | None:
        """Remove and return a value that may be absent or null."""
        value = self._row.pop(key, None)
        return None if value is None else self._value(key, value, read, what)

    def _value(self, key: str, value: Any, read: Callable[[Any], _T | None], what: str) -> _T:
        got = read(value)
        if got is None:
            raise RunFormatError(self._where, f"{key!r} should be {what}, found {_kind(value)}")
        return got

    def word(self, key: str, words: type[_E]) -> _E:
        """Remove and return a required word of an enumeration."""
        value = self.need(key, text, "text")
        try:
            return words(value)
        except ValueError:
            known = ", ".join(words)
            raise RunFormatError(self._where, f"{key!r} is {value!r}, which is none of {known}") from None

    def rows(self, key: str) -> list[Fields]:
        """Remove and return a list of objects; empty if the key is absent."""
        return [Fields(item, f"{self._where}: {key}") for item in self.optional(key, items, "a list") or ()]

    def table(self, key: str, read_item: Callable[[object, str], _T]) -> dict[str, _T]:
        """Remove a mapping and return its values as read by ``read_item``; empty if the key is absent."""
        value = self.optional(key, mapping, "an object") or {}
        return {name: read_item(item, f"{self._where}: {key}.{name}") for name, item in value.items()}


def _kind(value: object) -> str:
    names: dict[type, str] = {
        dict: "an object",
        list: "a list",
        str: "text",
        bool: "true/false",
        type(None): "null",
    }
    return names.get(type(value), repr(value))


def text(value: Any) -> str | None:
    """Return the value if it is text, else ``None``."""
    return value if isinstance(value, str) else None


def boolean(value: Any) -> bool | None:
    """Return the value if it is true or false, else ``None``."""
    return value if isinstance(value, bool) else None


def mapping(value: Any) -> dict[str, Any] | None:
    """Return the value if it is a JSON object, else ``None``."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def integer(value: Any) -> int | None:
    """Return the value if it is a whole number, else ``None``; true and false are not numbers."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def count(value: Any) -> int | None:
    """Return the value if it is a whole number from 0 to 2**63 - 1, else ``None``."""
    number = integer(value)
    return number if number is not None and 0 <= number < 1 << 63 else None


def number(value: Any) -> float | None:
    """Return the value as a float if it is a finite number, else ``None``."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    # A comparison, since isfinite() raises for whole numbers that are too large for a float.
    return float(value) if abs(value) <= sys.float_info.max else None


def items(value: Any) -> list[Any] | None:
    """Return the value if it is a list, else ``None``."""
    return cast("list[Any]", value) if isinstance(value, list) else None


def strings(value: Any) -> tuple[str, ...] | None:
    """Return the value as a tuple if it is a list of texts, else ``None``."""
    found = items(value)
    return None if found is None or not all(isinstance(item, str) for item in found) else tuple(found)


def integers(value: Any) -> tuple[int, ...] | None:
    """Return the value as a tuple if it is a list of whole numbers, else ``None``."""
    found = items(value)
    return None if found is None or any(integer(item) is None for item in found) else tuple(found)


def each_value(read: Callable[[Any], _T | None], what: str) -> Callable[[object, str], _T]:
    """Return a reader for :meth:`Fields.table` that raises :class:`RunFormatError` for other values."""

    def one(value: object, where: str) -> _T:
        got = read(value)
        if got is None:
            raise RunFormatError(where, f"should be {what}, found {_kind(value)}")
        return got

    return one


def number_or_none(value: object, where: str) -> float | None:
    """Read a finite number or null, as a value of a table."""
    return None if value is None else each_value(number, "a finite number or null")(value, where)
