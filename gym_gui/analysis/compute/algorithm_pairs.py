"""Compares pairs of algorithms by the scores of their trainings: difference, p-value and verdict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from gym_gui.analysis.findings.trainings import (
    BOOTSTRAP_TRAININGS,
    PERCENTILE_TRAININGS,
    SPLITS_EXACT,
    SPLITS_SAMPLED,
    AlgorithmComparison,
    TrainedScores,
)
from gym_gui.analysis.statistics import stratified
from gym_gui.analysis.statistics.intervals import Floats, unseen_share
from gym_gui.analysis.statistics.seeds_needed import ALPHA
from gym_gui.analysis.statistics.stats import holm
from gym_gui.analysis.statistics.stratified import MIN_TRAININGS, IntervalEnds
from gym_gui.analysis.statistics.summary_numbers import Estimate
from gym_gui.analysis.words import wording
from gym_gui.analysis.words.verdict_words import algorithm_verdict_words


def compare_pairs(
    order: Sequence[str],
    samples: Mapping[str, Sequence[Floats]],
    groups: Mapping[str, Sequence[TrainedScores]],
    measure: str,
) -> Iterator[AlgorithmComparison]:
    """Compare every pair of algorithms, with p-values corrected for all pairs (Holm).

    Args:
        order: Names of the algorithms, best first.
        samples: Scores by algorithm, one array (trainings,) per environment.
        groups: Trainings by algorithm.
        measure: Name of the score.
    """
    pairs = list(combinations(order, 2))
    reasons = [_undecidable([samples[a], samples[b]], [*groups[a], *groups[b]]) for a, b in pairs]
    tests = [
        None if reason else stratified.permutation_test(samples[a], samples[b])
        for (a, b), reason in zip(pairs, reasons, strict=True)
    ]
    adjusted = iter(holm([test.p for test in tests if test is not None]))
    family = sum(test is not None for test in tests)
    for (a, b), reason, test in zip(pairs, reasons, tests, strict=True):
        first, second = samples[a], samples[b]
        least = min(len(x) for x in (*first, *second))
        n = sum(len(x) for x in (*first, *second))
        difference = _two_sided(
            stratified.mean_of_tasks(first) - stratified.mean_of_tasks(second),
            stratified.difference_ends(first, second),
            "mean",
            BOOTSTRAP_TRAININGS,
            (n, least),
            stratified.enough(first, second),
        )
        better = _two_sided(
            stratified.improvement(first, second),
            stratified.improvement_ends(first, second),
            "improvement",
            PERCENTILE_TRAININGS,
            (n, least),
            stratified.enough(first, second),
        )
        p = None if test is None else next(adjusted)
        found = AlgorithmComparison(
            first=a,
            second=b,
            difference=difference,
            improvement=better,
            p=None if test is None else test.p,
            p_adjusted=p,
            family=family,
            method="" if test is None else SPLITS_EXACT if test.exact else SPLITS_SAMPLED,
            verdict="first" if _is_better(first, second, difference, p) else "undecided",
        )
        counts = [sum(map(len, sample)) for sample in (first, second)]
        over = wording.trainings(counts) + (f" in {len(first)} environments" if len(first) > 1 else "")
        claim, detail = algorithm_verdict_words(found, reason, over, measure)
        yield replace(found, claim=claim, detail=detail)


def _two_sided(
    value: float,
    ends: IntervalEnds | None,
    statistic: str,
    method: str,
    counts: tuple[int, int],
    enough: bool,
) -> Estimate:
    n, least = counts
    unseen = unseen_share(least)
    if ends is None:
        note = "resamples do not differ" if enough else "too few trainings"
        return Estimate(value, None, None, n, least, statistic, note=note, unseen=unseen)
    return Estimate(value, ends.low, ends.high, n, least, statistic, method=method, unseen=unseen)


def _undecidable(samples: Sequence[Sequence[Floats]], groups: Sequence[TrainedScores]) -> str:
    """Return why the trainings of two algorithms allow no verdict, as text; empty if they allow one."""
    failed = [group for group in groups if any(m.state in ("failed", "damaged") for m in group.missing)]
    if failed:
        parts = [f"{_count(group, 'failed', 'damaged')} of {group.group}" for group in failed]
        return f"{wording.names(parts)} failed, and failed trainings are not counted"
    unfinished = [group for group in groups if group.missing]
    if unfinished:
        parts = [f"{len(group.missing)} of {group.group}" for group in unfinished]
        alone = sum(len(group.missing) for group in unfinished) == 1
        return f"{wording.names(parts)} {'is' if alone else 'are'} not finished"
    least = min(len(x) for sample in samples for x in sample)
    if least < MIN_TRAININGS:
        return f"at least {MIN_TRAININGS} trainings of each are needed"
    return ""


def _count(group: TrainedScores, *states: str) -> int:
    return sum(missing.state in states for missing in group.missing)


def _is_better(
    first: Sequence[Floats], second: Sequence[Floats], difference: Estimate, p: float | None
) -> bool:
    """Return whether test and interval agree that the first is better; without interval, the sign decides."""
    if p is None or p >= ALPHA or difference.value is None:
        return False
    ends = stratified.difference_ends(first, second, shown=False)
    return (difference.value if ends is None else ends.low) > 0
