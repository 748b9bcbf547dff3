"""Reads the results of an agent's search from a step row (``considered``).

For each action: number of visits, expected return, expected continuation, and results on following moves, as
far as the search tree was recorded.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from gym_gui.analysis.words import wording
from gym_gui.core.record_fields import count, items, mapping, number, text

MOST = 20
"""Largest number of actions per position that are read."""
_DEEP = 8
"""Largest depth of following moves that is read."""


class ActionSearchResult(NamedTuple):
    """Results of a search on one action.

    Attributes:
        visits: Number of times the search tried the action; ``None`` if it was not recorded.
        value: Expected return for the agent that chose; ``None`` if it was not recorded.
        line: Expected continuation, in the order of play.
        replies: Results on following moves, by action name; values are returns of the same agent.
    """

    visits: int | None = None
    value: float | None = None
    line: tuple[str, ...] = ()
    replies: Mapping[str, ActionSearchResult] = {}

    @property
    def words(self) -> str:
        """Results as text, such as ``tried 128 times, value 0.42, then column 3, column 5``."""
        parts: list[str] = []
        if self.visits is not None:
            parts.append(f"tried {wording.count(self.visits, 'time')}")
        if self.value is not None:
            parts.append(f"value {wording.number(self.value)}")
        if self.line:
            parts.append(f"then {', '.join(self.line)}")
        return ", ".join(parts)


def considered_of(given: Any, depth: int = 0) -> Mapping[str, ActionSearchResult]:
    """Return the search results in a step row, by action name; invalid entries are left out.

    Args:
        given: Value of ``considered`` in a row, or of ``replies`` of an action.
        depth: Number of earlier moves in the search tree.
    """
    found: dict[str, ActionSearchResult] = {}
    for word, result in (mapping(given) or {}).items():
        entry = mapping(result)
        if entry is None or len(found) >= MOST:
            continue
        line = tuple(each for each in items(entry.get("line")) or () if text(each) is not None)[:_DEEP]
        below = entry.get("replies") if depth < _DEEP else None
        found[str(word)] = ActionSearchResult(
            count(entry.get("visits")), number(entry.get("value")), line, considered_of(below, depth + 1)
        )
    return found
