"""What calls to models take: tokens and money, as rows of ``calls.jsonl`` say it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from gym_gui.core.record_fields import count, mapping, number

BUDGETS_OF_SLOTS: Final = ("money_budget_usd", "token_budget")
"""Keys of a slot that limit what it may spend."""


class Amount(Struct, frozen=True):
    """Tokens and US dollars.

    Attributes:
        tokens: In and out together.
        usd: As far as prices are known.
    """

    tokens: int = 0
    usd: float = 0.0

    def __add__(self, other: Amount) -> Amount:
        return Amount(self.tokens + other.tokens, self.usd + other.usd)

    def __sub__(self, other: Amount) -> Amount:
        return Amount(self.tokens - other.tokens, self.usd - other.usd)

    def __mul__(self, factor: float) -> Amount:
        return Amount(round(self.tokens * factor), self.usd * factor)

    def most(self, other: Amount) -> Amount:
        """The larger of each."""
        return Amount(max(self.tokens, other.tokens), max(self.usd, other.usd))

    def least(self, other: Amount) -> Amount:
        """The smaller of each."""
        return Amount(min(self.tokens, other.tokens), min(self.usd, other.usd))


class Room(NamedTuple):
    """What is left in an account; infinite where nothing limits it.

    Attributes:
        tokens: In and out together.
        usd: US dollars.
    """

    tokens: float
    usd: float


NOTHING = Amount()
_ROUNDING: Final = 1e-9
"""What sums of dollars may be off by."""
Amounts: TypeAlias = Mapping[str, Amount]
"""By account."""


def plain_amounts(amounts: Amounts) -> dict[str, Any]:
    """Amounts as they are written."""
    return {name: {"tokens": a.tokens, "usd": a.usd} for name, a in amounts.items()}


def amounts_of(value: object) -> dict[str, Amount]:
    """Amounts as they were written.

    Raises:
        ValueError: One is negative: others would have more to spend by it.
    """
    found: dict[str, Amount] = {}
    for name, written in (mapping(value) or {}).items():
        row = mapping(written) or {}
        amount = Amount(int(number(row.get("tokens")) or 0), number(row.get("usd")) or 0.0)
        if amount.tokens < 0 or amount.usd < -_ROUNDING:
            raise ValueError(f"{name} is negative")
        found[name] = amount.most(NOTHING)
    return found


class Taking(Struct, frozen=True):
    """A slot that has changed hands in the midst of an episode.

    Attributes:
        slot: Which.
        index: Of the episode.
        allowance: What its new player may take in it; ``None``: nothing limits that.
    """

    slot: str
    index: int
    allowance: Amount | None


def paid(call: Mapping[str, Any]) -> Amount:
    """What a call has taken at most: what was counted, and what may have been paid without an answer."""
    if call.get("replayed") is True or call.get("kind") == "dry":
        return NOTHING
    tokens = mapping(call.get("tokens")) or {}
    counted = (count(tokens.get("input")) or 0) + (count(tokens.get("output")) or 0)
    return Amount(counted, number(call.get("usd")) or 0.0) + _amount(call.get("unsure"))


def needed(call: Mapping[str, Any]) -> Amount:
    """Most that one request of a call may take; a budget must have as much left before it is sent."""
    return _amount(call.get("most"))


def accounted(call: Mapping[str, Any]) -> Amount:
    """What was announced for a call, and is not open any more: all that its requests could take."""
    if call.get("replayed") is True:
        return NOTHING
    return needed(call) * (count(call.get("announced")) or 0)


def _amount(value: object) -> Amount:
    written = mapping(value) or {}
    return Amount(count(written.get("tokens")) or 0, number(written.get("usd")) or 0.0)


class SlotSpending(Struct, frozen=True):
    """What a slot has taken in an episode so far.

    Attributes:
        paid: What its calls have taken at most.
        request: The most that one request of it may have taken.
        peak: What must have been left for it to come so far.
        announced: The most that all requests take which it has announced.
        accounted: What of that calls account for, whatever they took.
        announces: Whether it announces each request before it is sent.
    """

    paid: Amount = NOTHING
    request: Amount = NOTHING
    peak: Amount = NOTHING
    announced: Amount = NOTHING
    accounted: Amount = NOTHING
    announces: bool = False

    @property
    def open(self) -> Amount:
        """The most that requests take which were announced, and of which no call has told since."""
        return (self.announced - self.accounted).most(NOTHING)

    def with_request(self, most: Amount) -> SlotSpending:
        """With a request more that is about to be sent."""
        return replace(self, announced=self.announced + most, announces=True)

    def with_call(self, call: Mapping[str, Any]) -> SlotSpending:
        """With one call more."""
        spent, most = self.paid + paid(call), needed(call)
        return replace(
            self,
            paid=spent,
            request=self.request.most(most),
            peak=self.peak.most(self.paid + most).most(spent),
            accounted=self.accounted + accounted(call),
        )

    def cut_off(self, requests: int = 1) -> SlotSpending:
        """It was cut off: what was announced may be paid for; without announcements, so many requests more
        may have been under way."""
        unseen = self.open if self.announces else self.request * requests
        return replace(self, paid=self.paid + unseen, accounted=self.announced)
