"""Computes statistics of trainings over tasks; resamples draw whole trainings within each task (a stratum).

A *sample* of an algorithm has one array of scores (trainings,) per task. The estimates follow Agarwal et
al., "Deep Reinforcement Learning at the Edge of the Statistical Precipice" (NeurIPS 2021), and its library
rliable. Intervals are wider for few trainings, as in :mod:`gym_gui.analysis.statistics.intervals`.
``docs/measurements/calibration_trainings.md`` shows how often the intervals cover the true value. All random
numbers have a fixed seed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gym_gui.analysis.statistics.distributions import MIN_INTERVAL
from gym_gui.analysis.statistics.intervals import (
    CHUNK,
    CONFIDENCE,
    LEAST_ERROR,
    RESAMPLES,
    SEED,
    TAIL_SHARE,
    Floats,
    expanded_tail,
    iqms,
    middle_half,
    share_interval,
)
from gym_gui.analysis.statistics.sign_patterns import FLIPS
from gym_gui.analysis.statistics.stats import iqm

MIN_TRAININGS = 5
"""Smallest number of trainings of an algorithm in an environment for a test."""

EXACT_SPLITS = 1 << 16
"""Largest number of ways to split the trainings of two algorithms for which a test evaluates all."""

Sample = Sequence[Floats]
Counts = NDArray[np.int64]


class IntervalEnds(NamedTuple):
    """Lower and upper end of a 95 % interval."""

    low: float
    high: float


def pooled_iqm(sample: Sample) -> float:
    """Return the interquartile mean of the scores of all tasks together, like rliable's ``aggregate_iqm``."""
    return iqm(np.concatenate(sample))


def mean_of_tasks(sample: Sample) -> float:
    """Return the mean over tasks of the mean over trainings."""
    return float(np.mean([x.mean() for x in sample]))


def improvement(first: Sample, second: Sample) -> float:
    """Return the probability that a training of ``first`` scores higher than one of ``second``, over tasks.
    Ties count half. The result is the mean over tasks.

    Source:
        Agarwal et al. 2021, section 4.3; within a task, this is Mann and Whitney's U over all pairs.
    """
    return float(np.mean([_wins(a, b).mean() for a, b in zip(first, second, strict=True)]))


def _wins(a: Floats, b: Floats) -> Floats:
    """Return for all pairs of trainings 1 if that of ``a`` scored higher, 1/2 for a tie, and 0 otherwise.

    Returns:
        float (trainings of ``a``, trainings of ``b``).
    """
    return (a[:, None] > b[None, :]) + 0.5 * (a[:, None] == b[None, :])


def enough(*samples: Sample) -> bool:
    """Return whether there are enough trainings for an interval: ten per algorithm, five per environment.

    Five trainings in total are too few: if 30 % of trainings fail, none of five fails with a probability of
    17 %. With several environments, five in each are enough, because failures that are missing in one
    environment are likely to occur in another.
    """
    return all(
        min(map(len, sample)) >= MIN_TRAININGS and sum(map(len, sample)) >= MIN_INTERVAL for sample in samples
    )


def iqm_ends(sample: Sample, resamples: int = RESAMPLES) -> IntervalEnds | None:
    """Return the interval of :func:`pooled_iqm`; ``None`` if resamples are equal or trainings too few.

    If there are only two distinct scores, the interval is derived from that of the higher score's share.
    """
    if not enough(sample):
        return None
    pooled = np.concatenate(sample)
    low, high = float(pooled.min()), float(pooled.max())
    if low < high and bool(np.isin(pooled, (low, high)).all()):
        share = share_interval(int(np.count_nonzero(pooled == high)), len(pooled))
        assert share is not None
        part = middle_half(share)
        ends = IntervalEnds(low + (high - low) * part.low, low + (high - low) * part.high)
        return ends if part.high > part.low else None
    order = np.argsort(pooled, kind="stable")
    each = np.arange(len(pooled))

    def of(drawn: Sequence[Counts]) -> Floats:
        return iqms(pooled[order], each, np.concatenate(drawn, axis=1)[:, order])

    return _expanded(of, [sample], resamples)


def improvement_ends(first: Sample, second: Sample, resamples: int = RESAMPLES) -> IntervalEnds | None:
    """Return the interval of :func:`improvement`, within 0 and 1; ``None`` as in :func:`iqm_ends`."""
    if not enough(first, second):
        return None
    wins = [_wins(a, b) for a, b in zip(first, second, strict=True)]
    tasks = len(wins)

    def of(drawn: Sequence[Counts]) -> Floats:
        per_task = [
            ((drawn[k] @ wins[k]) * drawn[tasks + k]).sum(axis=1) / wins[k].size for k in range(tasks)
        ]
        return np.mean(per_task, axis=0)

    return _expanded(of, [first, second], resamples)


