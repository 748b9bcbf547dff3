"""Numbers as the reader's country writes them. Files, records and exports have them with a point, always."""

from __future__ import annotations

import re
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final

from PyQt6.QtCore import QLocale

from gym_gui.analysis import wording
from gym_gui.analysis.wording import SCREEN, C, Locale

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
    """Sentences that are made meanwhile have their numbers so."""
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


def typed(text: str) -> str:
    """What somebody typed as a number, with a point and without groups.

    ``0,5`` and ``3.512,5`` are read where people write so; what is no number so stays as it is, for
    whoever judges it.
    """
    locale = QLocale()
    text = text.replace(SCREEN.minus, C.minus)
    point, group = locale.decimalPoint(), locale.groupSeparator()
    if point == ".":
        return text
    plain = text.strip()
    if group.isspace():
        plain = re.sub(r"(?<=\d)\s(?=\d{3})", "", plain)
    elif re.fullmatch(rf"[+-]?[1-9]\d{{0,2}}({re.escape(group)}\d{{3}})+({re.escape(point)}\d*)?", plain):
        plain = plain.replace(group, "")
    plain = plain.replace(point, ".", 1)
    return plain if _is_number(plain) else text


def shown(text: str) -> str:
    """A number with a point as the reader writes it; what is no number stays as it is."""
    return text.replace(".", QLocale().decimalPoint()) if _is_number(text) else text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
