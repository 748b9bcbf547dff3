"""What a summary says of two operators or teams: how they compare, why they cannot, who is better.

``compute/verdicts.py`` decides it, ``words/verdict_words.py`` words it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from gym_gui.analysis.statistics.summary_numbers import Bounds, Estimate


@dataclass(frozen=True)
class Stage:
    """Where a comparison has come to that was looked at while seeds were added.

    Attributes:
        seeds: Seeds of its last look: the one that decided it, if one did.
        largest: Seeds that were to be played at most.
        looks: How often it was looked at.
        p: p-value of all looks together.
        confidence: Of the interval of this look alone, so that those of all looks have 95 % together; 1 where
            none would be sure enough.
    """

    seeds: int
    largest: int
    looks: int
    p: float
    confidence: float


@dataclass(frozen=True)
class Comparison:
    """Two operators on shared seeds, or two teams in the same episodes.

    Attributes:
        kind: What is compared.
        operator: For teams, the key of their operator; else empty.
        first: Key (operator) or name (team) of the first.
        second: The same of the second.
        measure: ``return`` or ``score``; higher is better.
        pairs: Episodes that both completed.
        left_out: Shared episodes that one of them did not complete.
        difference: Mean of first minus second.
        p: Two-sided p-value, ``None`` with nothing to test.
        p_adjusted: The same after Holm's correction within its family.
        family: Number of comparisons in that family.
        method: The test.
        ahead: Pairs in which the first did better.
        level: Pairs without difference.
        behind: Pairs in which the second did better.
        verdict: Who is better, or ``undecided``.
        claim: The verdict in words.
        detail: Its uncertainty in words.
        seeds: Seed of each pair.
        differences: First minus second of each pair.
        outliers: A sentence where one or a few seeds make the difference, else empty.
        shared: Episodes of each side that could be compared, had all been completed.
        failed: Of these, those in which the first and the second failed or had no finite return.
        unshared: Episodes that only the first, and only the second, has played.
        bounds: What ``difference`` could be with the episodes that are missing; ``None``: none is.
        stage: How far it was followed where seeds were added until it was decided; ``None``: they were not.
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
    stage: Stage | None = None


@dataclass(frozen=True)
class Refusal:
    """Operators that are not compared, as they played different tasks.

    Attributes:
        first: Keys of the operators of one task.
        second: Keys of those of the other.
        differs: What sets the tasks apart, by setting: its value in the one and the other.
        claim: The refusal in words.
        detail: What differs, in words; continues the sentence.
    """

    first: tuple[str, ...]
    second: tuple[str, ...]
    differs: Mapping[str, tuple[Any, Any]]
    claim: str
    detail: str


@dataclass(frozen=True)
class Verdict:
    """What a reader takes away first.

    Attributes:
        claim: "A is better than B", "A against B is not decided".
        detail: The numbers behind it; continues the sentence.
        decided: Whether the claim names a better one.
        task: The environment it is about, where the report has several; else empty.
    """

    claim: str
    detail: str
    decided: bool
    task: str = ""

    @property
    def sentence(self) -> str:
        """Claim and numbers, below a heading that names the environment."""
        return f"{self.claim}{self.detail}."

    def __str__(self) -> str:
        return f"{self.task}: {self.sentence}" if self.task else self.sentence
