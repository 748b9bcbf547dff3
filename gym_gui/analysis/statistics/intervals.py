"""Computes confidence intervals of means, interquartile means, differences and shares, deterministically.

``scripts/calibration/calibration.py`` measures how often each interval covers the true value; the results are
in ``docs/measurements/calibration.md``. Samples of fewer than :data:`MIN_INTERVAL` units, and of equal
values, have no interval.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gym_gui.analysis.statistics.distributions import (
    CONFIDENCE,
    MIN_INTERVAL,
    beta_quantile,
    normal_cdf,
    normal_quantile,
    student_quantile,
)
from gym_gui.analysis.statistics.sign_patterns import CHUNK, EXACT_FLIPS, SEED, Floats, all_sums, chosen_sums
from gym_gui.analysis.statistics.summary_numbers import BOOTSTRAP, EXACT_SHARE, PAIRED_SHARES, PERCENTILE

Units = Sequence[int] | NDArray[np.int64] | None

MIN_UNITS = 6
"""Smallest number of units for a verdict: with five, no sign-flip test reaches p < 0.05 (2 / 2**5 > 0.06)."""

TAIL_SHARE = 0.6
"""Share of the allowed error that a bootstrap-t interval uses. Using all of it, the interval covers the true
value in only 91 to 93 % of samples of 10 to 50 units with heavy tails or strong skew."""

MIN_NORMAL = 5
"""Smallest number of units for a test of normality."""

RESAMPLES = 9_999
AT_ONCE = 1 << 17
"""Number of multiplications in one matrix product, which is small so that its data stay in the processor's
cache and BLAS starts no threads, which would cost more time than they save."""

POOLED_FROM = 2_000
"""Number of units from which on nearly equal units are pooled, so that the time does not grow further. Draws
of fewer units are cached for all samples of the same size."""

_NEARLY = 0.05
"""Largest distance of pooled units, relative to the standard deviation (for a mean) or to half the
interquartile range (for an IQM). Pooling changes results by less than the resampling error."""

LEAST_ERROR = 0.1
"""Smallest standard error of a resample, relative to the sample's. Without this limit, a resample of nearly
equal values, whose error is almost 0, would move the ends of a bootstrap-t interval to infinity."""

LOOKS_NORMAL = 0.1
"""p-value of Shapiro and Francia's test above which differences count as normal."""


class Interval(NamedTuple):
    """Lower and upper end of a confidence interval, with the name of its method."""

    low: float
    high: float
    method: str


def share_interval(hits: float, n: int, confidence: float = CONFIDENCE) -> Interval | None:
    """Return the exact confidence interval of a share; ``None`` if ``n`` is 0.

    Args:
        hits: Number of hits among ``n``; for units with several episodes, the sum of their shares.
        n: Number of independent units.
        confidence: Smallest probability that the interval covers the true share.

    Source:
        Clopper & Pearson, "The Use of Confidence or Fiducial Limits Illustrated in the
        Case of the Binomial", Biometrika 26 (1934).
    """
    if n == 0:
        return None
    tail = (1 - confidence) / 2
    low = 0.0 if hits <= 0 else beta_quantile(hits, n - hits + 1, tail)
    high = 1.0 if hits >= n else beta_quantile(hits + 1, n - hits, 1 - tail)
    return Interval(low, high, EXACT_SHARE)


def unseen_share(n: int) -> float | None:
    """Return the 95 % upper bound of the share of an outcome that none of ``n`` units showed.

    This is the "rule of three", about 3 / n. ``None`` if ``n`` is 0.

    Source:
        Hanley & Lippman-Hand, "If Nothing Goes Wrong, Is Everything All Right?", JAMA 249 (1983).
    """
    return 1 - (1 - CONFIDENCE) ** (1 / n) if n else None


