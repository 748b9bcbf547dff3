"""Warns of a mean that one or a few seeds make."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gym_gui.analysis.statistics import stats
from gym_gui.analysis.statistics.intervals import MIN_UNITS, Floats, mean_interval
from gym_gui.analysis.words import wording

FAR = 6.0
"""Distance from the median, in median absolute deviations scaled to the normal's standard deviation."""

LITTLE = 0.1
"""Part of a mean that a seed may move without being named."""

_SHOWN = 5


def outliers(values: Sequence[float] | Floats) -> list[int]:
    """Places of values that lie far from all others, where they are at most a tenth of them.

    Far is more than :data:`FAR`; where more than half are equal, whatever is not equal to them.
    """
    x = np.asarray(values, dtype=np.float64)
    if len(x) < MIN_UNITS:
        return []
    distance = np.abs(x - np.median(x))
    found = np.flatnonzero(distance > FAR * 1.4826 * np.median(distance))
    return found.tolist() if len(found) <= max(1, len(x) // 10) else []


def outlier_note(
    values: Sequence[float], codes: Sequence[int], seeds: Sequence[int | None], what: str
) -> str:
    """Says so where outliers move a mean out of the interval that the other seeds give, or past 0.

    Args:
        values: One per episode.
        codes: The independent unit of each.
        seeds: The seed of each.
        what: What is averaged.

    Returns:
        A sentence, or nothing where no few seeds make the mean.
    """
    x, unit_of = np.asarray(values, dtype=np.float64), np.asarray(codes, dtype=np.int64)
    if not len(x):
        return ""
    means = np.bincount(unit_of, weights=x) / np.bincount(unit_of)
    few = outliers(means)
    kept = ~np.isin(unit_of, few)
    if not few or _is_small(stats.mean(x), x[kept], np.delete(means, few)):
        return ""
    out = list(dict.fromkeys(str(seed) for seed, stays in zip(seeds, kept, strict=True) if not stays))
    named = ", ".join(out[:_SHOWN]) + (", ..." if len(out) > _SHOWN else "")
    moves, they = ("moves", "it") if len(few) == 1 else ("move", "them")
    return (
        f"{len(few)} of {wording.count(len(means), 'seed')} ({named}) {moves} the {what} to "
        f"{wording.number(stats.mean(x))}; without {they} it is {wording.number(stats.mean(x[kept]))}."
    )


def _is_small(mean: float, rest: Floats, means: Floats) -> bool:
    """Whether the mean is about that of the other values; ``means`` are these by seed."""
    without = stats.mean(rest)
    if abs(mean - without) < LITTLE * abs(without):
        return True
    interval = mean_interval(means, least=MIN_UNITS)
    if interval is not None:
        return interval.low <= mean <= interval.high
    # All others are equal: with 0 and 1 that is nothing to be warned of, a change of sign is.
    return mean * without >= 0
