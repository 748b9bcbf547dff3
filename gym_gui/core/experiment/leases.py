"""Budgets of the shards of one run: the claim of a shard to its coordinator, and the lease that it receives.

Each is one line of JSON; the two files lie beside each other. Amounts count from the beginning of a shard's
run, so that it does no harm if a line is read twice, late or never.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gym_gui.core.experiment.spending import NOTHING, Amount, Amounts, amounts_of, plain_amounts
from gym_gui.core.record_fields import count, mapping, number, text

Needs = Mapping[str, Mapping[str, Amount]]
"""Largest amount that an episode has needed so far, by operator and slot."""


@dataclass(frozen=True)
class Lease:
    """Amounts that a shard may spend until it receives another lease.

    Attributes:
        number: Number among this shard's leases; a later lease replaces the earlier ones.
        amounts: By account, the total that the shard may have spent by the end of this lease.
        for_s: Seconds for which the lease is valid after the shard has read it.
        needs: Needs of an episode that other shards have measured.
        ended: Whether the coordinator grants nothing more to any shard.
        beat: Text that changes each time the lease is renewed.
    """

    number: int
    amounts: Amounts
    for_s: float
    needs: Needs = field(default_factory=dict[str, Mapping[str, Amount]])
    ended: bool = False
    beat: str = ""

    def to_line(self) -> str:
        """Return the lease as a line of JSON."""
        return _line(
            number=self.number,
            amounts=plain_amounts(self.amounts),
            for_s=self.for_s,
            needs=_plain_needs(self.needs),
            ended=self.ended,
            beat=self.beat,
        )

    @classmethod
    def from_line(cls, line: str) -> Lease | None:
        """Read a lease; ``None`` if the line is not a lease, is incomplete, or has a negative amount."""
        row = _row(line)
        number_, for_s = count(row.get("number")), number(row.get("for_s"))
        if number_ is None or for_s is None:
            return None
        try:
            return cls(
                number_,
                amounts_of(row.get("amounts")),
                for_s,
                _needs(row.get("needs")),
                row.get("ended") is True,
                text(row.get("beat")) or "",
            )
        except ValueError:
            return None


@dataclass(frozen=True)
class Claim:
    """A shard's report to its coordinator on what it has spent and still needs.

    Attributes:
        number: Number of the lease that the shard has seen last; 0 for none.
        gone: By account, the amount that the shard has spent or reserved; never less than it really spent.
        keeps: Total that the shard will spend under this lease; other shards may get the rest of the lease.
        next: Amount that must be left before the shard can begin its next episode; ``None``: unknown.
        rest: Amount that the remaining episodes of the shard may need.
        needs: Needs of an episode that the shard has measured.
        waits: Whether the shard plays nothing until it receives more.
        ended: Whether the shard has ended because it did not receive more.
    """

    number: int
    gone: Amounts
    keeps: Amounts
    next: Amounts | None
    rest: Amounts
    needs: Needs = field(default_factory=dict[str, Mapping[str, Amount]])
    waits: bool = False
    ended: bool = False

    def to_line(self) -> str:
        """Return the claim as a line of JSON."""
        return _line(
            number=self.number,
            gone=plain_amounts(self.gone),
            keeps=plain_amounts(self.keeps),
            next=None if self.next is None else plain_amounts(self.next),
            rest=plain_amounts(self.rest),
            needs=_plain_needs(self.needs),
            waits=self.waits,
            ended=self.ended,
        )

    @classmethod
    def from_line(cls, line: str) -> Claim | None:
        """Read a claim; ``None`` if the line is not a claim, is incomplete, or has a negative amount."""
        row = _row(line)
        number_ = count(row.get("number"))
        if number_ is None or mapping(row.get("gone")) is None:
            return None
        try:
            return cls(
                number_,
                amounts_of(row.get("gone")),
                amounts_of(row.get("keeps")),
                None if row.get("next") is None else amounts_of(row["next"]),
                amounts_of(row.get("rest")),
                _needs(row.get("needs")),
                row.get("waits") is True,
                row.get("ended") is True,
            )
        except ValueError:
            return None


def larger_needs(one: Needs, other: Needs) -> dict[str, dict[str, Amount]]:
    """Return the larger of two measured needs for each operator and slot."""
    found = {operator: dict(slots) for operator, slots in one.items()}
    for operator, slots in other.items():
        known = found.setdefault(operator, {})
        for slot, amount in slots.items():
            known[slot] = known.get(slot, NOTHING).most(amount)
    return found


def _line(**fields: Any) -> str:
    return json.dumps(fields, separators=(",", ":"))


def _row(line: str) -> Mapping[str, Any]:
    try:
        return mapping(json.loads(line)) or {}
    except (ValueError, RecursionError):
        return {}


def _plain_needs(needs: Needs) -> dict[str, Any]:
    return {operator: plain_amounts(slots) for operator, slots in needs.items()}


def _needs(written: object) -> dict[str, dict[str, Amount]]:
    return {operator: amounts_of(slots) for operator, slots in (mapping(written) or {}).items()}