def mean_interval(
    values: Sequence[float] | Floats,
    units: Units = None,
    *,
    resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
    least: int = MIN_INTERVAL,
    bounds: tuple[float, float] | None = None,
) -> Interval | None:
    """Return a confidence interval of a mean.

    The bootstrap-t draws whole units (seeds) with replacement. Each resample's distance from the mean is
    measured in the resample's own standard error, which accounts for skew better than percentiles. The
    result is the union with Hartigan's interval: quantiles of the means of random subsets of the units. If
    values are symmetric about their mean, Hartigan's interval has exactly the nominal coverage, however
    sparse or heavy-tailed the values are.

    Args:
        values: One value per episode.
        units: Number of each value's unit, from 0 without gaps; ``None`` if each value is a unit of its own.
        resamples: Number of bootstrap samples, and half the number of random subsets.
        confidence: Probability of covering the mean, below 1.
        least: Smallest number of units for an interval.
        bounds: Smallest and largest possible value, which limit the interval.

    Returns:
        The interval; ``None`` with fewer than ``least`` units or if all units have the same mean.

    Source:
        Efron & Tibshirani, "An Introduction to the Bootstrap" (1993), chapter 12.
        Hartigan, "Using Subsample Values as Typical Values", JASA 64 (1969).
    """
    means, counts = unit_means(values, units)
    return _joined(means, counts, resamples, confidence, least, bounds, TAIL_SHARE)


def _joined(
    means: Floats,
    counts: Floats,
    resamples: int,
    confidence: float,
    least: int,
    bounds: tuple[float, float] | None,
    tail_share: float,
) -> Interval | None:
    if len(means) < least:
        return None
    low, high = float(means.min()), float(means.max())
    # Means of equal values may differ by a rounding error.
    if high - low <= 1e-12 * max(abs(low), abs(high)):
        return None
    order = np.lexsort((counts, means))  # the order of the seeds does not change the result
    m, c = means[order].tobytes(), counts[order].tobytes()
    tail = tail_share * (1 - confidence) / 2
    found = [_bootstrap_t(m, c, resamples, tail)]
    if (of_subsets := _subset_means(m, c, resamples, 1 - confidence)) is not None:
        found.append(of_subsets)
    if counts.min() == counts.max() and bool(np.isin(means, (low, high)).all()):
        share = share_interval(int(np.count_nonzero(means == high)), len(means), confidence)
        assert share is not None
        found.append(_between(low, high, share))
    ends = min(each.low for each in found), max(each.high for each in found)
    lowest, highest = (-math.inf, math.inf) if bounds is None else bounds
    if bounds is not None and counts.min() == counts.max():
        lowest, highest = _between_bounds(float(means.mean()), len(means), 1 - confidence, bounds)
    return Interval(max(ends[0], lowest), min(ends[1], highest), BOOTSTRAP)


def _between_bounds(mean: float, n: int, error: float, bounds: tuple[float, float]) -> tuple[float, float]:
    """Return a confidence interval of the mean of bounded values, for any distribution.

    Source:
        Hoeffding, "Probability Inequalities for Sums of Bounded Random Variables", JASA 58 (1963), theorem 1.
    """
    low, width = bounds[0], bounds[1] - bounds[0]
    seen, enough = min(max((mean - low) / width, 0.0), 1.0), math.log(2 / error) / n

    def apart(true: float) -> float:
        parts = ((seen, true), (1 - seen, 1 - true))
        return sum(p * math.log(p / q) for p, q in parts if p > 0) if 0 < true < 1 else math.inf

    found: list[float] = []
    for near, far in ((seen, 0.0), (seen, 1.0)):
        for _ in range(50):
            middle = (near + far) / 2
            near, far = (middle, far) if apart(middle) < enough else (near, middle)
        found.append(low + width * far)
    return found[0], found[1]


@lru_cache(maxsize=64)
def _subset_means(means: bytes, counts: bytes, resamples: int, error: float) -> Interval | None:
    """Return quantiles of the means of subsets of the units; ``None`` if there are too few or many units.

    The means of all subsets correspond to the sign patterns of a sign-flip test. A value is outside the
    interval if this test rejects that differences from the value are symmetric about 0.
    """
    m, c = np.frombuffer(means), np.frombuffer(counts)
    n = len(m)
    if n >= POOLED_FROM:
        return None  # with so many units, the bootstrap gives the same interval
    if n <= EXACT_FLIPS:
        found = all_sums(m * c)[1:] / all_sums(c)[1:]
        at = int(error * 2 ** (n - 1) + 1e-9)
    else:
        subsets = 2 * resamples + 1
        sums, weights = (np.concatenate(list(chosen_sums(x, subsets))) for x in (m * c, c))
        sums, weights = (np.concatenate([x, total - x]) for x, total in ((sums, m @ c), (weights, c.sum())))
        found = sums[weights > 0] / weights[weights > 0]
        at = int(error * (1 + subsets) + 1e-9)
    if not at:
        return None
    found = np.partition(found, [at - 1, len(found) - at])
    return Interval(float(found[at - 1]), float(found[-at]), BOOTSTRAP)


