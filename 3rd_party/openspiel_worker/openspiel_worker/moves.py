"""Results of a search, the interface of players, and a reader of numeric settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from mosaic_worker.worker import LoadError, Slot

MOST_TOLD = 5
"""Largest number of a position's moves in the record."""


class MoveResult(NamedTuple):
    """Search results of one move.

    Attributes:
        visits: Number of times that the search tried it.
        value: Expected return for the player to move in the searched position; ``None`` if unknown.
        line: OpenSpiel's actions that are expected to follow.
        replies: Search results of possible next moves, those that the search tried most often.
    """

    visits: int
    value: float | None
    line: Sequence[int] = ()
    replies: Mapping[int, MoveResult] = {}


class PositionResult(NamedTuple):
    """Result for a position.

    Attributes:
        ranked: OpenSpiel's actions, the one to play first.
        shares: Share of each action among the simulations, or its probability.
        simulations: Number of simulations; 0 without a search.
        value: Expected return; ``None`` if unknown.
        tried: Search results of each searched move.
    """

    ranked: Sequence[int]
    shares: Mapping[int, float]
    simulations: int = 0
    value: float | None = None
    tried: Mapping[int, MoveResult] = {}


class Player(Protocol):
    """A method of choosing moves.

    Attributes:
        name: Name for tables: ``MCTS, 1000 simulations``.
    """

    @property
    def name(self) -> str: ...

    def think(self, states: Sequence[Any], seed: int, step: int) -> PositionResult:
        """Choose a move.

        Args:
            states: Possible states of the game.
            seed: Seed of the episode.
            step: Step of the environment.
        """
        ...


def number(slot: Slot, key: str, default: float, least: float, *, whole: bool = False) -> float:
    """Read a numeric setting of a slot.

    Raises:
        LoadError: The value is no number, or too small.
    """
    value = slot.settings.get(key, default)
    kinds = int if whole else int | float
    if isinstance(value, bool) or not isinstance(value, kinds) or not least <= value < float("inf"):
        what = "a whole number" if whole else "a number"
        raise LoadError(f"{key} is {value!r}, but must be {what} of at least {least:g}")
    return value
