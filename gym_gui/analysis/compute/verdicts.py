"""Decides by a test and an interval which of two sides is better, or that neither is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from gym_gui.analysis.compute.estimates import estimate
from gym_gui.analysis.compute.outliers import outlier_note
from gym_gui.analysis.findings.comparison import Comparison, LastInterimLook
from gym_gui.analysis.findings.pairs import Pairs, Sides, TestedPairs
from gym_gui.analysis.statistics import intervals, stats
from gym_gui.analysis.statistics.distributions import CONFIDENCE
from gym_gui.analysis.statistics.seeds_needed import ALPHA
from gym_gui.analysis.statistics.summary_numbers import FLIP_EXACT, SEQUENTIAL, Estimate
from gym_gui.analysis.statistics.units import units_of
from gym_gui.analysis.words.verdict_words import verdict_words


def compare_all(asked: Sequence[tuple[Sides, Pairs] | Comparison]) -> list[Comparison]:
    """Compare all pairs as one family (Holm), in the given order; finished comparisons stay unchanged."""
    rest = iter(compare_family([each for each in asked if not isinstance(each, Comparison)]))
    return [each if isinstance(each, Comparison) else next(rest) for each in asked]


def compare_family(entries: Sequence[tuple[Sides, Pairs]]) -> list[Comparison]:
    """Return the comparisons of a family of pairs, with p-values corrected for the number of tests (Holm)."""
    found = [_untested(sides, pairs) for sides, pairs in entries]
    family = sum(t.is_testable for t in found)
    found = [_tested(t, family) for t in found]
    adjusted = iter(stats.holm([t.test.p for t in found if t.test is not None]))
    return [compared(t, None if t.test is None else next(adjusted), family) for t in found]


def tested(sides: Sides, pairs: Pairs) -> TestedPairs:
    """Return one pair of sides with its test; without test if the sample is too small."""
    return _tested(_untested(sides, pairs), 1)


def _untested(sides: Sides, pairs: Pairs) -> TestedPairs:
    codes, scope = units_of(pairs.samples)
    return TestedPairs(sides, pairs, codes, scope, None)


def _tested(t: TestedPairs, family: int) -> TestedPairs:
    return t._replace(test=stats.paired_test(t.by_unit, ALPHA / family)) if t.is_testable else t


def compared(
    t: TestedPairs, p_adjusted: float | None, family: int, stage: LastInterimLook | None = None
) -> Comparison:
    """Return the comparison of two sides with its verdict.

    Args:
        t: The sides and their test.
        p_adjusted: The adjusted p-value within the family, ``None`` without a test.
        family: Number of comparisons in the family.
        stage: The last interim look, if seeds were added until the comparison was decided.
    """
    sides, pairs, test = t.sides, t.pairs, t.test
    d, seeds = pairs.differences, tuple(sample.seed for sample in pairs.samples)
    confidence = CONFIDENCE if stage is None else stage.confidence
    difference = estimate(d, pairs.samples, paired=True, confidence=confidence, least=pairs.least)
    verdict = _verdict(t, difference, p_adjusted, confidence)
    claim, detail = verdict_words(t, difference, verdict, p_adjusted, family, stage)
    if stage is None:
        p, method = (None, FLIP_EXACT) if test is None else test
    else:
        p, method = None if test is None else stage.p, SEQUENTIAL
    return Comparison(
        kind=sides.kind,
        operator=sides.operator,
        first=sides.first,
        second=sides.second,
        measure=sides.measure,
        pairs=len(d),
        left_out=pairs.left_out,
        difference=difference,
        p=p,
        p_adjusted=p_adjusted,
        family=family,
        method=method,
        ahead=sum(x > 0 for x in d),
        level=sum(x == 0 for x in d),
        behind=sum(x < 0 for x in d),
        verdict=verdict,
        claim=f"{sides.within}: {claim}" if sides.within else claim,
        detail=detail,
        seeds=seeds,
        differences=d,
        outliers=outlier_note(d, t.codes, seeds, f"difference in {sides.measure}"),
        shared=pairs.shared,
        failed=pairs.failed,
        unshared=pairs.unshared,
        bounds=pairs.bounds,
        stage=stage,
    )


def _verdict(
    t: TestedPairs, difference: Estimate, p: float | None, confidence: float
) -> Literal["first", "second", "undecided"]:
    """Return the side that test and interval agree on; unfinished runs are undecided.

    If all differences are equal, there is no interval and the sign decides. With few seeds, the interval is
    not shown, but still is the second condition.
    """
    if p is None or p >= ALPHA or difference.value is None or not t.pairs.finished or t.pairs.gone:
        return "undecided"
    if difference.units < intervals.MIN_UNITS:
        return "undecided"
    low, high = difference.low, difference.high
    if difference.units < t.pairs.least and confidence < 1:
        d, least = t.pairs.differences, intervals.MIN_UNITS
        few = intervals.paired_interval(d, t.codes, confidence=confidence, least=least)
        low, high = (None, None) if few is None else few[:2]
    low = difference.value if low is None else low
    high = difference.value if high is None else high
    return "first" if low > 0 else "second" if high < 0 else "undecided"
