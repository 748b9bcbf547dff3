"""What a program with beliefs, goals and plans thought for a decision, as its row says it (``bdi``).

Whichever interpreter runs it: rows have the same names, and everything that shows them reads them here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from gym_gui.analysis.words.wording import count, whole
from gym_gui.core.record_fields import items, mapping, text

FIELD = "bdi"
"""Its name in a row."""
FAILED = "Goals that failed"
COME, GONE = "Believes now", "Believes no longer"
_INSIDE = " \N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK} "


@dataclass(frozen=True, slots=True)
class Thought:
    """One decision of a program.

    Attributes:
        added: Beliefs that it has got.
        removed: Beliefs that it has lost.
        goals: The goals that led to the action, the outermost first; of one that leads to itself again
            and again, as a program's loop does, it is there once.
        plan: The plan that acted, with its line.
        failed: Goals that failed and why.
        printed: What it printed.
        heard: What has come to it past the session (over XMPP), with the step at which it was sent.
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
        """Its goals in a line: ``solve``, then what it led to."""
        return _INSIDE.join(self.goals)

    @property
    def changes(self) -> str:
        """How its beliefs changed: ``3 beliefs added, 1 dropped``."""
        more, fewer = len(self.added), len(self.removed)
        if more and fewer:
            return f"{count(more, 'belief')} added, {whole(fewer)} dropped"
        if more or fewer:
            return f"{count(more or fewer, 'belief')} {'added' if more else 'dropped'}"
        return "beliefs as before"

    def pieces(self) -> Iterator[tuple[str, str]]:
        """The sections that describe the decision: headings and texts, in their order."""
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
    """What a row has under :data:`FIELD`; what is missing or of another type is left empty.

    Returns:
        ``None`` where there is nothing of the kind.
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
