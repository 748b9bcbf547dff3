"""Numbers in the window, formatted for the user's locale.

Files, records and exports always use a decimal point.
"""

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
"""Space between groups of digits; fonts lack some of the other spaces that CLDR uses."""


def screen() -> Locale:
    """Return the number format of the window, which follows the system's ``LC_NUMERIC``."""
    return _locale(QLocale())


@lru_cache(maxsize=8)
def _locale(locale: QLocale) -> Locale:
    group = locale.groupSeparator()
    group = _NARROW if group.isspace() else group
    return replace(SCREEN, point=locale.decimalPoint(), group=group)


def in_sentences() -> AbstractContextManager[None]:
    """Return a context manager in which sentences use the window's number format."""
    return wording.written_as(screen())


class local:  # noqa: N801  # a word of f-strings
    """Formats a number in an f-string for the user's locale.

    ``f"{local(3512.5):,.1f}"`` is ``3.512,5`` for a German user: the format is Python's, the separators are
    the locale's.

    Args:
      value: Any number.
    """

    def __init__(self, value: Any) -> None:
        self._value = value

    def __format__(self, format_spec: str, /) -> str:
        return screen().write(format(self._value, format_spec))


def count(number: int, what: str) -> str:
    """Return a number with its noun, such as ``1 episode`` or ``3,512 episodes``."""
    return wording.count(number, what, screen())


def number(value: float | None, digits: int | None = None) -> str:
    """Return a number as text, such as ``12.3`` or ``3,512``; a dash for ``None``."""
    return wording.number(value, digits, screen())


def size(in_bytes: int) -> str:
    """Return a size in bytes as text, such as ``12.3 MB``."""
    return wording.size(in_bytes, screen())


def written(value: object, *, grouped: bool = True, decimals: int | None = None) -> str:
    """Return a value as text for an editable field; :func:`read` returns the same value in every locale.

    Args:
        value: The value. A number gets the locale's separators; any other value is written as in files.
        grouped: Whether to separate thousands.
        decimals: Largest number of decimals of a float; more are used if its exact value needs them.
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
    """Return the value of a field's text; text that is not a valid value is returned unchanged.

    ``0,5`` and ``3.512,5`` are read if the locale writes numbers so. A point is a decimal point in every
    locale, unless the locale groups thousands with points and the text is grouped correctly.

    Args:
      text: Text as :func:`written` returns it or as a person typed it.
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
    """Group the digits of a whole number again after a digit was typed or deleted.

    Args:
      before: Text before the edit.
      text: Text after the edit.
    """
    group = screen().group
    digits, whole = text.replace(group, ""), re.compile(r"[+-]?\d+")
    if not _grouped(group, screen().point).fullmatch(before) or not whole.fullmatch(digits):
        return text
    if digits == before.replace(group, ""):
        return text  # a separator was deleted: restoring it would prevent deleting the digit before it
    sign = digits[:1] if digits[:1] in "+-" else ""
    return sign + written(int(digits.removeprefix(sign)))


def _with_a_point(text: str) -> str:
    """Return a number with a decimal point and without groups; other text is returned unchanged."""
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
    """Return the pattern of a number with separated thousands; India's lakhs also match."""
    mark = r"\s" if group.isspace() else "['\u2019]" if group in "'\u2019" else re.escape(group)
    decimals = rf"({re.escape(point)}(?P<decimals>\d*))?"
    return re.compile(
        rf"(?P<sign>[+-]?)(?P<whole>[1-9]\d{{0,2}}({mark}\d{{2,3}})*{mark}\d{{3}}){decimals}(?P<power>[eE][+-]?\d+)?"
    )


def _decimal_commas(text: str, schema: Mapping[str, Any]) -> bool:
    """Return whether a list seems to have decimal commas, although commas separate its items."""
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
