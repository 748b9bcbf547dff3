"""Quantiles and tails of the distributions that intervals and tests are made of.

``scipy.special`` has them. It is imported when the first is asked for: that takes longer than to read a
small run and write its report, and where there are few episodes nothing is asked. (``scipy.stats`` would
take a second.)
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

CONFIDENCE = 0.95
"""Of intervals, where nothing else is said."""

MIN_INTERVAL = 10
"""Units below which no interval is shown, but every value. Where one of two kinds of outcome comes 30 % of
the time, five values are all of one kind in 17 % of samples, and no method knows of what it has not seen.
With ten it is 3 %."""


def _special() -> Any:
    return import_module("scipy.special")


def normal_quantile(p: float) -> float:
    """The value below which a standard normal variable is with probability ``p``."""
    return float(_special().ndtri(p))


def normal_cdf(x: float) -> float:
    """How probable it is that a standard normal variable is at most ``x``."""
    return float(_special().ndtr(x))


def student_quantile(degrees: float, p: float) -> float:
    """The value below which Student's t of so many degrees of freedom is with probability ``p``."""
    return float(_special().stdtrit(degrees, p))


def chi_square_quantile(degrees: float, p: float) -> float:
    """The value below which a chi-square variable of so many degrees of freedom is with probability ``p``."""
    return float(_special().chdtri(degrees, 1 - p))


def beta_quantile(a: float, b: float, p: float) -> float:
    """The value below which a beta variable (``a``, ``b`` > 0) is with probability ``p``."""
    return float(_special().betaincinv(a, b, p))


def binomial_cdf(hits: int, n: int, p: float) -> float:
    """How probable at most ``hits`` hits of ``n`` are, each of probability ``p``."""
    return float(_special().bdtr(hits, n, p))
