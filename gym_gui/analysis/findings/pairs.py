"""Data classes of the paired results of two operators or teams on the same seeds, and of their test."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from gym_gui.analysis.statistics import intervals, stats
from gym_gui.analysis.statistics.distributions import MIN_INTERVAL
from gym_gui.analysis.statistics.summary_numbers import Bounds
from gym_gui.analysis.statistics.units import Sample, Scope

MOST_LOST = 0.1
"""Largest share of failed episodes at which sides that failed equally often are compared."""


class Sides(NamedTuple):
    """The two sides of a comparison.

    Attributes:
        kind: Kind of the sides: operators, or teams of one operator.
        operator: Key of the teams' operator; empty for operators.
        first: Key (operator) or name (team) of the first side.
        second: Key or name of the second side.
        first_name: Name of the first side in sentences.
        second_name: Name of the second side in sentences.
        measure: ``return`` or ``score``.
        trained: Whether each side is a trained policy; a verdict then holds for this checkpoint only.
        within: Name of the teams' operator, if verdicts name it; else empty.
    """

    kind: Literal["operators", "teams"]
    operator: str
    first: str
    second: str
    first_name: str
    second_name: str
    measure: str
    trained: tuple[bool, bool] = (False, False)
    within: str = ""

    @property
    def subjects(self) -> tuple[str, str]:
        """Names of both sides for verdicts, with the remark "this checkpoint" for trained policies."""
        names = (self.first_name, self.second_name)
        first, second = (
            _with_remark(name, "this checkpoint") if trained else name
            for name, trained in zip(names, self.trained, strict=True)
        )
        return first, second


def _with_remark(name: str, remark: str) -> str:
    """Return a name with a remark: ``PPO (remark)``, or ``PPO (200k, remark)`` if it already has one."""
    return f"{name[:-1]}, {remark})" if name.endswith(")") else f"{name} ({remark})"


@dataclass(frozen=True)
class Pairs:
    """Paired results of two sides on the same seeds.

    Attributes:
        samples: Seed, round and digest of each pair, by which dependent pairs are recognized.
        differences: First minus second for each pair.
        shared: Number of episodes that both sides have played, whatever their end.
        failed: Numbers of shared episodes in which the first and the second failed or had no finite return.
        stopped: Number of shared episodes that, on one side, were stopped or lost with a process.
        unshared: Numbers of episodes that only the first and only the second has played.
        bounds: Bounds of the mean difference for any results of missing episodes; ``None`` if none are.
        score: Value of a failed episode, ``None`` if the experiment declares none.
        finished: Whether the runs have ended.
        gone: Number of episodes of both sides that were played but have no line in the run folder.
        begun_again: Numbers of episodes of each side that were begun again because a process was lost.
        chosen: Whether the number of seeds depended on results, which the test does not account for.
        alike: Whether both sides are the same policies in swapped seats, so that no test makes sense.
        unlike: Whether the sides have different sizes and only returns, so that no test makes sense.
        least: Smallest number of independent seeds for an interval.
    """

    samples: tuple[Sample, ...]
    differences: tuple[float, ...]
    shared: int
    failed: tuple[int, int] = (0, 0)
    stopped: int = 0
    unshared: tuple[int, int] = (0, 0)
    bounds: Bounds | None = None
    score: float | None = None
    finished: bool = True
    gone: int = 0
    begun_again: tuple[int, int] = (0, 0)
    chosen: bool = False
    alike: bool = False
    unlike: bool = False
    least: int = MIN_INTERVAL

    @property
    def left_out(self) -> int:
        """Number of shared episodes that are not compared."""
        return self.shared - len(self.differences)

    @property
    def is_lopsided(self) -> bool:
        """Whether missing episodes could change the verdict, so that the comparison is not tested."""
        if not self.left_out:
            return False
        if self.failed[0] != self.failed[1] or self.left_out > MOST_LOST * self.shared:
            return True
        return self.bounds is None or self.bounds.low <= 0 <= self.bounds.high


class TestedPairs(NamedTuple):
    """Paired results of two sides with their test; the test is ``None`` if nothing can be tested."""

    sides: Sides
    pairs: Pairs
    codes: list[int]
    scope: Scope
    test: stats.PairedTest | None

    @property
    def is_testable(self) -> bool:
        """Whether the pairs are on independent seeds and nothing makes a test misleading."""
        p = self.pairs
        untestable = p.is_lopsided or p.chosen or p.alike or p.unlike
        return bool(p.differences) and self.scope == "seeds" and not untestable

    @property
    def by_unit(self) -> intervals.Floats:
        """Sum of the differences per independent unit, float (units,); a seed's seatings are one unit."""
        return np.bincount(self.codes, weights=self.pairs.differences).astype(np.float64)