def ranks_of(samples: Sequence[Sample]) -> Floats:
    """Return each algorithm's mean rank over tasks, float (algorithms,); 1 is best, ties share a rank."""
    means = np.array([[x.mean() for x in sample] for sample in samples])
    return _ranked(means[None])[0].mean(axis=1)


def rank_ends(samples: Sequence[Sample], resamples: int = RESAMPLES) -> list[IntervalEnds | None]:
    """Return the interval of each mean rank; ``None`` as in :func:`iqm_ends`."""
    if not enough(*samples):
        return [None] * len(samples)
    tasks = len(samples[0])

    def ranks(drawn: Sequence[Counts]) -> Floats:
        means = [
            [drawn[i * tasks + k] @ sample[k] / len(sample[k]) for k in range(tasks)]
            for i, sample in enumerate(samples)
        ]
        return _ranked(np.moveaxis(np.array(means), 2, 0)).mean(axis=2)

    found = _resampled(ranks, samples, resamples)
    return [_ends(found[:, i], samples) for i in range(len(samples))]


def _ranked(means: Floats) -> Floats:
    """Return ranks along the second axis of an array (resamples, algorithms, tasks)."""
    above = (means[:, None] > means[:, :, None]).sum(axis=2)
    level = (means[:, None] == means[:, :, None]).sum(axis=2)
    return above + (level + 1) / 2


def mean_ends(sample: Sample, resamples: int = RESAMPLES) -> IntervalEnds | None:
    """Return the bootstrap-t interval of :func:`mean_of_tasks`; ``None`` as in :func:`iqm_ends`."""
    if not enough(sample):
        return None
    return _bootstrap_t([(x, 1 / len(sample)) for x in sample], resamples)


def difference_ends(
    first: Sample, second: Sample, resamples: int = RESAMPLES, *, shown: bool = True
) -> IntervalEnds | None:
    """Return the interval of the difference of two :func:`mean_of_tasks`, computed as in :func:`mean_ends`.

    Trainings are not paired: seed 1 of one algorithm has nothing in common with seed 1 of another.

    Args:
        first: Scores of one algorithm.
        second: Scores of the other, in the same tasks.
        resamples: Number of bootstrap samples.
        shown: Whether the interval is shown, which needs ten trainings; for use beside a test, five suffice.
    """
    if shown and not enough(first, second):
        return None
    share = 1 / len(first)
    return _bootstrap_t([(x, share) for x in first] + [(x, -share) for x in second], resamples)


def _bootstrap_t(parts: Sequence[tuple[Floats, float]], resamples: int) -> IntervalEnds | None:
    """Return the bootstrap-t interval of a weighted sum of means, with Welch's standard errors.

    Source:
        Efron & Tibshirani, "An Introduction to the Bootstrap" (1993), chapters 8 and 12.
    """
    if min(len(x) for x, _ in parts) < MIN_TRAININGS:
        return None
    value = sum(weight * float(x.mean()) for x, weight in parts)
    error = math.sqrt(sum(weight**2 * float(x.var(ddof=1)) / len(x) for x, weight in parts))
    if error <= 1e-12 * max(abs(float(x.max())) for x, _ in parts):
        return None
    found: list[Floats] = []
    for drawn in _draws([len(x) for x, _ in parts], resamples):
        shift, squares = np.zeros(len(drawn[0])), np.zeros(len(drawn[0]))
        for (x, weight), counts in zip(parts, drawn, strict=True):
            n, centered = len(x), x - x.mean()
            means = counts @ centered / n
            shift += weight * means
            variances = (counts @ centered**2 / n - means**2) * n / (n - 1)
            squares += weight**2 * np.maximum(variances, 0.0) / n
        found.append(shift / np.maximum(np.sqrt(squares), LEAST_ERROR * error))
    tail = TAIL_SHARE * (1 - CONFIDENCE) / 2
    low, high = np.quantile(np.concatenate(found), [tail, 1 - tail])
    return IntervalEnds(value - max(float(high), 0.0) * error, value - min(float(low), 0.0) * error)


def _expanded(
    of: Callable[[Sequence[Counts]], Floats], samples: Sequence[Sample], resamples: int
) -> IntervalEnds | None:
    return _ends(_resampled(of, samples, resamples), samples)


def _resampled(of: Callable[[Sequence[Counts]], Floats], samples: Sequence[Sample], resamples: int) -> Floats:
    sizes = [len(x) for sample in samples for x in sample]
    return np.concatenate([of(drawn) for drawn in _draws(sizes, resamples)])


