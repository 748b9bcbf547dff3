"""Slots whose calls cost something, and episodes in which they are made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gym_gui.core.spending import NOTHING, Amount, Course

MARGIN = 1.25
"""Times what an episode has needed so far that the next one may need."""
GENEROUS, SHARE = 8.0, 16.0
"""Where there is plenty, an episode may take so many times what one has needed, up to such a part of the
rest: an episode that is cut off is paid for and has to be played again."""


@dataclass
class Payer:
    """A slot whose calls cost something.

    Attributes:
        accounts: Those that it is paid from.
        limit: What a person allows it in each episode; 0 for no limit.
        at_once: Requests that it has under way at the same time in one.
        need: The most that an episode has needed; ``None`` as long as none has been played.
    """

    accounts: Sequence[str]
    limit: Amount
    at_once: int
    need: Amount | None = None

    def margin(self) -> Amount:
        """What the next episode may need."""
        return self.limited((self.need or NOTHING) * MARGIN)

    def limited(self, amount: Amount) -> Amount:
        """Not more than the person allows."""
        tokens = min(amount.tokens, self.limit.tokens) if self.limit.tokens else amount.tokens
        return Amount(tokens, min(amount.usd, self.limit.usd) if self.limit.usd else amount.usd)


@dataclass
class Flight:
    """An episode that is being played.

    Attributes:
        allowances: What its slots may spend, which is put aside.
        courses: What they have spent so far.
    """

    allowances: Mapping[str, Amount]
    courses: dict[str, Course] = field(default_factory=dict[str, Course])

    def cut_off(self, slot: str, requests: int) -> Course:
        """What a slot has taken with requests that were under way; where they would have been the first, all
        that it had may be gone."""
        course = self.courses.get(slot, Course())
        return course.cut_off(requests) if course.request != NOTHING else Course(self.allowances[slot])
