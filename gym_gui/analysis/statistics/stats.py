"""Estimates and tests: pure functions of numbers, the same on every call.

``docs/statistics/comparisons.md`` explains each and its choice; ``docs/measurements/calibration_verdicts.md``
has the measured error rates. All randomness has a fixed seed: a report made twice is equal.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gym_gui.analysis.statistics.distributions import binomial_cdf, student_tail
from gym_gui.analysis.statistics.intervals import MIN_UNITS, Floats, looks_normal, step_of
from gym_gui.analysis.statistics.sign_patterns import EXACT_FLIPS, FLIPS, all_sums, chosen_sums
from gym_gui.analysis.statistics.summary_numbers import FLIP_EXACT, FLIP_SAMPLED, MCNEMAR, STUDENT

SURELY_NOT_NORMAL = 0.01
"""p-value of a test of normality below which differences are not taken for normal."""


def mean(values: Sequence[float] | Floats) -> float:
    """Arithmetic mean of at least one value; never outside their range."""
    x = np.asarray(values, dtype=np.float64)
    # Summation may leave the range by a rounding error: 3 * 0.1 / 3 != 0.1.
    return float(np.clip(x.mean(), x.min(), x.max()))


def iqm(values: Sequence[float] | Floats) -> float:
    """Interquartile mean: the mean of what is left when a quarter is cut off at each end.

    ``floor(n / 4)`` values are dropped at the bottom and as many at the top, as in
    ``scipy.stats.trim_mean(x, 0.25)`` and rliable. With fewer than four values nothing
    is dropped, and it is the mean. Equal values are interchangeable, so ties need no rule.

    Source:
        Agarwal et al., "Deep Reinforcement Learning at the Edge of the Statistical
        Precipice", NeurIPS 2021.
    """
    x = np.sort(np.asarray(values, dtype=np.float64))
    cut = len(x) // 4
    return mean(x[cut : len(x) - cut])


class FlipTest(NamedTuple):
    """Result of :func:`sign_flip_test`.

    Attributes:
        p: Two-sided p-value, never 0.
        exact: All sign patterns were gone through; otherwise a random sample of them.
        patterns: How many.
    """

    p: float
    exact: bool
    patterns: int


def sign_flip_test(differences: Sequence[float] | Floats, *, flips: int = FLIPS) -> FlipTest:
    """Paired permutation test that two policies do equally well on a seed.

    If they do, each difference could as well have had the other sign: under the null
    hypothesis differences are symmetric about 0. The p-value is the share of sign
    patterns whose sum is at least as far from 0 as the one seen.
    Exact with up to :data:`EXACT_FLIPS` differences that are not 0, else from random
    patterns with the seen one counted in, so that it is a valid p-value.

    Args:
        differences: One per unit (seed).
        flips: Random patterns where there are too many to go through.

    Source:
        Phipson & Smyth, "Permutation P-values Should Never Be Zero", 2010.
    """
    d = np.asarray(differences, dtype=np.float64)
    d = d[d != 0]
    if len(d) == 0:
        return FlipTest(1.0, True, 1)
    # Patterns equal in exact arithmetic must not be told apart by rounding.
    threshold = abs(float(d.sum())) - 1e-9 * float(np.abs(d).sum())
    if len(d) <= EXACT_FLIPS:
        n = len(d)
        flipped = 2 * all_sums(d) - d.sum()
        hits = int(np.count_nonzero(np.abs(flipped) >= threshold))
        return FlipTest(hits / (1 << n), True, 1 << n)
    hits = sum(
        int(np.count_nonzero(np.abs(2 * chosen - d.sum()) >= threshold)) for chosen in chosen_sums(d, flips)
    )
    return FlipTest((1 + hits) / (1 + flips), False, flips)


def mcnemar_test(ahead: int, behind: int) -> float:
    """Two-sided mid-p of McNemar's test: differences of one size, some of them 0.

    Args:
        ahead: Units on which the first scored and the second did not.
        behind: The reverse. Units on which both did the same say nothing.

    Source:
        Fagerland, Lydersen & Laake, "The McNemar Test for Binary Matched-Pairs Data:
        Mid-p and Asymptotic Are Better Than Exact Conditional", BMC Med. Res. Meth. 13 (2013).
    """
    if ahead == behind:
        return 1.0
    fewer, n = min(ahead, behind), ahead + behind
    below = binomial_cdf(fewer - 1, n, 0.5) if fewer else 0.0
    return below + binomial_cdf(fewer, n, 0.5)  # half the chance of what was seen, twice


class PairedTest(NamedTuple):
    """A two-sided p-value, and of which test."""

    p: float
    method: str


def least_p(units: int) -> float:
    """The smallest p-value that signs of so many units can give."""
    return max(2.0 ** (1 - units), 1 / (1 + FLIPS) if units > EXACT_FLIPS else 0.0)


def paired_test(differences: Floats, level: float = 1.0) -> PairedTest:
    """McNemar's test where differences have one size and some unit is level, else sign flips.

    McNemar's is a test of their signs: it does not rest on it that no other size is to come. Sign flips
    where no unit is level: where one side wins what the other loses, every unit must differ, and mid-p
    would be wrong up to 7 % of the time.

    Few units have few patterns of signs, and of many comparisons none could be decided, however far apart
    two sides are. There, Student's t test goes on where the sign-flip test has said all it can: where all
    units have one sign, and their differences look normal, which it assumes.

    Args:
        differences: One per unit (seed).
        level: Below which a p-value has to be, so that a comparison of this family can be decided.
    """
    ahead, behind = int(np.count_nonzero(differences > 0)), int(np.count_nonzero(differences < 0))
    n = len(differences)
    if step_of(differences) is not None and ahead + behind < n:
        return PairedTest(mcnemar_test(ahead, behind), MCNEMAR)
    found = sign_flip_test(differences)
    if n >= MIN_UNITS and found.p <= least_p(n) and least_p(n) >= level and max(ahead, behind) == n:
        p = student_test(differences) if looks_normal(differences, SURELY_NOT_NORMAL) else 1.0
        if p < found.p:
            return PairedTest(p, STUDENT)
    return PairedTest(found.p, FLIP_EXACT if found.exact else FLIP_SAMPLED)


def student_test(differences: Floats) -> float:
    """Two-sided p-value of Student's paired t test; differences must not all be equal."""
    n = len(differences)
    error = float(differences.std(ddof=1)) / math.sqrt(n)
    return 2 * student_tail(n - 1, abs(float(differences.mean())) / error)


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down correction, in the order given.

    Source:
        Holm, "A Simple Sequentially Rejective Multiple Test Procedure", 1979.
    """
    m = len(p_values)
    adjusted = [0.0] * m
    worst = 0.0
    for rank, i in enumerate(sorted(range(m), key=lambda i: p_values[i])):
        worst = max(worst, min(1.0, (m - rank) * p_values[i]))
        adjusted[i] = worst
    return adjusted
