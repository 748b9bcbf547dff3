"""Computes from the spread of a pilot run how many seeds a comparison needs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from gym_gui.analysis.findings.comparison import Comparison
from gym_gui.analysis.statistics.distributions import CONFIDENCE, chi_square_quantile
from gym_gui.analysis.statistics.intervals import MIN_UNITS
from gym_gui.analysis.statistics.seeds_needed import POWER, seeds_needed


@dataclass(frozen=True)
class DifferenceSpread:
    """Standard deviation over seeds of the difference between two operators, estimated from a pilot.

    Attributes:
        value: Standard deviation of the differences.
        low: Lower end of its 95 % interval, which assumes about normally distributed differences.
        high: Upper end of its 95 % interval.
        seeds: Number of seeds in the pilot.
    """

    value: float
    low: float
    high: float
    seeds: int


def spread_of(comparison: Comparison) -> DifferenceSpread | None:
    """Return the spread of the differences of a comparison; ``None`` if it has too few seeds.

    A seed that was played in several seatings counts with the mean of its differences.
    """
    by_seed: dict[int | None, list[float]] = {}
    for seed, difference in zip(comparison.seeds, comparison.differences, strict=True):
        by_seed.setdefault(seed, []).append(difference)
    n = len(by_seed)
    if n < MIN_UNITS:
        return None
    value = float(np.std([np.mean(each) for each in by_seed.values()], ddof=1))
    tail = (1 - CONFIDENCE) / 2
    low, high = (value * math.sqrt((n - 1) / chi_square_quantile(n - 1, p)) for p in (1 - tail, tail))
    return DifferenceSpread(value, low, high, n)


def differences_in_question(comparison: Comparison, difference: float | None) -> Iterator[tuple[str, float]]:
    """Yield the differences to compute seeds for, largest first, each after a description of its origin.

    Args:
        comparison: Comparison of the pilot.
        difference: A given difference; ``None`` for the pilot's difference and half of it.
    """
    seen = comparison.difference.value
    if difference is not None:
        yield "asked for", abs(difference)
    elif seen:
        yield "as seen", abs(seen)
        yield "half of that", abs(seen) / 2


def seeds_for(
    difference: float, spread: DifferenceSpread, *, power: float = POWER, comparisons: int = 1
) -> Sequence[int]:
    """Return the numbers of seeds needed for the estimated spread and for both ends of its interval."""
    return [
        seeds_needed(difference, each, power=power, comparisons=comparisons)
        for each in (spread.value, spread.low, spread.high)
    ]
