"""Numbers as the reader's country writes them. Files, records and exports have them with a point, always."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final

from PyQt6.QtCore import QLocale

from gym_gui.analysis.words import wording
from gym_gui.analysis.words.wording import SCREEN, C, Locale
from gym_gui.workers.settings.settings_text import text_of, value_of_text

_NARROW: Final = "\u202f"
"""A space that keeps a number together; CLDR has other ones too, which not every font shows."""


def screen() -> Locale:
    """How numbers are written in the window: as the system's settings say (``LC_NUMERIC``)."""
    return _locale(QLocale())


@lru_cache(maxsize=8)
def _locale(locale: QLocale) -> Locale:
    group = locale.groupSeparator()
    group = _NARROW if group.isspace() else group
    return replace(SCREEN, point=locale.decimalPoint(), group=group)


def in_sentences() -> AbstractContextManager[None]:
    """Write numbers in sentences as in the window, inside the ``with`` block."""
    return wording.written_as(screen())


class local:  # noqa: N801  # a word of f-strings
    """``f"{local(3512.5):,.1f}"`` is ``3.512,5`` to a German reader: Python's format, the reader's marks.

    Args:
        value: Any number.
    """

    def __init__(self, value: Any) -> None:
        self._value = value

    def __format__(self, format_spec: str, /) -> str:
        return screen().write(format(self._value, format_spec))


def count(number: int, what: str) -> str:
    """``1 episode``, ``3,512 episodes``."""
    return wording.count(number, what, screen())


def number(value: float | None, digits: int | None = None) -> str:
    """``12.3``, ``3,512``; a dash for none."""
    return wording.number(value, digits, screen())


def size(in_bytes: int) -> str:
    """``12.3 MB``."""
    return wording.size(in_bytes, screen())


def written(value: object, *, grouped: bool = True, decimals: int | None = None) -> str:
    """A value as an editable field shows it; :func:`read` gives the same value back, in every locale.

    Args:
        value: Numbers have the reader's marks; everything else, lists of numbers too, is written as in files.
        grouped: Whether thousands are kept apart.
        decimals: Write a float with up to so many decimals where that is its exact value.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return text_of(value)
    text = str(value) if isinstance(value, int) and not grouped else text_of(value)
    if isinstance(value, float) and decimals is not None:
        fixed = f"{value:.{decimals}f}"
        text = fixed.rstrip("0").rstrip(".") if "." in fixed else fixed
        text = text if float(text) == value else text_of(value)
    marks = screen()
    return replace(C, point=marks.point, group=marks.group).write(text)


def read(text: str, schema: Mapping[str, Any]) -> Any:
    """The value that a field's text stands for; text that stands for none comes back as it was typed.

    ``0,5`` and ``3.512,5`` are read where people write so. A point is taken for the decimal point
    everywhere, unless the locale groups thousands with it and it stands where such a group begins.

    Args:
        text: As :func:`written` wrote it, or as a person typed it.
        schema: JSON Schema of the value.
    """
    given = schema.get("type", "string")
    types = (given,) if isinstance(given, str) else tuple(given)
    if "array" in types:
        return text if _decimal_commas(text, schema) else value_of_text(text, schema)
    if not {"integer", "number"} & {*types}:
        return value_of_text(text, schema)
    plain = _with_a_point(text)
    value = value_of_text(plain, schema)
    return text if value == plain else value


def regrouped(before: str, text: str) -> str:
    """A whole number that was shown in groups, after one of its digits was typed or deleted."""
    group = screen().group
    digits, whole = text.replace(group, ""), re.compile(r"[+-]?\d+")
    if not _grouped(group, screen().point).fullmatch(before) or not whole.fullmatch(digits):
        return text
    if digits == before.replace(group, ""):
        return text  # a mark was deleted: put back at once, a person could not delete what stands before it
    sign = digits[:1] if digits[:1] in "+-" else ""
    return sign + written(int(digits.removeprefix(sign)))


def _with_a_point(text: str) -> str:
    """A number with a point and without groups; what is no number in this locale stays as it is."""
    locale = QLocale()
    point, group = locale.decimalPoint(), screen().group
    plain = text.strip().replace(SCREEN.minus, C.minus)
    if (match := _grouped(group, point).fullmatch(plain)) is not None:
        whole = re.sub(r"\D", "", match["whole"])
        decimals = f".{match['decimals']}" if match["decimals"] else ""
        return f"{match['sign']}{whole}{decimals}{match['power'] or ''}"
    if point != "." and re.fullmatch(rf"[+-]?\d*{re.escape(point)}\d*([eE][+-]?\d+)?", plain):
        return plain.replace(point, ".")
    if "," in plain and point != ",":
        return text  # no group of this locale
    return plain if _is_number(plain) else text


@lru_cache(maxsize=8)
def _grouped(group: str, point: str) -> re.Pattern[str]:
    """A number whose thousands are kept apart; India's lakhs are groups too."""
    mark = r"\s" if group.isspace() else "['\u2019]" if group in "'\u2019" else re.escape(group)
    decimals = rf"({re.escape(point)}(?P<decimals>\d*))?"
    return re.compile(
        rf"(?P<sign>[+-]?)(?P<whole>[1-9]\d{{0,2}}({mark}\d{{2,3}})*{mark}\d{{3}}){decimals}(?P<power>[eE][+-]?\d+)?"
    )


def _decimal_commas(text: str, schema: Mapping[str, Any]) -> bool:
    """Whether a list seems to have commas within its numbers, where it is split at commas."""
    items = schema.get("items", {}).get("type", ())
    return (
        screen().point == ","
        and "number" in ((items,) if isinstance(items, str) else items)
        and re.search(r"\d,\d", text) is not None
    )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
