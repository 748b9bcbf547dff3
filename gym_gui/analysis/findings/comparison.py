"""Data classes for comparisons of two operators or teams, for refusals and for verdicts.

``compute/verdicts.py`` decides verdicts and ``words/verdict_words.py`` puts them into words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from gym_gui.analysis.statistics.summary_numbers import Bounds, Estimate


@dataclass(frozen=True)
class LastInterimLook:
    """Last interim look at a comparison, while seeds were added.

    Attributes:
        seeds: Number of seeds at the last look, which decided the comparison if any look did.
        largest: Planned largest number of seeds.
        looks: Number of looks.
        p: p-value of all looks together.
        confidence: Confidence level of this look's interval, so that the intervals of all looks together have
            95 %; 1 if no interval is possible.
    """

    seeds: int
    largest: int
    looks: int
    p: float
    confidence: float


@dataclass(frozen=True)
class Comparison:
    """Comparison of two operators on shared seeds, or of two teams in the same episodes.

    Attributes:
        kind: Kind of the sides: operators or teams.
        operator: Key of the teams' operator; empty for operators.
        first: Key (operator) or name (team) of the first side.
        second: Key or name of the second side.
        measure: ``return`` or ``score``; higher is better.
        pairs: Number of episodes that both completed.
        left_out: Number of shared episodes that at least one side did not complete.
        difference: Mean of first minus second.
        p: Two-sided p-value, ``None`` without a test.
        p_adjusted: p-value after Holm's correction within the family.
        family: Number of comparisons in the family.
        method: Name of the test.
        ahead: Number of pairs in which the first did better.
        level: Number of pairs without difference.
        behind: Number of pairs in which the second did better.
        verdict: The better side, or ``undecided``.
        claim: The verdict as text.
        detail: Numbers and uncertainty as text, which continues the claim.
        seeds: Seed of each pair.
        differences: First minus second for each pair.
        outliers: A sentence if one or a few seeds dominate the difference, else empty.
        shared: Number of shared episodes, completed or not.
        failed: Numbers of shared episodes in which the first and the second failed or had no finite return.
        unshared: Numbers of episodes that only the first and only the second has played.
        bounds: Bounds of ``difference`` for any results of missing episodes; ``None`` if none is missing.
        stage: Last look, if seeds were added until the comparison was decided; else ``None``.
    """

    kind: Literal["operators", "teams"]
    operator: str
    first: str
    second: str
    measure: str
    pairs: int
    left_out: int
    difference: Estimate
    p: float | None
    p_adjusted: float | None
    family: int
    method: str
    ahead: int
    level: int
    behind: int
    verdict: Literal["first", "second", "undecided"]
    claim: str
    detail: str
    seeds: tuple[int | None, ...]
    differences: tuple[float, ...]
    outliers: str = ""
    shared: int = 0
    failed: tuple[int, int] = (0, 0)
    unshared: tuple[int, int] = (0, 0)
    bounds: Bounds | None = None
    stage: LastInterimLook | None = None


@dataclass(frozen=True)
class Refusal:
    """Refusal to compare operators, because they played different tasks.

    Attributes:
        first: Keys of the operators of one task.
        second: Keys of the operators of the other task.
        differs: Settings in which the tasks differ, each with its two values.
        claim: The refusal as text.
        detail: The differing settings as text, which continues the claim.
    """

    first: tuple[str, ...]
    second: tuple[str, ...]
    differs: Mapping[str, tuple[Any, Any]]
    claim: str
    detail: str


@dataclass(frozen=True)
class Verdict:
    """Conclusion of a report: which side is better, or that this is undecided.

    Attributes:
        claim: Text such as "A is better than B" or "A against B is not decided".
        detail: Numbers behind the claim as text, which continues the claim.
        decided: Whether the claim names a better side.
        task: Environment of the claim, if the report has several; else empty.
    """

    claim: str
    detail: str
    decided: bool
    task: str = ""

    @property
    def sentence(self) -> str:
        """Claim and numbers as one sentence, without the environment."""
        return f"{self.claim}{self.detail}."

    def __str__(self) -> str:
        return f"{self.task}: {self.sentence}" if self.task else self.sentence
