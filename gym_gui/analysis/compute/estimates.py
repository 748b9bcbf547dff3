"""Computes means, interquartile means and shares with intervals, from values of independent seeds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from gym_gui.analysis.statistics import intervals, stats
from gym_gui.analysis.statistics.distributions import CONFIDENCE, MIN_INTERVAL
from gym_gui.analysis.statistics.summary_numbers import Estimate, Share
from gym_gui.analysis.statistics.units import Sample, units_of

ON_THIS_SEED = "on this seed only"
"""Note of an estimate whose episodes all have the same seed."""


def estimate(
    values: Sequence[float],
    samples: Sequence[Sample],
    statistic: Literal["mean", "iqm"] = "mean",
    *,
    paired: bool = False,
    confidence: float = CONFIDENCE,
    least: int = MIN_INTERVAL,
    bounds: tuple[float, float] | None = None,
) -> Estimate:
    """Return an estimate, with an interval if the sample allows one.

    Args:
        values: One value per episode.
        samples: Seed, round and digest of each value, by which dependent values are recognized.
        statistic: Statistic that is estimated.
        paired: Whether the values are differences of two sides.
        confidence: Confidence level of a mean's interval. With interim looks, it is higher, so that all
            looks together keep the usual level. With 1 there is no interval.
        least: Smallest number of independent seeds for an interval of a mean.
        bounds: Smallest and largest possible value, if they are declared.
    """
    n = len(values)
    if n == 0:
        return Estimate(None, None, None, 0, 0, statistic, note="no completed episodes")
    grouped = units_of(samples)
    codes, units = np.asarray(grouped.codes), grouped.number
    unseen = intervals.unseen_share(units)
    value = stats.iqm(values) if statistic == "iqm" else stats.mean(values)
    if grouped.scope == "identical":
        note = f"{n} identical episodes"
        return Estimate(value, None, None, n, units, statistic, note=note, unseen=unseen)
    if statistic == "iqm":
        found = intervals.iqm_interval(values, codes)
    elif confidence >= 1:
        return Estimate(value, None, None, n, units, statistic, note="not enough episodes", unseen=unseen)
    elif paired:
        found = intervals.paired_interval(values, codes, confidence=confidence, least=least)
    else:
        found = intervals.mean_interval(values, codes, confidence=confidence, least=least, bounds=bounds)
    if found is None:
        note = _why_none(values, units, statistic, least)
        few = statistic == "mean" and units < least
        each = tuple(intervals.unit_means(values, codes)[0].tolist()) if few else ()
        return Estimate(value, None, None, n, units, statistic, note=note, unseen=unseen, values=each)
    note = ON_THIS_SEED if grouped.scope == "one seed" else ""
    return Estimate(value, found.low, found.high, n, units, statistic, found.method, note, unseen)


def _why_none(values: Sequence[float], units: int, statistic: str, least: int) -> str:
    """Return why there is no interval, as a note for the estimate."""
    if units < intervals.MIN_UNITS:
        return "not enough episodes"
    if min(values) == max(values):
        return f"all {units} equal" if units == len(values) else f"all {units} seeds equal"
    if units < (MIN_INTERVAL if statistic == "iqm" else least):
        return "not enough episodes"
    return "middle half equal" if statistic == "iqm" else f"all {units} seeds equal"


def share(hits: Sequence[bool], samples: Sequence[Sample]) -> Share | None:
    """Return the share of hits with its exact interval over seeds; ``None`` without episodes."""
    n = len(hits)
    if n == 0:
        return None
    units = units_of(samples).number
    found = intervals.share_interval(sum(hits) * units / n, units)
    assert found is not None
    return Share(sum(hits), n, sum(hits) / n, found.low, found.high, units=units)
