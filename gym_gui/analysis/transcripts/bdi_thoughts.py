"""Reads the beliefs, goals and plans of a program's decision from its row (``bdi``).

The names in rows are the same for all interpreters, and everything that shows them reads them here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from gym_gui.analysis.words.wording import count, whole
from gym_gui.core.record_fields import items, mapping, text

FIELD = "bdi"
"""Key of the thoughts in a row."""
FAILED = "Goals that failed"
COME, GONE = "Believes now", "Believes no longer"
_INSIDE = " \N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK} "


@dataclass(frozen=True, slots=True)
class Thought:
    """Beliefs, goals and plan at one decision of a program.

    Attributes:
        added: Beliefs that the program gained.
        removed: Beliefs that the program lost.
        goals: The goals that led to the action, the outermost first; a goal that repeatedly leads to itself,
            as in a loop, is listed once.
        plan: The plan that chose the action, with its line.
        failed: Goals that failed, with reasons.
        printed: Output of the program.
        heard: Messages that bypassed the session (over XMPP), with the steps at which they were sent.
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
        """The goals in one line: ``solve``, then the goals that it led to."""
        return _INSIDE.join(self.goals)

    @property
    def changes(self) -> str:
        """Number of changed beliefs as text: ``3 beliefs added, 1 dropped``."""
        more, fewer = len(self.added), len(self.removed)
        if more and fewer:
            return f"{count(more, 'belief')} added, {whole(fewer)} dropped"
        if more or fewer:
            return f"{count(more or fewer, 'belief')} {'added' if more else 'dropped'}"
        return "beliefs as before"

    def pieces(self) -> Iterator[tuple[str, str]]:
        """Yield headings and texts of the parts that are not empty, in display order."""
        told = (
            ("Intention", "\n".join(f"{'  ' * depth}{goal}" for depth, goal in enumerate(self.goals))),
            ("Plan", self.plan),
            (FAILED, "\n".join(self.failed)),
            ("Printed", "\n".join(self.printed)),
            ("Heard over XMPP", "\n".join(self.heard)),
            (COME, "\n".join(self.added)),
            (GONE, "\n".join(self.removed)),
        )
        yield from (piece for piece in told if piece[1])


def thought_of(given: Any) -> Thought | None:
    """Read the thoughts in a row's :data:`FIELD`; missing or wrongly typed values are left empty.

    Returns:
        ``None`` if the value is not a mapping.
    """
    said = mapping(given)
    if said is None:
        return None

    def listed(name: str) -> tuple[str, ...]:
        return tuple(each for each in items(said.get(name)) or () if isinstance(each, str))

    return Thought(
        added=listed("added"),
        removed=listed("removed"),
        goals=tuple(goal for goal, _ in groupby(listed("goals"))),
        plan=text(said.get("plan")) or "",
        failed=listed("failed"),
        printed=listed("printed"),
        heard=listed("heard"),
    )