def _between(low: float, high: float, share: Interval) -> Interval:
    """Return the interval of the mean of values ``low`` or ``high``, from that of the share of ``high``."""

    def at(part: float) -> float:
        # Rounding errors may exceed the range.
        return min(high, max(low, low + (high - low) * part))

    return share._replace(low=at(share.low), high=at(share.high))


@lru_cache(maxsize=64)
def _bootstrap_t(means: bytes, counts: bytes, resamples: int, tail: float) -> Interval:
    """Return the bootstrap-t interval of a mean.

    Results are cached, because an operator, its only team and its only slot have the same returns.
    """
    c = np.frombuffer(counts)
    m = np.frombuffer(means)
    n = len(m)
    mean = float(m @ c / c.sum())
    # Contribution of each unit to the error of the mean, which is a ratio of sums if units differ in size.
    e = (m - mean) * c
    size = float(np.abs(e).max())
    e = e / size
    columns = np.stack([e, c, e * e, e * c, c * c], axis=1)
    if n < POOLED_FROM:
        draws = unit_counts(n, resamples)
    else:
        near = np.floor((m - m[0]) / (_NEARLY * float(m.std())))
        pool = np.unique(np.stack([near, c]), axis=1, return_inverse=True)[1].ravel()
        sizes = np.bincount(pool)
        columns = np.stack([np.bincount(pool, weights=column) / sizes for column in columns.T], axis=1)
        draws = _pool_counts(sizes, resamples)
    drawn = np.concatenate([_times(w, columns) for w in draws])
    shift = drawn[:, 0] / drawn[:, 1]
    squares = drawn[:, 2] - 2 * shift * drawn[:, 3] + shift * shift * drawn[:, 4]
    correction = math.sqrt(n / (n - 1))
    error = correction * math.sqrt(float(e @ e)) / float(c.sum())
    errors = correction * np.sqrt(np.maximum(squares, 0.0)) / drawn[:, 1]
    t = shift / np.maximum(errors, LEAST_ERROR * error)
    low, high = np.quantile(t, [tail, 1 - tail])
    step = error * size
    return Interval(mean - max(float(high), 0.0) * step, mean - min(float(low), 0.0) * step, BOOTSTRAP)


def paired_interval(
    differences: Sequence[float] | Floats,
    units: Units = None,
    *,
    resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
    least: int = MIN_INTERVAL,
) -> Interval | None:
    """Return a confidence interval of the mean difference of two sides.

    If all differences are -c, 0 or c and some are 0, this is the adjusted Wald interval of paired shares,
    which adds one unit to each side. Otherwise it is the interval of :func:`mean_interval`; if the
    differences look normal (:func:`looks_normal`), the bootstrap-t uses all of the allowed error.

    Source:
        Bonett & Price, "Adjusted Wald Confidence Interval for a Difference of Binomial
        Proportions Based on Paired Data", J. Educ. Behav. Statistics 37 (2012).
    """
    d, counts = unit_means(differences, units)
    size = step_of(d)
    even = len(counts) > 0 and counts.min() == counts.max()
    if size is None or len(d) < least or d.min() == d.max() or d.all() or not even:
        at_level = even and confidence <= CONFIDENCE and looks_normal(d)
        return _joined(d, counts, resamples, confidence, least, None, 1.0 if at_level else TAIL_SHARE)
    n = len(d)
    ahead = (np.count_nonzero(d > 0) + 1) / (n + 2)
    behind = (np.count_nonzero(d < 0) + 1) / (n + 2)
    z = normal_quantile((1 + confidence) / 2)
    half = z * math.sqrt((ahead + behind - (ahead - behind) ** 2) / (n + 2))
    middle = ahead - behind
    return Interval(float(size * (middle - half)), float(size * (middle + half)), PAIRED_SHARES)


def looks_normal(x: Floats, level: float = LOOKS_NORMAL) -> bool:
    """Return whether a sample looks normal, by a test; ``False`` with fewer than five values.

    Source:
        Shapiro & Francia, "An Approximate Analysis of Variance Test for Normality", JASA 67 (1972), with
        the p-value of Royston, "A Pocket-Calculator Algorithm for the Shapiro-Francia Test for
        Non-Normality", Statistics in Medicine 12 (1993).
    """
    n = len(x)
    spread = float(x.std()) if n else 0.0
    if n < MIN_NORMAL or spread <= 1e-12 * float(np.abs(x).max()):
        return False
    scores = _normal_scores(n)
    straight = float(np.sort(x - x.mean()) @ scores / spread) ** 2 / (n * float(scores @ scores))
    u = math.log(n)
    v = math.log(u)
    expected = -1.2725 + 1.0521 * (v - u)
    z = (math.log(max(1 - straight, 1e-300)) - expected) / (1.0308 - 0.26758 * (v + 2 / u))
    return normal_cdf(-z) > level


