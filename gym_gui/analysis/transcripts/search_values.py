"""What a search found out of its actions before it chose, as its row says it (``considered``).

By the action's word: how often the search tried it, which return and which moves it expects from it, and its
values of those moves: the tree, as far as the row has it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from gym_gui.analysis.words import wording
from gym_gui.core.record_fields import count, items, mapping, number, text

MOST = 20
"""Actions of a position that are read."""
_DEEP = 8
"""Moves after one that are read."""


class Considered(NamedTuple):
    """One action that was weighed.

    Attributes:
        visits: How often it was tried; ``None`` where that was not told.
        value: Return that is expected of it, to who chose; likewise.
        line: What is expected to follow, in the order of play.
        replies: What was found of moves that may follow, by their words; values are of who chose, too.
    """

    visits: int | None = None
    value: float | None = None
    line: tuple[str, ...] = ()
    replies: Mapping[str, Considered] = {}

    @property
    def words(self) -> str:
        """``tried 128 times, value 0.42, then column 3, column 5``."""
        parts: list[str] = []
        if self.visits is not None:
            parts.append(f"tried {wording.count(self.visits, 'time')}")
        if self.value is not None:
            parts.append(f"value {wording.number(self.value)}")
        if self.line:
            parts.append(f"then {', '.join(self.line)}")
        return ", ".join(parts)


def considered_of(given: Any, depth: int = 0) -> Mapping[str, Considered]:
    """Results of a search in a row, by action; entries of another type are left out.

    Args:
        given: The value of ``considered`` in a row, or of ``replies`` of an action.
        depth: How many moves come before.
    """
    found: dict[str, Considered] = {}
    for word, told in (mapping(given) or {}).items():
        entry = mapping(told)
        if entry is None or len(found) >= MOST:
            continue
        line = tuple(each for each in items(entry.get("line")) or () if text(each) is not None)[:_DEEP]
        below = entry.get("replies") if depth < _DEEP else None
        found[str(word)] = Considered(
            count(entry.get("visits")), number(entry.get("value")), line, considered_of(below, depth + 1)
        )
    return found
