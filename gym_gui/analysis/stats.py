"""The statistics themselves: pure functions of numbers, the same on every call.

What each is, why it was chosen, and how its error rates were measured is told in
``docs/statistics.md``. All randomness has a fixed seed: a report made twice is equal.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

Floats = NDArray[np.float64]

CONFIDENCE = 0.95
MIN_UNITS = 6
"""Below six there is no interval: its real coverage would be far under 95 %, and no
sign-flip test can reach p < 0.05 (2 / 2**5 = 0.0625)."""

RESAMPLES = 9_999
EXACT_FLIPS = 16
"""Up to this many units all 2**n sign patterns are gone through."""

FLIPS = 19_999
_SEED = 20_210_831
_CHUNK = 1 << 20
"""Numbers drawn at a time, so that memory does not grow with episodes."""


class Interval(NamedTuple):
    """A 95 % confidence interval."""

    low: float
    high: float


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


def bootstrap_interval(
    values: Sequence[float] | Floats,
    units: Sequence[int] | NDArray[np.int64] | None = None,
    statistic: Literal["mean", "iqm"] = "mean",
    *,
    resamples: int = RESAMPLES,
) -> Interval | None:
    """95 % interval by the expanded percentile bootstrap.

    Whole units (seeds) are drawn with replacement and their values pooled. The
    percentiles are moved outwards by what Student's t asks for with few units.

    Args:
        values: One per episode.
        units: For each value the number, from 0 without gaps, of the unit it belongs
            to; ``None`` makes each value its own.
        statistic: What the interval is for.
        resamples: How many bootstrap samples.

    Returns:
        The interval, or ``None`` with fewer than :data:`MIN_UNITS` units.

    Source:
        Hesterberg, "What Teachers Should Know About the Bootstrap", The American
        Statistician 69 (2015), section 5.3.
    """
    x = np.asarray(values, dtype=np.float64)
    unit_of = np.arange(len(x)) if units is None else np.asarray(units)
    n = int(unit_of.max()) + 1 if len(x) else 0
    if n < MIN_UNITS:
        return None
    if x.min() == x.max():
        return Interval(float(x[0]), float(x[0]))
    order = np.argsort(x, kind="stable")
    return _interval(x[order].tobytes(), unit_of[order].astype(np.int64).tobytes(), n, statistic, resamples)


@lru_cache(maxsize=64)
def _interval(values: bytes, units: bytes, n: int, statistic: str, resamples: int) -> Interval:
    """Cached, as an operator, its only team and its only slot have the same returns."""
    x, unit_of = np.frombuffer(values), np.frombuffer(units, dtype=np.int64)
    estimates = np.concatenate([_resampled(x, unit_of, w, statistic) for w in _unit_counts(n, resamples)])
    # stdtrit is Student's t quantile; scipy.stats would take a second to import.
    tail = float(special.ndtr(-math.sqrt(n / (n - 1)) * special.stdtrit(n - 1, (1 + CONFIDENCE) / 2)))
    low, high = np.quantile(estimates, [tail, 1 - tail])
    return Interval(float(low), float(high))


def _unit_counts(n: int, resamples: int) -> Iterator[NDArray[np.int64]]:
    """How often each of ``n`` units is drawn: (rows, n), a chunk at a time."""
    rng = np.random.default_rng(_SEED)
    rows = max(1, _CHUNK // n)
    for start in range(0, resamples, rows):
        size = min(rows, resamples - start)
        drawn = rng.integers(n, size=(size, n)) + np.arange(size)[:, None] * n
        yield np.bincount(drawn.ravel(), minlength=size * n).reshape(size, n)


def _resampled(x: Floats, unit_of: NDArray[np.int64], drawn: NDArray[np.int64], statistic: str) -> Floats:
    """The statistic of each bootstrap sample; ``x`` ascending, ``drawn`` counts by unit."""
    weights = drawn[:, unit_of]
    if statistic == "iqm":
        reached = np.cumsum(weights, axis=1)
        total = reached[:, -1:]
        cut = total // 4
        kept = np.clip(reached, cut, total - cut)
        weights = np.diff(kept, axis=1, prepend=cut)
    return (weights @ x) / weights.sum(axis=1)


def wilson_interval(hits: int, n: int) -> Interval | None:
    """95 % Wilson score interval of a share, or ``None`` when ``n`` is 0.

    Source:
        Wilson, "Probable Inference, the Law of Succession, and Statistical
        Inference", JASA 22 (1927).
    """
    if n == 0:
        return None
    z = float(special.ndtri((1 + CONFIDENCE) / 2))
    share = hits / n
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return Interval(
        0.0 if hits == 0 else max(0.0, centre - half), 1.0 if hits == n else min(1.0, centre + half)
    )


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

    If they do, each difference could as well have had the other sign. The p-value is
    the share of sign patterns whose sum is at least as far from 0 as the one seen.
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
        bits = (np.arange(1 << n)[:, None] >> np.arange(n)) & 1
        hits = int(np.count_nonzero(np.abs((2 * bits - 1) @ d) >= threshold))
        return FlipTest(hits / (1 << n), True, 1 << n)
    hits = sum(int(np.count_nonzero(np.abs(s) >= threshold)) for s in _flipped_sums(d, flips))
    return FlipTest((1 + hits) / (1 + flips), False, flips)


def _flipped_sums(d: Floats, flips: int) -> Iterator[Floats]:
    rng = np.random.default_rng(_SEED)
    rows = max(1, _CHUNK // len(d))
    width = -(-len(d) // 8)
    for start in range(0, flips, rows):
        size = min(rows, flips - start)
        packed = rng.integers(256, size=(size, width), dtype=np.uint8)
        bits = np.unpackbits(packed, axis=1, count=len(d)).astype(np.float64)
        yield 2 * (bits @ d) - d.sum()


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


def units_to_decide(differences: Sequence[float] | Floats) -> int | None:
    """About how many units would show a mean difference of this size.

    Two-sided 5 % level, 80 % power, normal approximation: a hint for planning.

    Returns:
        Total number of units, or ``None`` where the difference is 0 or cannot be judged.
    """
    d = np.asarray(differences, dtype=np.float64)
    if len(d) < 2:
        return None
    size, spread = abs(float(d.mean())), float(d.std(ddof=1))
    if size == 0 or spread == 0 or spread / size > 1e4:
        return None
    reach = float(special.ndtri(0.975) + special.ndtri(0.8))
    return max(MIN_UNITS, math.ceil((reach * spread / size) ** 2))
