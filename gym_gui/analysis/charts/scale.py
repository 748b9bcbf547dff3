"""Maps numbers to pixels for the axes of charts, with ticks at round numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from gym_gui.analysis.words import wording

MOST_TICKS: Final = 5
SAME: Final = 1e-6
"""Absolute and relative difference below which two numbers are drawn as equal."""


@dataclass(frozen=True, slots=True)
class Scale:
    """Linear map from numbers to pixels.

    Attributes:
        ticks: Round numbers, from the smallest to the largest.
        start: Pixel of the first tick.
        end: Pixel of the last tick.
    """

    ticks: tuple[float, ...]
    start: float
    end: float

    @classmethod
    def over(cls, values: Iterable[float], start: float, end: float, *, zero: bool = False) -> Scale:
        """Return a scale from pixel ``start`` to ``end`` that spans the values, and 0 if ``zero`` is set."""
        known = [value for value in values if math.isfinite(value)] or [0.0]
        low, high = min(known), max(known)
        if zero:
            low, high = min(low, 0.0), max(high, 0.0)
        low, high = spread(low, high)
        step = round_step((high - low) / MOST_TICKS)
        first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
        return cls(tuple(round(i * step, 12) for i in range(first, last + 1)), start, end)

    def __call__(self, value: float) -> float:
        """Return the pixel of a number."""
        low, high = self.ticks[0], self.ticks[-1]
        return self.start + (value - low) / (high - low) * (self.end - self.start)

    def words(self) -> list[str]:
        """Return the label of each tick."""
        return tick_words(self.ticks)


def ticks_within(
    low: float, high: float, *, most: int = MOST_TICKS, least: float = 0.0, whole: bool = False
) -> list[float]:
    """Return about ``most`` round numbers from ``low`` to ``high``, for an axis with fixed ends.

    Args:
        low: Lower end.
        high: Upper end. If it equals ``low``, only this number is returned, and only if it is round.
        most: Largest number of ticks; there may be one more.
        least: Smallest step.
        whole: Whether only whole numbers have a meaning.
    """
    least = max(least, 1.0) if whole else least
    step = max(round_step((high - low) / most) if high > low else least or 1.0, least)
    step = round(step) if whole else step
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(i * step, 12) for i in range(first, last + 1)]


def tick_words(ticks: Sequence[float]) -> list[str]:
    """Return evenly spaced numbers as text, with as many decimals as needed to distinguish them."""
    step = ticks[1] - ticks[0] if len(ticks) > 1 else 1.0
    digits = 0
    while digits < 8 and abs(round(step, digits) - step) > step * 1e-6:
        digits += 1
    return [wording.number(tick, digits) if tick else "0" for tick in ticks]


def spread(low: float, high: float) -> tuple[float, float]:
    """Return the ends of an axis; almost equal ends are moved apart."""
    size = max(abs(low), abs(high))
    if high - low > max(SAME, SAME * size):
        return low, high
    pad = size * 0.1 if size > 10 * SAME else 1.0
    # An axis of numbers that cannot be negative does not begin below 0.
    return (max(low - pad, 0.0) if low >= 0 else low - pad), high + pad


def round_step(rough: float) -> float:
    """Round a positive number up to 1, 2, 2.5 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(rough))
    return next(power * m for m in (1, 2, 2.5, 5, 10) if power * m >= rough * (1 - 1e-9))
