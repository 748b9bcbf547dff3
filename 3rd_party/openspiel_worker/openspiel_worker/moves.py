"""What a way to play comes to, and the settings that all have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from mosaic_worker.worker import LoadError, Slot

MOST_TOLD = 5
"""Moves of a position that are told."""


class Tried(NamedTuple):
    """What a search found out of one move.

    Attributes:
        visits: How often it was tried.
        value: The return that is expected of it, to who is on turn in the position that was thought about;
            ``None`` where that is not known.
        line: OpenSpiel's actions that are expected to follow.
        replies: The same about the moves that may follow, of those that the search tried most often.
    """

    visits: int
    value: float | None
    line: Sequence[int] = ()
    replies: Mapping[int, Tried] = {}


class Found(NamedTuple):
    """What was found for a position.

    Attributes:
        ranked: OpenSpiel's actions, the one to play first.
        shares: Share of each action among the simulations, or how likely it is.
        simulations: How many there were; 0 where nothing was searched.
        value: The return that is expected; ``None`` where that is not known.
        tried: What was found out of each move that was searched.
    """

    ranked: Sequence[int]
    shares: Mapping[int, float]
    simulations: int = 0
    value: float | None = None
    tried: Mapping[int, Tried] = {}


class Player(Protocol):
    """A way to play.

    Attributes:
        name: For tables: ``MCTS, 1000 simulations``.
    """

    @property
    def name(self) -> str: ...

    def think(self, states: Sequence[Any], seed: int, step: int) -> Found:
        """Look for a move.

        Args:
            states: That the game may be in.
            seed: Of the episode.
            step: Of the environment.
        """
        ...


def number(slot: Slot, key: str, default: float, least: float, *, whole: bool = False) -> float:
    """A setting of a slot.

    Raises:
        LoadError: It is no number, or less than it may be.
    """
    value = slot.settings.get(key, default)
    kinds = int if whole else int | float
    if isinstance(value, bool) or not isinstance(value, kinds) or not least <= value < float("inf"):
        what = "a whole number" if whole else "a number"
        raise LoadError(f"{key} is {value!r}: give {what} from {least:g} on")
    return value
