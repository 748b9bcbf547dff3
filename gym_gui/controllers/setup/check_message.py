"""Findings about a configuration: one sentence and its severity each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from gym_gui.core.types import AgentID


class Level(StrEnum):
    """Severity of a finding about a configuration, the worst first."""

    ERROR = "error"
    WARNING = "warning"
    OK = "ok"
    NOTE = "note"


@dataclass(frozen=True)
class ConfigurationMessage:
    """One sentence about a configuration.

    Attributes:
        level: Severity of the finding.
        text: The sentence, without a full stop.
        agent: The slot concerned; ``""`` for all slots.
        workers: Ids of workers, any of which could be installed to fix the problem.
    """

    level: Level
    text: str
    agent: AgentID = ""
    workers: tuple[str, ...] = ()


def worst(levels: Iterable[Level]) -> Level:
    """Return the worst of some severities; :attr:`Level.NOTE` if there are none."""
    order = list(Level)
    return min(levels, key=order.index, default=Level.NOTE)


def listed(words: Sequence[str]) -> str:
    """Return the words as an enumeration: ``a, b and c``."""
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]])) if words else "none"
