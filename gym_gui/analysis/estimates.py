"""From values and seeds to estimates and comparisons; here it is decided what is decided."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np

from gym_gui.analysis import intervals, stats, wording
from gym_gui.analysis.outliers import outlier_note
from gym_gui.analysis.summary import (
    FLIP_EXACT,
    Comparison,
    Estimate,
    Share,
)

ALPHA = 0.05
Seeds = Sequence[int | None]


class Sides(NamedTuple):
    """What is compared with what.

    Attributes:
        kind: Operators, or teams of one operator.
        operator: The operator's key for teams, else empty.
        first: Key or name for the record.
        second: The same of the other.
        first_name: How sentences call it.
        second_name: The same of the other.
        measure: ``return`` or ``score``.
    """

    kind: Literal["operators", "teams"]
    operator: str
    first: str
    second: str
    first_name: str
    second_name: str
    measure: str


def unit_codes(seeds: Seeds) -> list[int]:
    """The independent unit of each episode.

    Episodes that share a seed (seats swapped, seeds repeated) are not independent and
    form one unit. Where there is only one seed, episodes are the units: the result
    then holds for this seed and no other.
    """
    distinct = set(seeds)
    if len(distinct) <= 1 or None in distinct:
        return list(range(len(seeds)))
    codes: dict[int | None, int] = {}
    return [codes.setdefault(seed, len(codes)) for seed in seeds]


def estimate(
    values: Sequence[float],
    seeds: Seeds,
    statistic: Literal["mean", "iqm"] = "mean",
    *,
    paired: bool = False,
) -> Estimate:
    """An estimate with its interval, as far as the sample allows.

    Args:
        values: One per episode.
        seeds: The seed of each.
        statistic: What is estimated.
        paired: Values are differences of two sides.
    """
    n = len(values)
    if n == 0:
        return Estimate(None, None, None, 0, 0, statistic, note="no completed episodes")
    codes = np.asarray(unit_codes(seeds))
    units = int(codes.max()) + 1
    unseen = intervals.unseen_share(units)
    value = stats.iqm(values) if statistic == "iqm" else stats.mean(values)
    interval_of = intervals.paired_interval if paired else intervals.mean_interval
    found = (intervals.iqm_interval if statistic == "iqm" else interval_of)(values, codes)
    if found is None:
        note = _why_none(values, units, statistic)
        return Estimate(value, None, None, n, units, statistic, note=note, unseen=unseen)
    return Estimate(value, found.low, found.high, n, units, statistic, found.method, unseen=unseen)


def _why_none(values: Sequence[float], units: int, statistic: str) -> str:
    """Equal values say that others are rare, not that there are none: their interval would be a lie."""
    if units < intervals.MIN_UNITS:
        return "not enough episodes"
    if min(values) == max(values):
        return f"all {len(values)} equal"
    return "middle half equal" if statistic == "iqm" else f"all {units} seeds equal"


def share(hits: Sequence[bool], seeds: Seeds) -> Share:
    """A share with its exact interval, in which episodes of one seed count as one."""
    n = len(hits)
    if n == 0:
        return Share(0, 0, None, None, None)
    units = max(unit_codes(seeds)) + 1
    found = intervals.share_interval(sum(hits) * units / n, units)
    assert found is not None
    return Share(sum(hits), n, sum(hits) / n, found.low, found.high, units=units)


class Pairs(NamedTuple):
    """Paired results: differences (first minus second), their seeds, and how many were left out."""

    seeds: tuple[int | None, ...]
    differences: tuple[float, ...]
    left_out: int


def compare_family(entries: Sequence[tuple[Sides, Pairs]]) -> list[Comparison]:
    """Test each pair of a family and correct for their number."""
    tests = [stats.paired_test(_by_unit(pairs)) if pairs.differences else None for _, pairs in entries]
    adjusted = iter(stats.holm([t.p for t in tests if t is not None]))
    family = sum(t is not None for t in tests)
    return [
        _compare(sides, pairs, test, None if test is None else next(adjusted), family)
        for (sides, pairs), test in zip(entries, tests, strict=True)
    ]


def _by_unit(pairs: Pairs) -> intervals.Floats:
    """Sum of differences per unit: seats swapped on one seed count as one."""
    return np.bincount(unit_codes(pairs.seeds), weights=pairs.differences).astype(np.float64)


def _compare(
    sides: Sides, pairs: Pairs, test: stats.PairedTest | None, p_adjusted: float | None, family: int
) -> Comparison:
    d = pairs.differences
    difference = estimate(d, pairs.seeds, paired=True)
    verdict = _verdict(difference, p_adjusted)
    claim, detail = _words(sides, pairs, difference, verdict, p_adjusted, family)
    return Comparison(
        kind=sides.kind,
        operator=sides.operator,
        first=sides.first,
        second=sides.second,
        measure=sides.measure,
        pairs=len(d),
        left_out=pairs.left_out,
        difference=difference,
        p=None if test is None else test.p,
        p_adjusted=p_adjusted,
        family=family,
        method=FLIP_EXACT if test is None else test.method,
        ahead=sum(x > 0 for x in d),
        level=sum(x == 0 for x in d),
        behind=sum(x < 0 for x in d),
        verdict=verdict,
        claim=claim,
        detail=detail,
        seeds=pairs.seeds,
        differences=d,
        outliers=outlier_note(d, unit_codes(pairs.seeds), pairs.seeds, f"difference in {sides.measure}"),
    )


def _verdict(difference: Estimate, p: float | None) -> Literal["first", "second", "undecided"]:
    """Decided is what test and interval agree on; differences that are all equal have no interval."""
    if p is None or p >= ALPHA or difference.value is None or difference.units < intervals.MIN_UNITS:
        return "undecided"
    low = difference.value if difference.low is None else difference.low
    high = difference.value if difference.high is None else difference.high
    return "first" if low > 0 else "second" if high < 0 else "undecided"


def _words(
    sides: Sides, pairs: Pairs, difference: Estimate, verdict: str, p: float | None, family: int
) -> tuple[str, str]:
    where = _where(sides, difference)
    if p is None:
        return f"{sides.first_name} against {sides.second_name} is not decided", f": {where}"
    correction = f" (Holm, {family} comparisons)" if family > 1 else ""
    certainty = f"{where}, {wording.p_value(p)}{correction}"
    if verdict == "undecided":
        claim = f"{sides.first_name} against {sides.second_name} is not decided"
        size = f": difference in {sides.measure} {wording.estimate(difference)} {certainty}"
        return claim, size + _hint(pairs, difference)
    winner, loser = sides.first_name, sides.second_name
    shown = difference
    if verdict == "second":
        winner, loser = loser, winner
        shown = _negated(difference)
    size = f" by {wording.estimate(shown)} in {sides.measure} {certainty}"
    return f"{winner} is better than {loser}", size + _unseen(pairs, difference)


def _unseen(pairs: Pairs, difference: Estimate) -> str:
    """What no sample can exclude: a rare outcome that costs more than all that was seen.

    Where scores take two values, nothing worse than the lower one is to come.
    """
    d = _by_unit(pairs)
    if intervals.step_of(d) is not None and not d.all():
        return ""
    return f"; outcomes on under {wording.percent(difference.unseen)} of seeds may be unseen"


def _where(sides: Sides, difference: Estimate) -> str:
    if sides.kind == "operators":
        if difference.n == 0:
            return "no seed that both completed"
        if difference.units == difference.n:
            return f"on {wording.count(difference.n, 'shared seed')}"
        return f"on {wording.count(difference.units, 'shared seed')} ({difference.n} episodes)"
    if difference.n == 0:
        return "no episode was completed"
    if difference.units == difference.n:
        return f"in {wording.count(difference.n, 'episode')}"
    return f"in {wording.count(difference.n, 'episode')} on {wording.count(difference.units, 'seed')}"


def _hint(pairs: Pairs, difference: Estimate) -> str:
    """What would settle it."""
    if difference.units < intervals.MIN_UNITS:
        return f"; at least {intervals.MIN_UNITS} seeds are needed"
    if not any(pairs.differences):
        return "; they did the same on all of them"
    needed = stats.units_to_decide(_by_unit(pairs))
    if needed is None or needed <= difference.units:
        return ""
    more = float(f"{needed - difference.units:.2g}")  # two digits: it is an estimate
    return f"; about {more:,.0f} more seeds would settle a difference of this size"


def _negated(e: Estimate) -> Estimate:
    def minus(x: float | None) -> float | None:
        return None if x is None else -x

    return replace(e, value=minus(e.value), low=minus(e.high), high=minus(e.low))
