"""What two sides achieved under the same conditions, and the test of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from gym_gui.analysis.statistics import intervals, stats
from gym_gui.analysis.statistics.distributions import MIN_INTERVAL
from gym_gui.analysis.statistics.summary_numbers import Bounds
from gym_gui.analysis.statistics.units import Sample, Scope

MOST_LOST = 0.1
"""Share of what was to be compared that may be lost to failures, where both sides failed as often."""


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
        trained: Which of them is the outcome of one training: a claim holds for it alone.
        within: The operator that sentences name, where a text has pairs of several.
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
        """What claims are about."""
        names = (self.first_name, self.second_name)
        first, second = (
            _with_remark(name, "this checkpoint") if trained else name
            for name, trained in zip(names, self.trained, strict=True)
        )
        return first, second


def _with_remark(name: str, remark: str) -> str:
    """``PPO (remark)``; ``PPO (200k, remark)`` where something stands there already."""
    return f"{name[:-1]}, {remark})" if name.endswith(")") else f"{name} ({remark})"


@dataclass(frozen=True)
class Pairs:
    """What two sides achieved under the same conditions.

    Attributes:
        samples: What tells which pairs are independent.
        differences: First minus second, of each.
        shared: Episodes that each side was to play there, and has ended in some way.
        failed: Of these, those in which the first and the second failed, or that gave no finite return.
        stopped: Of these, those that were stopped, or lost with a process, on one side.
        unshared: Episodes that only the first, and only the second, has played.
        bounds: What the mean difference could be, whatever the missing episodes had given.
        score: What a failed episode counts as, ``None`` where the experiment does not say.
        finished: Whether the runs have come to their end.
        gone: Episodes of either side that its run counts, and that have no line in its folder any more.
        begun_again: Episodes of the first and the second that were begun again, a process being lost.
        chosen: How many seeds there are was decided by looking at results, of which a test knows nothing.
        alike: Both sides are the same policies in each other's seats, which leaves nothing to test.
        unlike: Nothing says that what the sides achieved is of one kind, which leaves nothing to test.
        least: Units below which no interval is shown.
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
        """Shared episodes that are not compared."""
        return self.shared - len(self.differences)

    @property
    def is_lopsided(self) -> bool:
        """Whether what is missing may be what decides: a sample without it is no fair one."""
        if not self.left_out:
            return False
        if self.failed[0] != self.failed[1] or self.left_out > MOST_LOST * self.shared:
            return True
        return self.bounds is None or self.bounds.low <= 0 <= self.bounds.high


class Tested(NamedTuple):
    """A pair of sides with its test, ``None`` where nothing can be tested."""

    sides: Sides
    pairs: Pairs
    codes: list[int]
    scope: Scope
    test: stats.PairedTest | None

    @property
    def is_testable(self) -> bool:
        """Whether there are independent seeds, and nothing that makes a test of them say something else."""
        p = self.pairs
        untestable = p.is_lopsided or p.chosen or p.alike or p.unlike
        return bool(p.differences) and self.scope == "seeds" and not untestable

    @property
    def by_unit(self) -> intervals.Floats:
        """Sum of differences per unit: seats swapped on one seed count as one."""
        return np.bincount(self.codes, weights=self.pairs.differences).astype(np.float64)