def _ends(found: Floats, samples: Sequence[Sample]) -> IntervalEnds | None:
    """Return expanded percentiles of resampled values; ``None`` if the values do not differ."""
    freedom = min(sum(len(x) - 1 for x in sample) for sample in samples)
    tail = expanded_tail(min(len(x) for sample in samples for x in sample), freedom)
    low, high = (float(end) for end in np.quantile(found, [tail, 1 - tail]))
    return IntervalEnds(low, high) if high - low > 1e-12 * max(abs(low), abs(high)) else None


def _draws(sizes: Sequence[int], resamples: int) -> Iterator[Sequence[Counts]]:
    """Yield the numbers of draws of each training, in chunks: one array (rows, size) per stratum."""
    if sum(sizes) * resamples <= CHUNK:
        yield _cached_draws(tuple(sizes), resamples)
    else:
        yield from _new_draws(sizes, resamples)


@lru_cache(maxsize=4)
def _cached_draws(sizes: tuple[int, ...], resamples: int) -> Sequence[Counts]:
    """Return cached draws that fit in one chunk, because algorithms often have equally many trainings."""
    return next(_new_draws(sizes, resamples))


def _new_draws(sizes: Sequence[int], resamples: int) -> Iterator[Sequence[Counts]]:
    rng = np.random.default_rng(SEED)
    rows = max(1, CHUNK // sum(sizes))
    for start in range(0, resamples, rows):
        count = min(rows, resamples - start)
        yield [rng.multinomial(n, [1 / n] * n, size=count) for n in sizes]


class SplitTest(NamedTuple):
    """Result of :func:`permutation_test`.

    Attributes:
        p: Two-sided p-value, never 0.
        exact: Whether all ways to split the trainings were evaluated instead of a random sample.
    """

    p: float
    exact: bool


def permutation_test(first: Sample, second: Sample, *, splits: int = FLIPS) -> SplitTest:
    """Test by permutation, within each task, whether two algorithms do equally well.

    If they do, all assignments of trainings to algorithms are equally likely. The statistic is the difference
    of mean scores divided by its standard error. The test is exact if both sides have the same distribution.
    With many trainings it is also correct if they have equal means and different variances.

    Args:
        first: Scores of one algorithm, one array per task.
        second: Scores of the other algorithm, in the same tasks.
        splits: Number of random splits, if there are too many to evaluate all.

    Source:
        Chung & Romano, "Exact and Asymptotically Robust Permutation Tests", Annals of Statistics 41 (2013).
    """
    seen = _studentised([(a[None], b[None]) for a, b in zip(first, second, strict=True)])[0]
    if seen == 0:
        return SplitTest(1.0, True)
    threshold = seen - 1e-9 * seen
    n, m = len(first[0]), len(second[0])
    if len(first) == 1 and math.comb(n + m, n) <= EXACT_SPLITS:
        chosen = np.array(list(combinations(range(n + m), n)))
        sides = np.zeros((len(chosen), n + m), dtype=bool)
        sides[np.arange(len(chosen))[:, None], chosen] = True
        pooled = np.concatenate([first[0], second[0]])
        found = _studentised([_split(pooled, sides, n)])
        return SplitTest(float(np.count_nonzero(found >= threshold)) / len(found), True)
    rng = np.random.default_rng(SEED)
    hits, rows = 0, max(1, CHUNK // sum(map(len, (*first, *second))))
    for start in range(0, splits, rows):
        count = min(rows, splits - start)
        parts: list[tuple[Floats, Floats]] = []
        for a, b in zip(first, second, strict=True):
            mixed = rng.permuted(np.tile(np.concatenate([a, b]), (count, 1)), axis=1)
            parts.append((mixed[:, : len(a)], mixed[:, len(a) :]))
        hits += int(np.count_nonzero(_studentised(parts) >= threshold))
    return SplitTest((1 + hits) / (1 + splits), False)


def _split(pooled: Floats, sides: NDArray[np.bool_], n: int) -> tuple[Floats, Floats]:
    rows = np.broadcast_to(pooled, sides.shape)
    return rows[sides].reshape(-1, n), rows[~sides].reshape(len(sides), -1)


def _studentised(parts: Sequence[tuple[Floats, Floats]]) -> Floats:
    """Return for each row the absolute sum over tasks of mean differences, divided by its standard error."""
    difference = sum(a.mean(axis=1) - b.mean(axis=1) for a, b in parts)
    squares = sum(a.var(axis=1, ddof=1) / a.shape[1] + b.var(axis=1, ddof=1) / b.shape[1] for a, b in parts)
    size = max(float(max(np.abs(a).max(), np.abs(b).max())) for a, b in parts)
    # If both sides have no variance, the statistic is huge, unless the means are equal.
    error = np.maximum(np.sqrt(squares), 1e-12 * size + 1e-300)
    found: Floats = np.abs(np.where(np.abs(difference) <= 1e-12 * size, 0.0, difference)) / error
    return found
