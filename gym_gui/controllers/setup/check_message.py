"""One sentence about a configuration, and how bad it is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from gym_gui.core.types import AgentID


class Level(StrEnum):
    """How bad it is, the worst first."""

    ERROR = "error"
    WARNING = "warning"
    OK = "ok"
    NOTE = "note"


@dataclass(frozen=True)
class Finding:
    """One sentence.

    Attributes:
        level: How bad it is.
        text: The sentence, without a full stop.
        agent: The slot it concerns; empty for all of them.
        workers: Ids of the workers of which any could be installed to put it right.
    """

    level: Level
    text: str
    agent: AgentID = ""
    workers: tuple[str, ...] = ()


def worst(levels: Iterable[Level]) -> Level:
    """The worst of some levels; a note where there is none."""
    order = list(Level)
    return min(levels, key=order.index, default=Level.NOTE)


def listed(words: Sequence[str]) -> str:
    """``a, b and c``."""
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]])) if words else "none"
