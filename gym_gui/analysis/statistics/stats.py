"""Computes estimates and tests: pure functions of numbers, with the same result on every call.

``docs/statistics/comparisons.md`` explains each method and why it was chosen, and
``docs/measurements/calibration_verdicts.md`` has the measured error rates. All randomness has a fixed seed,
so that a report made twice is the same.
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
"""p-value of a normality test below which differences are not considered normal."""


def mean(values: Sequence[float] | Floats) -> float:
    """Return the arithmetic mean of at least one value; it is never outside the range of the values."""
    x = np.asarray(values, dtype=np.float64)
    # Summation may leave the range by a rounding error: 3 * 0.1 / 3 != 0.1.
    return float(np.clip(x.mean(), x.min(), x.max()))


def iqm(values: Sequence[float] | Floats) -> float:
    """Return the interquartile mean: the mean of the values left after cutting a quarter off at each end.

    ``floor(n / 4)`` values are dropped at the bottom and as many at the top, as in
    ``scipy.stats.trim_mean(x, 0.25)`` and rliable. With fewer than four values nothing
    is dropped, so the result is the mean. Equal values are interchangeable, so ties need no rule.

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
        exact: Whether all sign patterns were gone through, not a random sample.
        patterns: Number of patterns.
    """

    p: float
    exact: bool
    patterns: int


def sign_flip_test(differences: Sequence[float] | Floats, *, flips: int = FLIPS) -> FlipTest:
    """Test by flipping signs whether two policies do equally well on a seed (paired permutation test).

    If they do, each difference could as well have had the other sign: under the null
    hypothesis differences are symmetric about 0. The p-value is the share of sign
    patterns whose sum is at least as far from 0 as the observed sum.
    The test is exact with up to :data:`EXACT_FLIPS` differences that are not 0. With more it uses random
    patterns and counts the observed one among them, so that the p-value is valid.

    Args:
        differences: One per unit (seed).
        flips: Number of random patterns, if there are too many to go through.

    Source:
        Phipson & Smyth, "Permutation P-values Should Never Be Zero", 2010.
    """
    d = np.asarray(differences, dtype=np.float64)
    d = d[d != 0]
    if len(d) == 0:
        return FlipTest(1.0, True, 1)
    # Rounding must not separate patterns that are equal in exact arithmetic.
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
    """Return the two-sided mid-p of McNemar's test, for differences of one size, some of them 0.

    Args:
        ahead: Units on which the first side scored and the second did not.
        behind: Units on which the second scored and the first did not. Units with equal results do not count.

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
    """Two-sided p-value with the name of its test."""

    p: float
    method: str


def least_p(units: int) -> float:
    """Return the smallest p-value that signs of this number of units can give."""
    return max(2.0 ** (1 - units), 1 / (1 + FLIPS) if units > EXACT_FLIPS else 0.0)


def paired_test(differences: Floats, level: float = 1.0) -> PairedTest:
    """Test whether two sides differ, by McNemar's test or by sign flips.

    McNemar's test applies if differences have one size and some units are tied. It tests their signs, so it
    does not assume that no other size can occur. Without tied units sign flips are used: if one side wins
    what the other loses, no unit can be tied, and mid-p would be wrong up to 7 % of the time.

    Few units have few sign patterns, so none of many comparisons could be decided, however far apart the
    sides are. Student's t test then continues where the sign-flip test has reached its smallest p-value. It
    is used only if all units have one sign and their differences look normal, which the test assumes.

    Args:
        differences: One per unit (seed).
        level: Level that the p-value must be below to decide a comparison of this family.
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
    """Return the two-sided p-value of Student's paired t test; differences must not all be equal."""
    n = len(differences)
    error = float(differences.std(ddof=1)) / math.sqrt(n)
    return 2 * student_tail(n - 1, abs(float(differences.mean())) / error)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values after Holm's step-down correction, in the given order.

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