@lru_cache(maxsize=16)
def _normal_scores(n: int) -> Floats:
    """Return approximate expected order statistics of a standard normal sample of size ``n`` (Blom 1958)."""
    return np.array([normal_quantile((i - 0.375) / (n + 0.25)) for i in range(1, n + 1)])


def unit_means(values: Sequence[float] | Floats, units: Units = None) -> tuple[Floats, Floats]:
    """Return the mean and the number of values of each unit, both float (units,)."""
    x = np.asarray(values, dtype=np.float64)
    unit_of = np.arange(len(x)) if units is None else np.asarray(units, dtype=np.int64)
    counts = np.bincount(unit_of).astype(np.float64)
    return np.bincount(unit_of, weights=x) / counts, counts


def step_of(differences: Floats) -> float | None:
    """Return c if every difference is -c, 0 or c and not all are 0, else ``None``."""
    sizes = np.abs(differences[differences != 0])
    if not len(sizes) or sizes.max() - sizes.min() > 1e-9 * sizes.max():
        return None
    return float(sizes.max())


def iqm_interval(
    values: Sequence[float] | Floats,
    units: Units = None,
    *,
    resamples: int = RESAMPLES,
    least: int = MIN_INTERVAL,
) -> Interval | None:
    """Return the 95 % interval of an interquartile mean.

    The expanded percentile bootstrap draws whole units with replacement and pools their values. Student's t
    moves the percentiles outwards if there are few units. If the sample has only two distinct values, the
    interval is at least as wide as the one derived from the exact interval of the higher value's share.

    Args:
        values: One value per episode.
        units: Number of each value's unit, as in :func:`mean_interval`.
        resamples: Number of bootstrap samples.
        least: Smallest number of units for an interval.

    Returns:
        The interval; ``None`` with fewer than ``least`` units, or if all resamples have the same IQM.

    Source:
        Hesterberg, "What Teachers Should Know About the Bootstrap", The American
        Statistician 69 (2015), section 5.3.
    """
    x = np.asarray(values, dtype=np.float64)
    unit_of = np.arange(len(x)) if units is None else np.asarray(units, dtype=np.int64)
    n = int(unit_of.max()) + 1 if len(x) else 0
    if n < least or x.min() == x.max():
        return None
    low, high = float(x.min()), float(x.max())
    order = np.argsort(x, kind="stable")
    ends = _expanded_percentiles(x[order].tobytes(), unit_of[order].astype(np.int64).tobytes(), resamples)
    if n == len(x) and bool(np.isin(x, (low, high)).all()):
        share = share_interval(int(np.count_nonzero(x == high)), n)
        assert share is not None
        part = _between(low, high, middle_half(share))
        ends = ends._replace(low=min(ends.low, part.low), high=max(ends.high, part.high))
    return ends if ends.high - ends.low > 1e-12 * max(abs(low), abs(high)) else None


def middle_half(share: Interval) -> Interval:
    """Return the interval of a value's share in the middle half, from that of its share in all values."""
    low, high = (min(1.0, max(0.0, 2 * end - 0.5)) for end in share[:2])
    return share._replace(low=low, high=high)


@lru_cache(maxsize=64)
def _expanded_percentiles(values: bytes, units: bytes, resamples: int) -> Interval:
    x, unit_of = np.frombuffer(values), np.frombuffer(units, dtype=np.int64)
    # Number units by their lowest value, so that the order of the seeds does not change the result.
    _, first, unit_of = np.unique(unit_of, return_index=True, return_inverse=True)
    unit_of = np.argsort(np.argsort(first, kind="stable"))[unit_of]
    n = len(first)
    draws = unit_counts(n, resamples)
    if n >= POOLED_FROM and n == len(x):
        low, lower, upper, high = np.quantile(x, [0.05, 0.25, 0.75, 0.95])
        if upper > lower:
            # The IQM ignores values beyond these limits in every resample; only their number counts.
            near = np.floor(np.clip(x, low, high) / (_NEARLY / 2 * (upper - lower)))
            pool = np.unique(near, return_inverse=True)[1]
            sizes = np.bincount(pool)
            x, unit_of = np.bincount(pool, weights=x) / sizes, np.arange(len(sizes))
            draws = _pool_counts(sizes, resamples)
    estimates = np.concatenate([iqms(x, unit_of, w) for w in draws])
    tail = expanded_tail(n, n - 1)
    low, high = np.quantile(estimates, [tail, 1 - tail])
    return Interval(float(low), float(high), PERCENTILE)


