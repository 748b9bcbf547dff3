"""Computes how many seeds a comparison needs to detect a difference by the rule of verdicts."""

from __future__ import annotations

import math
from typing import Final

from gym_gui.analysis.statistics.distributions import normal_cdf, shifted_student_tail, student_quantile
from gym_gui.analysis.statistics.intervals import MIN_UNITS
from gym_gui.analysis.statistics.sign_patterns import EXACT_FLIPS
from gym_gui.analysis.statistics.stats import SURELY_NOT_NORMAL, least_p

ALPHA: Final = 0.05
"""Level: allowed probability that a report calls one of several equal sides better."""
POWER: Final = 0.8
"""Default probability of detecting a true difference."""
_MOST = 1e12
"""Largest number of seeds that is returned."""
_FEW, _MANY, _FEW_WAYS = 40, 400, 9
_WIDE, _WIDER = 1 / 3, 4.7
"""Share of intervals that are wider than Student's for normal differences, and their additional width as a
factor that is divided by the number of seeds. Both values fit 180,000 simulated verdicts on 7 to 50 seeds."""


def seeds_needed(difference: float, spread: float, *, power: float = POWER, comparisons: int = 1) -> int:
    """Return the number of seeds on which two sides must be compared to detect a true difference.

    Args:
        difference: The true mean difference, not 0.
        spread: Standard deviation of the differences over seeds.
        power: Probability of detecting the difference, in (0, 1).
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
    """Return the probability that a report detects a true difference, if differences by seed are normal.

    A difference is detected if p is below the 5 % level divided by the number of comparisons, which is the
    first step of Holm's procedure, and the interval excludes 0. The calculation accounts for the smallest
    p-value of sign flips on few seeds, and for intervals that are wider than Student's (:data:`_WIDER`).
    ``scripts/calibration/calibration_power.py`` compares the result with verdicts.

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
    """Return the probability that at most ``ways`` sign patterns are as extreme as the observed one.

    Then all seeds have the sign of the difference, or one seed has the other sign and few seeds have smaller
    differences.
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
    """Return the probability that Student's t exceeds its critical value on the true difference's side."""
    if seeds > _MANY:
        return normal_cdf(size * math.sqrt(seeds - critical**2 / 2) - critical)
    return shifted_student_tail(seeds - 1, size * math.sqrt(seeds), critical)


def seeds_by_signs(comparisons: int) -> int:
    """Return the smallest number of seeds on which sign flips can decide one of several comparisons."""
    return max(MIN_UNITS, math.floor(1 + math.log2(comparisons / ALPHA)) + 1)
