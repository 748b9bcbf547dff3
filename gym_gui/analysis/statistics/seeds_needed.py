"""How many seeds a difference needs, by the rule of the verdict."""

from __future__ import annotations

import math
from typing import Final

from gym_gui.analysis.statistics.distributions import normal_cdf, shifted_student_tail, student_quantile
from gym_gui.analysis.statistics.intervals import MIN_UNITS
from gym_gui.analysis.statistics.sign_patterns import EXACT_FLIPS
from gym_gui.analysis.statistics.stats import SURELY_NOT_NORMAL, least_p

ALPHA: Final = 0.05
"""Share of families of equal sides in which one is said to be better."""
POWER: Final = 0.8
"""How often a true difference is to be found, where nothing else is asked for."""
_MOST = 1e12
"""Seeds beyond which it does not matter how many they are."""
_FEW, _MANY, _FEW_WAYS = 40, 400, 9
_WIDE, _WIDER = 1 / 3, 4.7
"""What part of the intervals of normal differences is wider than Student's, and by how much of it, times the
seeds: what is nearest to 180,000 made-up verdicts on 7 to 50 seeds, within a hundredth."""


def seeds_needed(difference: float, spread: float, *, power: float = POWER, comparisons: int = 1) -> int:
    """Seeds on which two sides have to be compared so that a true difference is found.

    Args:
        difference: The true mean difference, not 0.
        spread: Standard deviation of the differences from seed to seed.
        power: How often it is to be found, in (0, 1).
        comparisons: In the family.
    """

    def enough(seeds: int) -> bool:
        return power_of(seeds, difference, spread, comparisons=comparisons) >= power

    for seeds in range(MIN_UNITS, _FEW):  # patterns of signs are so few that power does not only grow here
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
    """How often a report decides for a true difference on so many seeds, if differences are normal.

    The rule is the verdict's: p below the 5 % level divided by the comparisons, which is the step of Holm's
    procedure that the first of them has to pass, and an interval that excludes 0. What signs of so few
    seeds can give at the least is reckoned with, and so is that a third of the intervals is wider
    than Student's by :data:`_WIDER` of the seeds. ``scripts/calibration/calibration_power.py`` holds it
    against verdicts.

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
    """How often no more than so many patterns of signs are as far out as what was seen, where they are few.

    Then all seeds have the sign of the difference, or one has not, and hardly any other is smaller than it.
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
    """How often Student's t is beyond its critical value, on the side of the true difference."""
    if seeds > _MANY:
        return normal_cdf(size * math.sqrt(seeds - critical**2 / 2) - critical)
    return shifted_student_tail(seeds - 1, size * math.sqrt(seeds), critical)


def seeds_by_signs(comparisons: int) -> int:
    """Seeds on which signs alone can decide one of so many comparisons."""
    return max(MIN_UNITS, math.floor(1 + math.log2(comparisons / ALPHA)) + 1)
