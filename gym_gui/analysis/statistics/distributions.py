"""Quantiles and tails of the distributions that intervals and tests are made of.

``scipy.special`` has most of them. It is imported when one of these is asked for: that takes longer than to
read a small run and write its report. What every report asks for is made without it.
"""

from __future__ import annotations

import math
from importlib import import_module
from statistics import NormalDist
from typing import Any, Final

import numpy as np

CONFIDENCE = 0.95
"""Of intervals, where nothing else is said."""

MIN_INTERVAL = 10
"""Units below which no interval is shown, but every value. Where one of two kinds of outcome comes 30 % of
the time, five values are all of one kind in 17 % of samples, and no method knows of what it has not seen.
With ten it is 3 %."""

_NORMAL: Final = NormalDist()
_MOST_STEPS: Final = 100
_FINITE_SUM: Final = 1000
"""Degrees of freedom up to which Student's distribution is summed."""


def _special() -> Any:
    return import_module("scipy.special")


def normal_quantile(p: float) -> float:
    """The value below which a standard normal variable is with probability ``p``."""
    return _NORMAL.inv_cdf(p) if 0 < p < 1 else math.copysign(math.inf, p - 0.5)


def normal_cdf(x: float) -> float:
    """How probable it is that a standard normal variable is at most ``x``."""
    return _NORMAL.cdf(x)


def student_quantile(degrees: int, p: float) -> float:
    """The value below which Student's t of so many degrees of freedom is with probability ``p`` >= 0.5.

    Source:
        Abramowitz & Stegun, "Handbook of Mathematical Functions" (1964), 26.7.3 and 26.7.4: for whole
        degrees the distribution is a finite sum, whose root is found by Newton's method from below. Of more
        than a thousand, 26.7.5, which is exact to ten digits there: the sum would have as many terms.
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
    """How probable it is that Student's t of so many degrees of freedom is above ``t``."""
    return float(_special().stdtr(degrees, -t))


def shifted_student_tail(degrees: int, shift: float, t: float) -> float:
    """How probable it is that a noncentral t is above ``t``: Student's, of a mean that is not 0."""
    return 1 - float(_special().nctdtr(degrees, shift, t))


def chi_square_quantile(degrees: float, p: float) -> float:
    """The value below which a chi-square variable of so many degrees of freedom is with probability ``p``."""
    return float(_special().chdtri(degrees, 1 - p))


def beta_quantile(a: float, b: float, p: float) -> float:
    """The value below which a beta variable (``a``, ``b`` > 0) is with probability ``p``."""
    return float(_special().betaincinv(a, b, p))


def binomial_cdf(hits: int, n: int, p: float) -> float:
    """How probable at most ``hits`` hits of ``n`` are, each of probability ``p``."""
    return float(_special().bdtr(hits, n, p))
