"""Tokens and money that calls to models cost, from the rows of ``calls.jsonl``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from gym_gui.core.record_fields import count, mapping, number

BUDGETS_OF_SLOTS: Final = ("money_budget_usd", "token_budget")
"""Keys of a slot that limit the slot's spending."""


class Amount(Struct, frozen=True):
    """An amount of tokens and US dollars.

    Attributes:
        tokens: Input and output tokens together.
        usd: US dollars, as far as prices are known.
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
        """Return the larger tokens and the larger dollars of the two amounts."""
        return Amount(max(self.tokens, other.tokens), max(self.usd, other.usd))

    def least(self, other: Amount) -> Amount:
        """Return the smaller tokens and the smaller dollars of the two amounts."""
        return Amount(min(self.tokens, other.tokens), min(self.usd, other.usd))


class RemainingBudget(NamedTuple):
    """Remaining budget of an account; infinite if it has no limit.

    Attributes:
        tokens: Input and output tokens together.
        usd: US dollars.
    """

    tokens: float
    usd: float


NOTHING = Amount()
_ROUNDING: Final = 1e-9
"""Largest rounding error of a sum of dollars."""
Amounts: TypeAlias = Mapping[str, Amount]
"""Amounts by account."""


def plain_amounts(amounts: Amounts) -> dict[str, Any]:
    """Return amounts as plain data."""
    return {name: {"tokens": a.tokens, "usd": a.usd} for name, a in amounts.items()}


def amounts_of(value: object) -> dict[str, Amount]:
    """Read amounts from plain data.

    Raises:
        ValueError: An amount is negative, so that others would have more to spend.
    """
    found: dict[str, Amount] = {}
    for name, written in (mapping(value) or {}).items():
        row = mapping(written) or {}
        amount = Amount(int(number(row.get("tokens")) or 0), number(row.get("usd")) or 0.0)
        if amount.tokens < 0 or amount.usd < -_ROUNDING:
            raise ValueError(f"{name} is negative")
        found[name] = amount.most(NOTHING)
    return found


class Takeover(Struct, frozen=True):
    """A slot whose player has changed during an episode.

    Attributes:
        slot: The slot.
        index: Index of the episode.
        allowance: Amount that the new player may spend in the episode; ``None``: no limit.
    """

    slot: str
    index: int
    allowance: Amount | None


def paid(call: Mapping[str, Any]) -> Amount:
    """Return the most that a call may have cost: its counted cost, and requests without an answer."""
    if call.get("replayed") is True or call.get("kind") == "dry":
        return NOTHING
    tokens = mapping(call.get("tokens")) or {}
    counted = (count(tokens.get("input")) or 0) + (count(tokens.get("output")) or 0)
    return Amount(counted, number(call.get("usd")) or 0.0) + _amount(call.get("unsure"))


def needed(call: Mapping[str, Any]) -> Amount:
    """Return the largest possible cost of one request of a call. A request is sent only if its budget has
    this left."""
    return _amount(call.get("most"))


def accounted(call: Mapping[str, Any]) -> Amount:
    """Return the announced cost of all requests of a call that has ended."""
    if call.get("replayed") is True:
        return NOTHING
    return needed(call) * (count(call.get("announced")) or 0)


def _amount(value: object) -> Amount:
    written = mapping(value) or {}
    return Amount(count(written.get("tokens")) or 0, number(written.get("usd")) or 0.0)


class SlotSpending(Struct, frozen=True):
    """Spending of a slot in an episode so far.

    Attributes:
        paid: Largest amount that its calls may have cost.
        request: Largest cost of one of its requests so far.
        peak: Amount that the budget must have had for the slot to come this far.
        announced: Sum of the largest costs of all announced requests.
        accounted: Part of ``announced`` whose calls have ended, whatever they cost.
        announces: Whether the slot announces each request before it is sent.
    """

    paid: Amount = NOTHING
    request: Amount = NOTHING
    peak: Amount = NOTHING
    announced: Amount = NOTHING
    accounted: Amount = NOTHING
    announces: bool = False

    @property
    def open(self) -> Amount:
        """Largest cost of the announced requests whose calls have not ended yet."""
        return (self.announced - self.accounted).most(NOTHING)

    def with_request(self, most: Amount) -> SlotSpending:
        """Return the spending with another request that is about to be sent."""
        return replace(self, announced=self.announced + most, announces=True)

    def with_call(self, call: Mapping[str, Any]) -> SlotSpending:
        """Return the spending with another call."""
        spent, most = self.paid + paid(call), needed(call)
        return replace(
            self,
            paid=spent,
            request=self.request.most(most),
            peak=self.peak.most(self.paid + most).most(spent),
            accounted=self.accounted + accounted(call),
        )

    def cut_off(self, requests: int = 1) -> SlotSpending:
        """Return the spending after the slot was cut off: announced requests may be paid for.

        If the slot does not announce its requests, ``requests`` further requests of the largest cost count
        as paid.
        """
        unseen = self.open if self.announces else self.request * requests
        return replace(self, paid=self.paid + unseen, accounted=self.announced)