def expanded_tail(n: int, freedom: int) -> float:
    """Return the tail probability of an expanded percentile interval, which is smaller for few units.

    Args:
        n: Number of units that are drawn.
        freedom: Degrees of freedom of their standard deviation.

    Source:
        Hesterberg 2015, section 5.3.
    """
    return normal_cdf(-math.sqrt(n / (n - 1)) * student_quantile(freedom, (1 + CONFIDENCE) / 2))


def unit_counts(n: int, resamples: int) -> Iterator[NDArray[np.integer]]:
    """Yield the numbers of draws of each of ``n`` units per resample, in chunks of shape (rows, n)."""
    if n < POOLED_FROM:
        yield _kept_counts(n, resamples)
    else:
        yield from _unit_counts(n, resamples)


@lru_cache(maxsize=2)
def _kept_counts(n: int, resamples: int) -> NDArray[np.uint8]:
    # A byte is enough: no count exceeds 255 with up to 255 units, nor in practice with more units.
    kept = np.empty((resamples, n), np.uint8)
    done = 0
    for drawn in _unit_counts(n, resamples):
        kept[done : done + len(drawn)] = drawn
        done += len(drawn)
    return kept


def _unit_counts(n: int, resamples: int) -> Iterator[NDArray[np.int64]]:
    rng = np.random.default_rng(SEED)
    for part in _blocks(resamples, AT_ONCE // n):
        size = part.stop - part.start
        drawn = rng.integers(n, size=(size, n)) + np.arange(size)[:, None] * n
        yield np.bincount(drawn.ravel(), minlength=size * n).reshape(size, n)


def _pool_counts(sizes: NDArray[np.int64], resamples: int) -> Iterator[NDArray[np.int64]]:
    """Yield the numbers of draws from each pool of units per resample, in chunks of shape (rows, pools)."""
    rng = np.random.default_rng(SEED)
    n = int(sizes.sum())
    for part in _blocks(resamples, CHUNK // len(sizes)):
        yield rng.multinomial(n, sizes / n, size=part.stop - part.start)


def _blocks(rows: int, most: int) -> Iterator[slice[int, int, None]]:
    """Return slices that divide ``rows`` into blocks of at most ``most`` rows, but at least one row."""
    step = max(1, most)
    return (slice(start, min(start + step, rows)) for start in range(0, rows, step))


def _times(drawn: NDArray[np.integer], columns: Floats) -> Floats:
    """Return the matrix product of ``drawn`` (rows, units) and ``columns`` (units, at least 2), in blocks."""
    found = np.empty((len(drawn), columns.shape[1]))
    for part in _blocks(len(drawn), AT_ONCE // columns.size):
        np.matmul(drawn[part].astype(np.float64), columns, out=found[part])
    return found


def iqms(x: Floats, unit_of: NDArray[np.int64], drawn: NDArray[np.integer]) -> Floats:
    """Return the IQM of each bootstrap sample, float (rows,).

    Args:
        x: Values, ascending.
        unit_of: Number of the unit of each value.
        drawn: Number of draws of each unit, (rows, units).
    """
    each = len(unit_of) == drawn.shape[1] and bool((unit_of == np.arange(len(unit_of))).all())
    columns = np.stack([x, np.ones_like(x)], axis=1)
    found = np.empty(len(drawn))
    for part in _blocks(len(drawn), AT_ONCE // columns.size):
        of_value = drawn[part] if each else drawn[part][:, unit_of]
        reached = np.cumsum(of_value, axis=1, dtype=np.int32)
        total = reached[:, -1:].copy()
        cut = total // 4
        np.clip(reached, cut, total - cut, out=reached)
        weights = np.empty(reached.shape)
        np.subtract(reached[:, :1], cut, out=weights[:, :1])
        np.subtract(reached[:, 1:], reached[:, :-1], out=weights[:, 1:])
        sums = weights @ columns
        found[part] = sums[:, 0] / sums[:, 1]
    # Rounding errors may exceed the range of the values.
    return np.clip(found, x[0], x[-1])
