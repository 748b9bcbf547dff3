"""How many seeds a comparison needs, after a pilot and before it is played."""

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
class Spread:
    """How much a difference varies from seed to seed, as a pilot shows it.

    Attributes:
        value: Standard deviation of the differences of seeds.
        low: Lower end of its 95 % interval, of differences that are about normal.
        high: Upper end.
        seeds: Seeds it rests on.
    """

    value: float
    low: float
    high: float
    seeds: int


def spread_of(comparison: Comparison) -> Spread | None:
    """The spread of a comparison that was played; ``None`` where it cannot be told from so few seeds.

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
    return Spread(value, low, high, n)


def differences_in_question(comparison: Comparison, difference: float | None) -> Iterator[tuple[str, float]]:
    """Differences that a person would ask about, largest first, each with where it is from.

    Args:
        comparison: A pilot.
        difference: The one that is asked about; else what the pilot has seen, and half of it.
    """
    seen = comparison.difference.value
    if difference is not None:
        yield "asked for", abs(difference)
    elif seen:
        yield "as seen", abs(seen)
        yield "half of that", abs(seen) / 2


def seeds_for(
    difference: float, spread: Spread, *, power: float = POWER, comparisons: int = 1
) -> Sequence[int]:
    """Seeds needed with the spread as it was seen, and with the ends of its interval."""
    return [
        seeds_needed(difference, each, power=power, comparisons=comparisons)
        for each in (spread.value, spread.low, spread.high)
    ]
