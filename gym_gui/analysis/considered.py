"""What a search found out of its actions before it chose, as its row says it (``considered``).

By the action's word: how often it was tried, what return is expected of it, and what is expected to follow.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from gym_gui.analysis import wording
from gym_gui.core.record_fields import count, items, mapping, number, text

MOST = 20
"""Actions of a decision that are read."""
_DEEP = 8


class Considered(NamedTuple):
    """One action that was weighed.

    Attributes:
        visits: How often it was tried; ``None`` where that was not told.
        value: Return that is expected of it, to who chose; likewise.
        line: What is expected to follow, in the order of play.
    """

    visits: int | None = None
    value: float | None = None
    line: tuple[str, ...] = ()

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


def considered_of(given: Any) -> Mapping[str, Considered]:
    """What a row says under its name, by action; what is of another type is left out."""
    found: dict[str, Considered] = {}
    for word, told in (mapping(given) or {}).items():
        entry = mapping(told)
        if entry is None or len(found) >= MOST:
            continue
        line = tuple(each for each in items(entry.get("line")) or () if text(each) is not None)[:_DEEP]
        found[str(word)] = Considered(count(entry.get("visits")), number(entry.get("value")), line)
    return found
