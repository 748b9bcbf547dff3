"""Computes how many seeds are needed to find a difference by the rule of the verdict."""

from __future__ import annotations

import math
from typing import Final

from gym_gui.analysis.statistics.distributions import normal_cdf, shifted_student_tail, student_quantile
from gym_gui.analysis.statistics.intervals import MIN_UNITS
from gym_gui.analysis.statistics.sign_patterns import EXACT_FLIPS
from gym_gui.analysis.statistics.stats import SURELY_NOT_NORMAL, least_p

ALPHA: Final = 0.05
"""Share of families of equal sides in which one side is called better."""
POWER: Final = 0.8
"""Default probability of finding a true difference."""
_MOST = 1e12
"""Number of seeds beyond which the exact number does not matter."""
_FEW, _MANY, _FEW_WAYS = 40, 400, 9
_WIDE, _WIDER = 1 / 3, 4.7
"""For normal differences: the part of the intervals that is wider than Student's, and how much wider these
are, as a factor that is divided by the seeds. Both values fit 180,000 simulated verdicts on 7 to 50 seeds
best, within a hundredth."""


def seeds_needed(difference: float, spread: float, *, power: float = POWER, comparisons: int = 1) -> int:
    """Return the number of seeds on which two sides must be compared to find a true difference.

    Args:
        difference: The true mean difference, not 0.
        spread: Standard deviation of the differences from seed to seed.
        power: Probability of finding the difference, in (0, 1).
        comparisons: Number of comparisons in the family.
    """

    def enough(seeds: int) -> bool:
        return power_of(seeds, difference, spread, comparisons=comparisons) >= power

    for seeds in range(MIN_UNITS, _FEW):  # with so few sign patterns power does not always grow with seeds
        if enough(seeds):
            return seeds
    low, high = _FEW - 1, _FEW
    while high < _MOST and not enough(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return min(high, int(_MOST))


def power_of(seeds: int, difference: float, spread: float, *, comparisons: int = 1) -> float:
    """Return how often a report finds a true difference on this number of seeds, if differences are normal.

    The rule is the verdict's: p below the 5 % level divided by the number of comparisons, which is the first
    step of Holm's procedure, and an interval that excludes 0. The calculation accounts for the smallest
    p-value that signs of few seeds can give. It also accounts for a third of the intervals being wider than
    Student's, by :data:`_WIDER` divided by the seeds. ``scripts/calibration/calibration_power.py`` compares
    it with verdicts.

    Source:
        Guenther, "Sample Size Formulas for Normal Theory T Tests", The American Statistician 35 (1981), for
        many seeds; for few, the noncentral t.
    """
    level = ALPHA / comparisons
    if seeds < MIN_UNITS:
        return 0.0
    if spread == 0:
        return float(least_p(seeds) < level)
    size = abs(difference) / spread
    ways = math.ceil(level * 2.0 ** (seeds - 1) - 1e-9) - 1 if seeds <= EXACT_FLIPS else math.inf
    reached = level if not 0 < ways < math.inf else ways * 2.0 ** (1 - seeds)
    of_interval = student_quantile(seeds - 1, 1 - ALPHA / 2)
    of_test = student_quantile(seeds - 1, 1 - reached / 2)
    found = sum(
        part * _beyond(seeds, size, max(of_test, of_interval * wider))
        for part, wider in ((1 - _WIDE, 1.0), (_WIDE, 1 + _WIDER / seeds))
    )
    return min(found if ways else found * (1 - SURELY_NOT_NORMAL), _signs_suffice(seeds, size, ways))


def _signs_suffice(seeds: int, size: float, ways: float) -> float:
    """Return how often at most ``ways`` sign patterns are as far out as the observed one, if these are few.

    All seeds then have the sign of the difference, or one has not and hardly any other is smaller than it.
    """
    if ways > _FEW_WAYS:
        return 1.0
    positive = normal_cdf(size)
    found, most, step = positive**seeds, math.floor(math.log2(ways - 1)) if ways > 1 else -1, 0.01
    for x in (step * (i + 0.5) for i in range(400)):
        density = math.exp(-((x + size) ** 2) / 2) / math.sqrt(2 * math.pi)
        larger = normal_cdf(size - x)
        others = sum(
            math.comb(seeds - 1, j) * (positive - larger) ** j * larger ** (seeds - 1 - j)
            for j in range(most + 1)
        )
        found += seeds * density * others * step
    return min(found, 1.0)


def _beyond(seeds: int, size: float, critical: float) -> float:
    """Return how often Student's t exceeds its critical value, on the side of the true difference."""
    if seeds > _MANY:
        return normal_cdf(size * math.sqrt(seeds - critical**2 / 2) - critical)
    return shifted_student_tail(seeds - 1, size * math.sqrt(seeds), critical)


def seeds_by_signs(comparisons: int) -> int:
    """Return the number of seeds on which signs alone can decide one of this many comparisons."""
    return max(MIN_UNITS, math.floor(1 + math.log2(comparisons / ALPHA)) + 1)
