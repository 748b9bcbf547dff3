"""Takes typed values out of decoded JSON, with errors that name the place.

Each reader here turns a decoded value into one of the wanted type, or gives ``None``
when it is of another; :class:`Fields` turns that into a sentence.
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
    """Takes typed values out of one JSON object; what is left over is ``extra``."""

    def __init__(self, row: object, where: str) -> None:
        if not isinstance(row, dict):
            raise RunFormatError(where, f"expected an object, found {_kind(row)}")
        self._row = dict(cast("dict[str, Any]", row))
        self._where = where

    def rest(self) -> dict[str, Any]:
        """Keys that no reader has taken, with their values."""
        return self._row

    def has(self, key: str) -> bool:
        """Whether there is such a key."""
        return key in self._row

    def any(self, key: str) -> Any:
        """The value as it stands, ``None`` if absent."""
        return self._row.pop(key, None)

    def need(self, key: str, read: Callable[[Any], _T | None], what: str) -> _T:
        """A value that must be there."""
        if key not in self._row:
            raise RunFormatError(self._where, f"{key!r} is missing")
        return self._value(key, self._row.pop(key), read, what)

    def optional(self, key: str, read: Callable[[Any], _T | None], what: str) -> _T | None:
        """A value that may be absent or null."""
        value = self._row.pop(key, None)
        return None if value is None else self._value(key, value, read, what)

    def _value(self, key: str, value: Any, read: Callable[[Any], _T | None], what: str) -> _T:
        got = read(value)
        if got is None:
            raise RunFormatError(self._where, f"{key!r} should be {what}, found {_kind(value)}")
        return got

    def word(self, key: str, words: type[_E]) -> _E:
        """One of a closed set of words."""
        value = self.need(key, text, "text")
        try:
            return words(value)
        except ValueError:
            known = ", ".join(words)
            raise RunFormatError(self._where, f"{key!r} is {value!r}, which is none of {known}") from None

    def rows(self, key: str) -> list[Fields]:
        """The objects of a list; empty if absent."""
        return [Fields(item, f"{self._where}: {key}") for item in self.optional(key, items, "a list") or ()]

    def table(self, key: str, read_item: Callable[[object, str], _T]) -> dict[str, _T]:
        """A mapping whose every value is read by ``read_item``; empty if absent."""
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
    """Text."""
    return value if isinstance(value, str) else None


def boolean(value: Any) -> bool | None:
    """True or false."""
    return value if isinstance(value, bool) else None


def mapping(value: Any) -> dict[str, Any] | None:
    """An object."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def integer(value: Any) -> int | None:
    """A whole number; true and false are none."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def count(value: Any) -> int | None:
    """A whole number from 0, of those that other programs can hold."""
    number = integer(value)
    return number if number is not None and 0 <= number < 1 << 63 else None


def number(value: Any) -> float | None:
    """A finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    # A comparison, since isfinite() raises on whole numbers beyond the floats.
    return float(value) if abs(value) <= sys.float_info.max else None


def items(value: Any) -> list[Any] | None:
    """A list of anything."""
    return cast("list[Any]", value) if isinstance(value, list) else None


def strings(value: Any) -> tuple[str, ...] | None:
    """A list of texts."""
    found = items(value)
    return None if found is None or not all(isinstance(item, str) for item in found) else tuple(found)


def integers(value: Any) -> tuple[int, ...] | None:
    """A list of whole numbers."""
    found = items(value)
    return None if found is None or any(integer(item) is None for item in found) else tuple(found)


def each_value(read: Callable[[Any], _T | None], what: str) -> Callable[[object, str], _T]:
    """A reader for the items of :meth:`Fields.table`."""

    def one(value: object, where: str) -> _T:
        got = read(value)
        if got is None:
            raise RunFormatError(where, f"should be {what}, found {_kind(value)}")
        return got

    return one


def number_or_none(value: object, where: str) -> float | None:
    """A finite number or null, as an item of a table."""
    return None if value is None else each_value(number, "a finite number or null")(value, where)
