"""Evaluates comparisons repeatedly (interim looks) while seeds are added, until each is decided."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gym_gui.analysis.compute.verdicts import compared, tested
from gym_gui.analysis.findings.comparison import Comparison, LastInterimLook
from gym_gui.analysis.findings.pairs import Pairs, Sides
from gym_gui.analysis.records.reader import Run
from gym_gui.analysis.statistics import stats
from gym_gui.analysis.statistics.intervals import Floats
from gym_gui.analysis.statistics.sequential_test import ALPHA, InterimResult, SequentialTest
from gym_gui.core.record_fields import count, items, mapping, strings

LOOKS = "looks"
"""Key of ``run.json`` under which a run records its interim looks: numbers of seeds and comparisons."""

PairsOnSeeds = Callable[[int], tuple[Sides, Pairs]]
"""Function that returns the paired results of two sides on a given number of seeds."""

Pair = frozenset[str]
"""Unordered pair of the keys of two sides."""


@dataclass(frozen=True)
class PlannedLooks:
    """Interim looks that a run took at one comparison: number of seeds at each look, and planned maximum."""

    seeds: tuple[int, ...]
    largest: int


def has_planned_looks(run: Run) -> bool:
    """Return whether a run adds seeds until its comparisons are decided."""
    return (mapping(run.record.experiment.get("execution")) or {}).get("until") == "decided"


def operators_in_same_looks(run: Run, operator_id: str) -> frozenset[str]:
    """Return the ids of the operators in the same interim looks as an operator, which is included.

    The set is empty before the run's first look.
    """
    looks = [mapping(each) or {} for each in items(run.record.extra.get(LOOKS)) or []]
    groups = (strings(look.get("operators")) or () for look in looks)
    return frozenset(next((group for group in groups if operator_id in group), ()))


def recorded_looks(run: Run) -> dict[Pair, PlannedLooks]:
    """Return the interim looks that a run has taken, by the ids of the two compared operators."""
    seeds: dict[Pair, list[int]] = {}
    largest: dict[Pair, int] = {}
    for each in items(run.record.extra.get(LOOKS)) or []:
        look = mapping(each) or {}
        at, of = count(look.get("seeds")), count(look.get("of"))
        for row in items(look.get("comparisons")) or []:
            found = mapping(row) or {}
            pair = frozenset((str(found.get("first")), str(found.get("second"))))
            if at and of and max(seeds.get(pair, [0])) < at <= of:
                seeds.setdefault(pair, []).append(at)
                largest[pair] = of
    return {pair: PlannedLooks(tuple(at), largest[pair]) for pair, at in seeds.items()}


class SequentialFamily:
    """Family of comparisons with sequential tests, which are evaluated at several interim looks.

    Holm's procedure corrects for all comparisons of the family at every look, including decided comparisons
    and comparisons without data. A decided comparison keeps its verdict and the seeds that decided it.

    Args:
        pairs: The comparisons of the family.
        largest: Largest number of seeds that are played.

    Attributes:
        decided: Decided comparisons, by their sides.
    """

    def __init__(self, pairs: Sequence[Pair], largest: int) -> None:
        self._largest, self._family = largest, len(pairs)
        self._tests = {pair: SequentialTest(len(pairs)) for pair in pairs}
        self._taken = dict.fromkeys(pairs, 0)
        self._stages: dict[Pair, LastInterimLook] = {}
        self.decided: dict[Pair, Comparison] = {}

    def evaluate(self, seeds: int, entries: Sequence[tuple[Sides, Pairs]]) -> dict[Pair, InterimResult]:
        """Evaluate all comparisons that are not decided yet.

        Args:
            seeds: Number of seeds that each side has played.
            entries: Sides with their paired results on these seeds; decided comparisons are skipped.

        Returns:
            Result of the sequential test, for each comparison that was not decided before.
        """
        found: dict[Pair, InterimResult] = {}
        level = ALPHA / max(1, self._family - len(self.decided))
        waiting = [(_pair(sides), sides, pairs) for sides, pairs in entries]
        waiting = [each for each in waiting if each[0] not in self.decided]
        for pair, sides, pairs in waiting:
            sums = _by_seed(pairs) * (1 if sides.first < sides.second else -1)  # sign by name, not by rank
            new, self._taken[pair] = sums[self._taken[pair] :], len(sums)
            found[pair] = seen = self._tests[pair].update(new, seeds / self._largest, level)
            before = self._stages.get(pair)
            looks = 1 if before is None else before.looks + 1
            self._stages[pair] = LastInterimLook(seeds, self._largest, looks, seen.p, 1 - seen.tail)
        adjusted = self._adjusted()
        for pair, sides, pairs in waiting:
            if adjusted[pair] < ALPHA:
                comparison = self.comparison(sides, pairs)
                if comparison.verdict != "undecided":
                    self.decided[pair] = comparison
        return found

    def comparison(self, sides: Sides, pairs: Pairs) -> Comparison:
        """Return the comparison of two sides; if it is decided, as it was at the deciding look."""
        pair = _pair(sides)
        if pair in self.decided:
            return self.decided[pair]
        found, stage = tested(sides, pairs), self._stages.get(pair)
        p = None if found.test is None or stage is None else self._adjusted()[pair]
        return compared(found if stage else found._replace(test=None), p, self._family, stage)

    def _adjusted(self) -> dict[Pair, float]:
        ps = [self._stages[pair].p if pair in self._stages else 1.0 for pair in self._tests]
        # p-values may equal the level exactly: 15 times 0.05 / 15 must not exceed 0.05 by a rounding error.
        return dict(zip(self._tests, (p * (1 - 1e-9) for p in stats.holm(ps)), strict=True))


def compare_at_looks(
    run: Run, ids: Mapping[Pair, Pair], entries: Mapping[Pair, PairsOnSeeds], finished: bool
) -> dict[Pair, Comparison]:
    """Compute the comparisons of a run by repeating its interim looks.

    Args:
        run: The run.
        ids: Ids of the operators in the run, by the keys of the sides.
        entries: The family: for each pair, a function that returns its results on the first seeds.
        finished: Whether the run has ended.

    Returns:
        The comparison of each pair.
    """
    recorded = recorded_looks(run)
    planned = {pair: recorded[of_run] for pair, of_run in ids.items() if of_run in recorded}
    family = SequentialFamily(list(entries), max((each.largest for each in planned.values()), default=1))
    for seeds in sorted({n for pair in entries if pair in planned for n in planned[pair].seeds}):
        due = [pair for pair in entries if pair in planned and seeds in planned[pair].seeds]
        family.evaluate(seeds, [entries[pair](seeds) for pair in due])
    comparisons: dict[Pair, Comparison] = {}
    for pair, on_seeds in entries.items():
        looked = pair in planned
        sides, pairs = on_seeds(planned[pair].seeds[-1] if looked else len(run.record.seeds))
        comparisons[pair] = family.comparison(sides, replace(pairs, finished=finished and looked))
    return comparisons


def _pair(sides: Sides) -> Pair:
    return frozenset((sides.first, sides.second))


def _by_seed(pairs: Pairs) -> Floats:
    """Return the sum of the differences of each seed, in the order in which the seeds were played."""
    sums: dict[int | None, float] = {}
    for sample, difference in zip(pairs.samples, pairs.differences, strict=True):
        sums[sample.seed] = sums.get(sample.seed, 0.0) + difference
    return np.array(list(sums.values()), dtype=np.float64)
