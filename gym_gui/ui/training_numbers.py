"""Texts for numbers about trainings."""

from __future__ import annotations

import math
from typing import Final

from gym_gui.analysis.words import wording
from gym_gui.ui.numbers import local, screen

NONE: Final = screen().none
"""Text for a missing number."""


def steps_in_words(steps: float) -> str:
    """Return a number of steps as text, such as ``800``, ``1,500``, ``12k`` or ``1.25M``."""
    return wording.steps_in_words(steps, screen())


def return_in_words(value: float | None) -> str:
    """Return an episode return as text, with two decimals or fewer; a dash for ``None``."""
    if value is None or not math.isfinite(value):
        return NONE
    digits = 2 if abs(value) < 10 else 1 if abs(value) < 100 else 0
    text = f"{value:,.{digits}f}"
    return screen().write("0" + text[2:] if text.startswith("-0") and not float(text) else text)


def value_in_words(value: float) -> str:
    """Return a value of a training curve as text with four significant digits."""
    if not value or not math.isfinite(value):
        return "0" if value == 0 else NONE
    return f"{local(value):,.0f}" if abs(value) >= 1e4 and abs(value) < 1e9 else f"{local(value):.4g}"
