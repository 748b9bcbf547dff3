"""Computes quantiles and tail probabilities of the distributions that intervals and tests use.

``scipy.special`` is imported on first use, because the import takes longer than writing the report of a small
run. The functions that every report needs work without scipy.
"""

from __future__ import annotations

import math
from importlib import import_module
from statistics import NormalDist
from typing import Any, Final

import numpy as np

CONFIDENCE = 0.95
"""Default confidence level of intervals."""

MIN_INTERVAL = 10
"""Smallest number of units for which an interval is shown; with fewer, every value is shown. If an outcome
has probability 30 %, it is missing in 17 % of samples of five values, and no interval can account for it; in
samples of ten values, it is missing in 3 %."""

_NORMAL: Final = NormalDist()
_MOST_STEPS: Final = 100
_FINITE_SUM: Final = 1000
"""Largest number of degrees of freedom for which Student's distribution is computed as a finite sum."""


def _special() -> Any:
    return import_module("scipy.special")


def normal_quantile(p: float) -> float:
    """Return the ``p``-quantile of the standard normal distribution."""
    return _NORMAL.inv_cdf(p) if 0 < p < 1 else math.copysign(math.inf, p - 0.5)


def normal_cdf(x: float) -> float:
    """Return the probability that a standard normal variable is at most ``x``."""
    return _NORMAL.cdf(x)


def student_quantile(degrees: int, p: float) -> float:
    """Return the ``p``-quantile of Student's t distribution, for ``p`` >= 0.5.

    Source:
        Abramowitz & Stegun, "Handbook of Mathematical Functions" (1964), 26.7.3 and 26.7.4: for whole
        degrees of freedom the distribution is a finite sum, whose root is found by Newton's method from
        below. For more than a thousand degrees the sum would have too many terms; 26.7.5 is exact to ten
        digits there.
    """
    if degrees > _FINITE_SUM:
        return _large_student_quantile(degrees, normal_quantile(p))
    density = math.exp(math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2))
    density /= math.sqrt(degrees * math.pi)
    odd = degrees % 2
    k = np.arange(1, (degrees - odd) // 2)
    coefficients = np.concatenate([[1.0], np.cumprod((2 * k - 1 + odd) / (2 * k + odd))])
    t = normal_quantile(p)
    for _ in range(_MOST_STEPS):
        angle = math.atan2(t, math.sqrt(degrees))
        sine, cosine = math.sin(angle), math.cos(angle)
        inner = sine * float(coefficients @ (cosine ** (2.0 * np.arange(len(coefficients)) + odd)))
        within = inner if not odd else 2 / math.pi * (angle + (inner if degrees > 1 else 0.0))
        step = (p - (1 + within) / 2) / (density * (1 + t * t / degrees) ** (-(degrees + 1) / 2))
        t += step
        if abs(step) < 1e-12 * t:
            break
    return t


def _large_student_quantile(degrees: int, z: float) -> float:
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + sum(term / float(degrees) ** (i + 1) for i, term in enumerate(terms))


def student_tail(degrees: int, t: float) -> float:
    """Return the probability that Student's t exceeds ``t``."""
    return float(_special().stdtr(degrees, -t))


def shifted_student_tail(degrees: int, shift: float, t: float) -> float:
    """Return the probability that a noncentral t (Student's t with a mean that is not 0) exceeds ``t``."""
    return 1 - float(_special().nctdtr(degrees, shift, t))


def chi_square_quantile(degrees: float, p: float) -> float:
    """Return the ``p``-quantile of the chi-square distribution."""
    return float(_special().chdtri(degrees, 1 - p))


def beta_quantile(a: float, b: float, p: float) -> float:
    """Return the ``p``-quantile of the beta distribution with parameters ``a``, ``b`` > 0."""
    return float(_special().betaincinv(a, b, p))


def binomial_cdf(hits: int, n: int, p: float) -> float:
    """Return the probability of at most ``hits`` hits in ``n`` trials, each with probability ``p``."""
    return float(_special().bdtr(hits, n, p))
