"""Base classes of tournament results, for competing sides and for cross-play."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from gym_gui.analysis.findings.comparison import Verdict


@dataclass(frozen=True)
class Fixture:
    """Pairing of a tournament with its numbers of games.

    Attributes:
        operator_id: Id of the operator whose episodes are the games.
        policies: Policy of each seat in the first seating.
        played: Number of recorded games, whatever their status.
        planned: Number of planned games.
    """

    operator_id: str
    policies: tuple[str, ...]
    played: int
    planned: int


def counted(fixtures: Sequence[Fixture]) -> tuple[int, int]:
    """Return the numbers of played and planned games of several pairings together."""
    return sum(each.played for each in fixtures), sum(each.planned for each in fixtures)


@dataclass(frozen=True, kw_only=True)
class Findings:
    """Results of a tournament.

    Attributes:
        run_id: Id of the tournament's run.
        task: Name of the environment.
        status: Status of the run: ``completed``, ``stopped``, …
        notes: Sentences on limits of the results.
        games: Number of games that count.
        planned: Number of planned games.
        seeds: Number of seeds on which games were played.
        methods: Description of each method by its name.
        fixtures: Pairings that are known so far, in the order of the schedule.
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
    def opening_verdicts(self) -> Sequence[Verdict]:
        """Verdicts at the beginning of a report."""

    @abstractmethod
    def fixture(self, row: str, column: str) -> Fixture | None:
        """Return the first pairing in a square of the matrix; ``None`` if no game is planned there."""

    @property
    @abstractmethod
    def remarks(self) -> Sequence[str]:
        """Sentences below the verdicts."""

    def to_json(self) -> dict[str, Any]:
        """Return plain data, as stored in ``tournament.json``."""
        return asdict(self)
