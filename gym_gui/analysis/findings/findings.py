"""What every tournament says, whether its sides compete or are one team."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from gym_gui.analysis.findings.comparison import Verdict


@dataclass(frozen=True)
class Fixture:
    """A pairing, and how much of it is played.

    Attributes:
        operator_id: The operator whose episodes its games are.
        policies: Who sits in which seat to begin with.
        played: Games on record, whatever came of them.
        planned: Games that are to be played.
    """

    operator_id: str
    policies: tuple[str, ...]
    played: int
    planned: int


def counted(fixtures: Sequence[Fixture]) -> tuple[int, int]:
    """Games that are played, and that are planned."""
    return sum(each.played for each in fixtures), sum(each.planned for each in fixtures)


@dataclass(frozen=True, kw_only=True)
class Findings:
    """What a tournament says.

    Attributes:
        run_id: Its run.
        task: The environment.
        status: Of the run: ``completed``, ``stopped``, …
        notes: Sentences on what weakens it.
        games: Games that count.
        planned: Games that were to be played.
        seeds: Seeds on which games were played.
        methods: How the numbers are made.
        fixtures: Who meets whom as far as that is settled, in the order in which it was.
    """

    run_id: str
    task: str
    status: str
    notes: tuple[str, ...]
    games: int
    planned: int
    seeds: int
    methods: Mapping[str, str]
    fixtures: tuple[Fixture, ...] = ()

    @property
    @abstractmethod
    def said(self) -> Sequence[Verdict]:
        """What a reader takes away first."""

    @abstractmethod
    def fixture(self, row: str, column: str) -> Fixture | None:
        """Who meets in a square of the matrix, the first of several; ``None`` where they are not to meet."""

    @property
    @abstractmethod
    def remarks(self) -> Sequence[str]:
        """Sentences that go with it."""

    def to_json(self) -> dict[str, Any]:
        """As ``tournament.json`` has it."""
        return asdict(self)
