"""What every tournament says, whether its sides compete or are one team."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from gym_gui.analysis.comparison import Verdict


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
    """

    run_id: str
    task: str
    status: str
    notes: tuple[str, ...]
    games: int
    planned: int
    seeds: int
    methods: Mapping[str, str]

    @property
    @abstractmethod
    def said(self) -> Sequence[Verdict]:
        """What a reader takes away first."""

    @property
    @abstractmethod
    def remarks(self) -> Sequence[str]:
        """Sentences that go with it."""

    def to_json(self) -> dict[str, Any]:
        """As ``tournament.json`` has it."""
        return asdict(self)
