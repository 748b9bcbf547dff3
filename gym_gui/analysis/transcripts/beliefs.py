"""All that a program believes at a moment, put together from how its beliefs changed with each decision."""

from __future__ import annotations

from collections.abc import Iterable

from gym_gui.analysis.transcripts.turn import Turn

MOST = 400
"""Beliefs that a text lists at most; a program that sees much believes much."""


class Beliefs:
    """Follows the decisions of one agent through an episode.

    Attributes:
        gaps: Whether something is missing: beliefs went that had never come, where decisions were not told.
    """

    def __init__(self) -> None:
        self._held: dict[str, None] = {}
        self.gaps = False

    def __len__(self) -> int:
        return len(self._held)

    def take(self, turns: Iterable[Turn]) -> Beliefs:
        """Add further decisions, in their order."""
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
        """A line for each, in the order of the alphabet; ``""`` where nothing is believed."""
        shown = sorted(self._held)[:MOST]
        rest = len(self._held) - len(shown)
        notes = [f"and {rest} more"] if rest else []
        notes += ["(some may be missing: not every decision was reported)"] if self.gaps else []
        return "\n".join([*shown, *notes])
