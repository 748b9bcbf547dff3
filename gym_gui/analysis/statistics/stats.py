"""Computes means and tests of paired differences, deterministically.

``docs/statistics/comparisons.md`` explains each method and its choice, and
``docs/measurements/calibration_verdicts.md`` has the measured error rates. All random numbers have a fixed
seed, so that a report that is computed twice is the same.
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
"""p-value of a normality test below which Student's t test is not used."""


def mean(values: Sequence[float] | Floats) -> float:
    """Return the arithmetic mean of at least one value; it is never outside the range of the values."""
    x = np.asarray(values, dtype=np.float64)
    # A sum has rounding errors: 3 * 0.1 / 3 != 0.1.
    return float(np.clip(x.mean(), x.min(), x.max()))


def iqm(values: Sequence[float] | Floats) -> float:
    """Return the interquartile mean: the mean without the lowest and the highest quarter of the values.

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
        exact: Whether all sign patterns were evaluated instead of a random sample.
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
        differences: One difference per unit (seed).
        flips: Number of random patterns, if there are too many to evaluate all.

    Source:
        Phipson & Smyth, "Permutation P-values Should Never Be Zero", 2010.
    """
    d = np.asarray(differences, dtype=np.float64)
    d = d[d != 0]
    if len(d) == 0:
        return FlipTest(1.0, True, 1)
    # With a tolerance, so that rounding errors do not separate patterns that are equal in exact arithmetic.
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
    """Return the two-sided mid-p-value of McNemar's test, for differences -c, 0 and c.

    Args:
        ahead: Number of units on which the first side did better.
        behind: Number of units on which the second side did better. Units with equal results do not count.

    Source:
        Fagerland, Lydersen & Laake, "The McNemar Test for Binary Matched-Pairs Data:
        Mid-p and Asymptotic Are Better Than Exact Conditional", BMC Med. Res. Meth. 13 (2013).
    """
    if ahead == behind:
        return 1.0
    fewer, n = min(ahead, behind), ahead + behind
    below = binomial_cdf(fewer - 1, n, 0.5) if fewer else 0.0
    return below + binomial_cdf(fewer, n, 0.5)  # twice (tail plus half of the observed probability)


class PairedTest(NamedTuple):
    """Two-sided p-value with the name of its test."""

    p: float
    method: str


def least_p(units: int) -> float:
    """Return the smallest p-value that :func:`sign_flip_test` can give for a number of units."""
    return max(2.0 ** (1 - units), 1 / (1 + FLIPS) if units > EXACT_FLIPS else 0.0)


def paired_test(differences: Floats, level: float = 1.0) -> PairedTest:
    """Test whether two sides differ, by McNemar's test or by sign flips.

    McNemar's test is used if all differences that are not 0 have the same size and some differences are 0. It
    tests signs, so it does not assume that no other size can occur. Without ties, sign flips are used: if one
    side wins what the other loses, ties are impossible, and mid-p-values would have an error rate of up to
    7 %.

    On few units, the smallest p-value of sign flips may be too large to decide one of many comparisons,
    however large the differences are. Student's t test then replaces the sign-flip test where this has
    reached its smallest p-value, if all differences have one sign and look normal, as the t test assumes.

    Args:
        differences: One difference per unit (seed).
        level: Level below which a p-value decides a comparison of the family.
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
