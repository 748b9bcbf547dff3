"""Reads the beliefs, goals and plans of a BDI program's decision from its step row (``bdi``).

The keys in rows are the same for all interpreters of BDI programs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from gym_gui.analysis.words.wording import count, whole
from gym_gui.core.record_fields import items, mapping, text

FIELD = "bdi"
"""Key of a step row under which the thoughts are."""
FAILED = "Goals that failed"
COME, GONE = "Believes now", "Believes no longer"
_INSIDE = " \N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK} "


@dataclass(frozen=True, slots=True)
class BdiChanges:
    """Changes of beliefs, goals and plan at one decision of a BDI program.

    Attributes:
        added: Beliefs that the program gained.
        removed: Beliefs that the program lost.
        goals: Goals that led to the action, the outermost first; repetitions of a goal (a loop) appear once.
        plan: The plan that chose the action, with its line.
        failed: Goals that failed, with reasons.
        printed: Output of the program.
        heard: Messages that arrived over XMPP instead of the session, with the steps at which they were sent.
    """

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    goals: tuple[str, ...] = ()
    plan: str = ""
    failed: tuple[str, ...] = ()
    printed: tuple[str, ...] = ()
    heard: tuple[str, ...] = ()

    @property
    def intention(self) -> str:
        """The goals in one line, the outermost first, separated by angle quotes."""
        return _INSIDE.join(self.goals)

    @property
    def changes(self) -> str:
        """Numbers of changed beliefs as text, such as ``3 beliefs added, 1 dropped``."""
        more, fewer = len(self.added), len(self.removed)
        if more and fewer:
            return f"{count(more, 'belief')} added, {whole(fewer)} dropped"
        if more or fewer:
            return f"{count(more or fewer, 'belief')} {'added' if more else 'dropped'}"
        return "beliefs as before"

    def pieces(self) -> Iterator[tuple[str, str]]:
        """Yield headings and texts of the parts that are not empty, in the order in which they are shown."""
        pieces = (
            ("Intention", "\n".join(f"{'  ' * depth}{goal}" for depth, goal in enumerate(self.goals))),
            ("Plan", self.plan),
            (FAILED, "\n".join(self.failed)),
            ("Printed", "\n".join(self.printed)),
            ("Received over XMPP", "\n".join(self.heard)),
            (COME, "\n".join(self.added)),
            (GONE, "\n".join(self.removed)),
        )
        yield from (piece for piece in pieces if piece[1])


def thought_of(given: Any) -> BdiChanges | None:
    """Return the thoughts in the field ``bdi`` of a step row; missing or invalid parts are empty.

    Returns:
        ``None`` if the value is not a mapping.
    """
    thoughts = mapping(given)
    if thoughts is None:
        return None

    def listed(name: str) -> tuple[str, ...]:
        return tuple(each for each in items(thoughts.get(name)) or () if isinstance(each, str))

    return BdiChanges(
        added=listed("added"),
        removed=listed("removed"),
        goals=tuple(goal for goal, _ in groupby(listed("goals"))),
        plan=text(thoughts.get("plan")) or "",
        failed=listed("failed"),
        printed=listed("printed"),
        heard=listed("heard"),
    )
