"""Numbers onto pixels, with round numbers at the axis."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from gym_gui.analysis.words import wording

MOST_TICKS: Final = 5
SAME: Final = 1e-6
"""Numbers closer than this, by themselves or relative to their size, are drawn as one."""


@dataclass(frozen=True, slots=True)
class Scale:
    """Numbers onto pixels.

    Attributes:
        ticks: Round numbers, from the smallest to the largest.
        start: Pixel of the first tick.
        end: Pixel of the last one.
    """

    ticks: tuple[float, ...]
    start: float
    end: float

    @classmethod
    def over(cls, values: Iterable[float], start: float, end: float, *, zero: bool = False) -> Scale:
        """A scale that spans the values, and zero where it is asked for."""
        known = [value for value in values if math.isfinite(value)] or [0.0]
        low, high = min(known), max(known)
        if zero:
            low, high = min(low, 0.0), max(high, 0.0)
        low, high = spread(low, high)
        step = round_step((high - low) / MOST_TICKS)
        first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
        return cls(tuple(round(i * step, 12) for i in range(first, last + 1)), start, end)

    def __call__(self, value: float) -> float:
        """Where a number lies."""
        low, high = self.ticks[0], self.ticks[-1]
        return self.start + (value - low) / (high - low) * (self.end - self.start)

    def words(self) -> list[str]:
        """The ticks, written."""
        return tick_words(self.ticks)


def ticks_within(
    low: float, high: float, *, most: int = MOST_TICKS, least: float = 0.0, whole: bool = False
) -> list[float]:
    """Round numbers from ``low`` to ``high``, about ``most`` of them, for an axis with ends of its own.

    Args:
        low: Lower end.
        high: Upper end; one that is not above the lower one gives that alone, where it is round.
        most: How many there are at most, or one more.
        least: No step is smaller.
        whole: Whether what lies between whole numbers has no meaning.
    """
    least = max(least, 1.0) if whole else least
    step = max(round_step((high - low) / most) if high > low else least or 1.0, least)
    step = round(step) if whole else step
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(i * step, 12) for i in range(first, last + 1)]


def tick_words(ticks: Sequence[float]) -> list[str]:
    """Numbers at equal distances, written with as many digits as tell them apart."""
    step = ticks[1] - ticks[0] if len(ticks) > 1 else 1.0
    digits = 0
    while digits < 8 and abs(round(step, digits) - step) > step * 1e-6:
        digits += 1
    return [wording.number(tick, digits) if tick else "0" for tick in ticks]


def spread(low: float, high: float) -> tuple[float, float]:
    """Ends of an axis: these, or apart from each other where they are as good as equal."""
    size = max(abs(low), abs(high))
    if high - low > max(SAME, SAME * size):
        return low, high
    pad = size * 0.1 if size > 10 * SAME else 1.0
    # What cannot be negative does not begin below 0.
    return (max(low - pad, 0.0) if low >= 0 else low - pad), high + pad


def round_step(rough: float) -> float:
    """The next larger of 1, 2, 2.5, 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(rough))
    return next(power * m for m in (1, 2, 2.5, 5, 10) if power * m >= rough * (1 - 1e-9))
