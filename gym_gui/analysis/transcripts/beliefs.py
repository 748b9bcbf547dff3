"""Collects the current beliefs of a BDI program from the changes at each decision."""

from __future__ import annotations

from collections.abc import Iterable

from gym_gui.analysis.transcripts.turn import Turn

MOST = 400
"""Largest number of beliefs that are shown."""


class Beliefs:
    """Current beliefs of one agent, computed from its decisions in an episode.

    Attributes:
        gaps: Whether beliefs were removed that were never added, because some decisions were not recorded.
    """

    def __init__(self) -> None:
        self._held: dict[str, None] = {}
        self.gaps = False

    def __len__(self) -> int:
        return len(self._held)

    def take(self, turns: Iterable[Turn]) -> Beliefs:
        """Apply the changes of further decisions, in order, and return this object."""
        for turn in turns:
            if turn.thought is None:
                continue
            for gone in turn.thought.removed:
                self.gaps |= gone not in self._held
                self._held.pop(gone, None)
            self._held.update(dict.fromkeys(turn.thought.added))
        return self

    @property
    def words(self) -> str:
        """One line per belief, in alphabetical order; ``""`` without beliefs."""
        shown = sorted(self._held)[:MOST]
        rest = len(self._held) - len(shown)
        notes = [f"and {rest} more"] if rest else []
        notes += ["(some may be missing, because some decisions were not recorded)"] if self.gaps else []
        return "\n".join([*shown, *notes])
