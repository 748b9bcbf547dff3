"""Warns of a mean that one seed or a few seeds dominate."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gym_gui.analysis.statistics import stats
from gym_gui.analysis.statistics.intervals import MIN_UNITS, Floats, mean_interval
from gym_gui.analysis.words import wording

FAR = 6.0
"""Distance from the median, in median absolute deviations scaled to the normal's standard deviation."""

LITTLE = 0.1
"""Relative change of a mean below which no seed is named."""

_SHOWN = 5


def outliers(values: Sequence[float] | Floats) -> list[int]:
    """Return the indices of values far from all others; none if they are more than a tenth.

    Far means more than :data:`FAR`. If more than half of the values are equal, every other value is far.
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
    """Return a sentence if outliers move a mean out of the interval of the other seeds or past 0.

    Args:
        values: One per episode.
        codes: The independent unit of each value.
        seeds: The seed of each value.
        what: Name of the averaged quantity.

    Returns:
        A sentence, or an empty string if no few seeds dominate the mean.
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
    """Return whether outliers hardly move the mean; ``means`` are the other values' means by seed."""
    without = stats.mean(rest)
    if abs(mean - without) < LITTLE * abs(without):
        return True
    interval = mean_interval(means, least=MIN_UNITS)
    if interval is not None:
        return interval.low <= mean <= interval.high
    # All others are equal: with 0 and 1 that needs no warning, a change of sign does.
    return mean * without >= 0
