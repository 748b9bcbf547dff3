"""Warns if one seed or a few seeds dominate a mean."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gym_gui.analysis.statistics import stats
from gym_gui.analysis.statistics.intervals import MIN_UNITS, Floats, mean_interval
from gym_gui.analysis.words import wording

FAR = 6.0
"""Distance from the median beyond which a value is an outlier, in scaled median absolute deviations.

The scale makes the deviation equal to the standard deviation of a normal distribution."""

LITTLE = 0.1
"""Relative change of a mean below which no warning is given."""

_MAX_SEEDS = 5


def outliers(values: Sequence[float] | Floats) -> list[int]:
    """Return the indices of outliers; none if more than a tenth of the values are outliers.

    Outliers are values farther than :data:`FAR` from the median. If more than half of the values are equal,
    every other value is an outlier.
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
    """Return a warning if outliers move a mean out of the interval of the other seeds or past 0.

    Args:
        values: One value per episode.
        codes: Number of the independent unit of each value.
        seeds: Seed of each value.
        what: Name of the averaged quantity.

    Returns:
        A sentence; empty if no seeds dominate the mean.
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
    named = ", ".join(out[:_MAX_SEEDS]) + (", ..." if len(out) > _MAX_SEEDS else "")
    moves, they = ("moves", "it") if len(few) == 1 else ("move", "them")
    return (
        f"{len(few)} of {wording.count(len(means), 'seed')} ({named}) {moves} the {what} to "
        f"{wording.number(stats.mean(x))}; without {they} it is {wording.number(stats.mean(x[kept]))}."
    )


def _is_small(mean: float, rest: Floats, means: Floats) -> bool:
    """Return whether outliers hardly move a mean.

    Args:
        mean: Mean of all values.
        rest: Values without the outliers.
        means: Means of ``rest`` by seed.
    """
    without = stats.mean(rest)
    if abs(mean - without) < LITTLE * abs(without):
        return True
    interval = mean_interval(means, least=MIN_UNITS)
    if interval is not None:
        return interval.low <= mean <= interval.high
    # All other values are equal, as is common with values 0 and 1: warn only if the mean changes its sign.
    return mean * without >= 0
