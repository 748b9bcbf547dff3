"""Ledger of how much of a run's budgets each shard may spend, saved before the shards get their leases.

A granted amount counts as spent until the shard has reported lower spending and has accepted a lower limit.
So all shards together spend at most the budgets, even if shards are killed, disconnected or late.

A *lease* tells a shard how much it may spend. A *claim* is the shard's report of what it has spent and needs.

Amounts count from the beginning of a shard's run. Successive attempts in one folder are one holder. If an
attempt may begin without the latest record of the previous attempt, or in parallel with it, each attempt is a
separate holder. Amounts in the record with which such an attempt begins count for their original holders.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from gym_gui.core.errors import RunFormatError, UsageError
from gym_gui.core.experiment.leases import Claim, Lease, larger_needs
from gym_gui.core.experiment.spending import (
    NOTHING,
    Amount,
    Amounts,
    RemainingBudget,
    amounts_of,
    plain_amounts,
)
from gym_gui.core.formats import check_format
from gym_gui.core.record_fields import count, mapping
from mosaic_worker.plain_files import read_file, replace_file

NAME: Final = "leases.json"
FORMAT: Final = 1
LEASE_S: Final = 120.0
"""Seconds that a shard continues to play without a renewed lease."""
_FIRST: Final = 0.5
"""Share of the remaining budget that is granted to a shard to measure the cost of an episode."""
_AHEAD: Final = 2
"""Divisor of a grant: remaining budget / (divisor * parallel shards), but at least one episode's needs."""
_MOST_BYTES: Final = 64 * 2**20
_ROUNDING: Final = 1e-9
_LEAST: Final = Amount(1, 1e-12)


@dataclass
class LeaseHolder:
    """Holder of a budget lease: a shard on a host, or one attempt to play the shard.

    Attributes:
        granted: Largest amount that the holder may spend; after its end, the amount that it has spent.
        base: Part of ``granted`` that was in the record at the holder's start and was spent by others.
        gone: Amount that the holder has reported as spent or reserved.
        number: Number of the latest lease.
        is_live: Whether the holder is being played.
        claim: The holder's latest claim; ``None`` if there is none.
    """

    granted: dict[str, Amount] = field(default_factory=dict[str, Amount])
    base: dict[str, Amount] = field(default_factory=dict[str, Amount])
    gone: dict[str, Amount] = field(default_factory=dict[str, Amount])
    number: int = 0
    is_live: bool = False
    claim: Claim | None = None

    @property
    def waits(self) -> bool:
        """Whether the holder plays no episode and has received its latest lease."""
        return self.claim is not None and self.claim.waits and self.claim.number == self.number

    @property
    def explores(self) -> bool:
        """Whether the holder is playing an episode to measure what it costs."""
        return self.is_live and self.claim is not None and self.claim.next is None and not self.waits

    def own_spending(self, account: str) -> Amount:
        """Return the largest amount that the holder itself can have spent in an account."""
        return (self.granted.get(account, NOTHING) - self.base.get(account, NOTHING)).most(NOTHING)


class BudgetLeases:
    """Ledger that decides how much of a run's budgets each shard may spend.

    Args:
        folder: Folder of the submission.
        budgets: By account, the limit for all shards together; 0 tokens or 0 dollars for no limit.
        at_once: Number of shards that are played at the same time.
        lease_s: Seconds for which a shard may continue to spend without a renewed lease.

    Attributes:
        ended: Whether the remaining budgets are too small for the next episodes.
        needed: Amounts that the next episode would need in that case.
    """

    def __init__(self, folder: Path, budgets: Amounts, at_once: int, *, lease_s: float = LEASE_S) -> None:
        self.budgets, self.ended = dict(budgets), False
        self._folder, self._at_once, self._lease_s = folder, at_once, lease_s
        self._holders: dict[tuple[int, str, str], LeaseHolder] = {}
        self.needed: Amounts = {}
        self._needs: dict[str, dict[str, Amount]] = {}
        self._who, self._beat = os.urandom(4).hex(), 0
        self._saved = b""

    # -- claims of shards -------------------------------------------------------------

    def record_claim(
        self,
        shard: int,
        place: str,
        claim_line: str,
        *,
        is_live: bool,
        is_over: bool = True,
        holder: str = "",
        after: str = "",
    ) -> None:
        """Record the latest claim of a shard.

        Args:
            shard: Number of the shard.
            place: Host that plays the shard.
            said: Claim of the shard as a line of its file; empty if there is no claim yet.
            is_live: Whether the shard is being played.
            is_over: For a shard that is not live, whether it certainly spends nothing more, so that its claim
                is final. If not, it may be disconnected and spend its whole grant.
            holder: Name of the holder on the host; empty if the shard has only one holder there.
            after: Holder that has ended and whose complete record this holder began with.
        """
        key = shard, place, holder
        heard = self._holders.setdefault(key, LeaseHolder())
        for other, each in self._holders.items():
            if other[0] == shard and each is not heard:
                each.is_live, each.claim = False, None  # the ledger assumes one holder per shard at a time
        first, heard.is_live = heard.claim is None, is_live
        claim = Claim.from_line(claim_line)
        if claim is None:
            heard.claim = None
            return
        heard.claim, heard.gone = claim, dict(claim.gone)
        self._needs = larger_needs(self._needs, claim.needs)
        if holder and first and not heard.number and not claim.number:
            self._take_over(heard, self._holders.get((shard, place, after)) if after else None)
        if not is_live and is_over:
            heard.granted = dict(claim.gone)
        elif claim.number == heard.number:
            # The holder limited itself to that amount before it wrote the claim.
            heard.granted = {
                account: amount.least(claim.keeps.get(account, amount))
                for account, amount in heard.granted.items()
            }
        heard.granted = {
            account: heard.granted.get(account, NOTHING).most(heard.gone.get(account, NOTHING))
            for account in self.budgets
        }

    @staticmethod
    def _take_over(new: LeaseHolder, ended: LeaseHolder | None) -> None:
        """Set a new holder's base to the amounts in the record with which the holder begins."""
        new.base = dict(new.gone)
        if ended is not None:
            ended.granted = {
                account: amount.least(new.base.get(account, amount))
                for account, amount in ended.granted.items()
            }

    def charge_lost_host(self, place: str) -> None:
        """Count everything granted to a host's shards as spent, because the host no longer answers."""
        for (_, where, _), holder in self._holders.items():
            if where == place:
                holder.is_live, holder.claim = False, None

    # -- leases for shards ------------------------------------------------------------

    def grant_budgets(self, *, more_to_come: bool) -> None:
        """Grant remaining budgets to shards that need them, earliest seeds first, and save the ledger.

        Args:
            more_to_come: Whether lost shards will be begun again and may return some of their amounts.

        Raises:
            UsageError: The ledger cannot be written.
        """
        asking = [(key, h) for key, h in sorted(self._holders.items()) if h.is_live and h.claim is not None]
        fair = {name: self._part(self.left(name), 1 / (_AHEAD * self._at_once)) for name in self.budgets}
        unheard = any(h.is_live and h.claim is None and h.number for h in self._holders.values())
        stuck = bool(asking) and not more_to_come and not unheard
        for _, holder in asking:
            assert holder.claim is not None
            if holder.claim.number < holder.number:
                stuck = False  # the holder has not received its latest lease yet
                continue
            given = not self.ended and self._raise_grant(holder, holder.claim, fair)
            stuck = stuck and holder.waits and not given
        if stuck and not self.ended:
            self.ended = True
            self.needed = next((h.claim.next for _, h in asking if h.claim and h.claim.next), self.needed)
        self.save()

    def lease(self, shard: int, place: str, holder: str = "") -> str:
        """Return the lease of a shard as a line to send. The arguments are those of :meth:`record_claim`."""
        held = self._holders[shard, place, holder]
        self._beat += 1
        beat = f"{self._who}-{self._beat}"
        return Lease(held.number, held.granted, self._lease_s, self._needs, self.ended, beat).to_line()

    def left(self, account: str) -> Amount:
        """Return the remaining budget of an account after all grants; 0 if it has no limit."""
        budget, given = self.budgets[account], self.spent(account)
        return Amount(
            max(0, budget.tokens - given.tokens) if budget.tokens else 0,
            max(0.0, budget.usd - given.usd) if budget.usd else 0.0,
        )

    def remaining(self, account: str) -> RemainingBudget:
        """Return the remaining budget of an account after all grants; infinite if there is no limit."""
        budget, left = self.budgets[account], self.left(account)
        return RemainingBudget(
            left.tokens if budget.tokens else math.inf, left.usd if budget.usd else math.inf
        )

    def spent(self, account: str) -> Amount:
        """Return the largest amount that all shards together can have spent in an account."""
        return sum((holder.own_spending(account) for holder in self._holders.values()), NOTHING)

    def uncollected_spending(self, found: Amounts) -> dict[str, Amount]:
        """Return the amounts by account that shards may have spent whose results were never collected.

        Args:
            found: Amounts spent according to the collected results.
        """
        lost = {name: (self.spent(name) - found.get(name, NOTHING)).most(NOTHING) for name in self.budgets}
        return {
            account: amount for account, amount in lost.items() if amount.tokens or amount.usd > _ROUNDING
        }

    def _raise_grant(self, holder: LeaseHolder, claim: Claim, fair: Amounts) -> bool:
        """Raise a holder's grant if it needs more and enough budget remains; return whether it was raised."""
        left = {account: self.left(account) for account in self.budgets}
        if claim.next == {}:
            return False
        if claim.next is None:
            if not holder.waits or any(each.explores for each in self._holders.values()):
                return False
            wanted = {account: self._part(amount, _FIRST) for account, amount in left.items()}
            least = dict.fromkeys(wanted, _LEAST)
        else:
            wanted = {
                account: claim.rest.get(account, NOTHING).least(fair[account]).most(amount)
                for account, amount in claim.next.items()
            }
            least = claim.next
            if not holder.waits and all(
                self._covers(name, holder.granted[name] - holder.gone.get(name, NOTHING), amount * 0.5)
                for name, amount in wanted.items()
            ):
                return False
        given: dict[str, Amount] = {}
        for account in wanted:
            gone = holder.gone.get(account, NOTHING)
            had = holder.granted[account]
            most = self._limited(account, had + left[account] - gone)
            if not self._covers(account, most, least.get(account, NOTHING)):
                return False
            given[account] = had.most(gone + self._limited(account, wanted[account]).least(most))
        if holder.number and all(holder.granted[account] == amount for account, amount in given.items()):
            return False
        holder.granted |= given
        holder.number += 1
        return True

    def _covers(self, account: str, amount: Amount, needed: Amount) -> bool:
        budget = self.budgets[account]
        enough = not budget.tokens or amount.tokens >= needed.tokens
        return enough and (not budget.usd or amount.usd >= needed.usd - _ROUNDING)

    def _limited(self, account: str, amount: Amount) -> Amount:
        """Return an amount with 0 for units that have no limit."""
        budget = self.budgets[account]
        return Amount(amount.tokens if budget.tokens else 0, amount.usd if budget.usd else 0.0)

    @staticmethod
    def _part(amount: Amount, part: float) -> Amount:
        return Amount(int(amount.tokens * part), amount.usd * part)

    # -- the file --------------------------------------------------------------------

    def save(self) -> None:
        """Write the ledger to disk atomically.

        Raises:
            UsageError: The file cannot be written.
        """
        data = {
            "format": FORMAT,
            "budgets": plain_amounts(self.budgets),
            "at_once": self._at_once,
            "ended": self.ended,
            "needed": plain_amounts(self.needed),
            "needs": {operator: plain_amounts(slots) for operator, slots in self._needs.items()},
            "holders": [
                {
                    "shard": shard,
                    "place": place,
                    "holder": name,
                    "number": holder.number,
                    "granted": plain_amounts(holder.granted),
                    "base": plain_amounts(holder.base),
                    "gone": plain_amounts(holder.gone),
                    "live": holder.is_live,
                }
                for (shard, place, name), holder in sorted(self._holders.items())
            ],
        }
        text = (json.dumps(data, indent=1) + "\n").encode()
        if text == self._saved:
            return
        path = self._folder / NAME
        try:
            replace_file(path, text, mode=0o600)
        except OSError as error:
            raise UsageError(f"{path} cannot be written: {error.strerror}") from error
        self._saved = text

    @classmethod
    def open(cls, folder: Path, *, lease_s: float = LEASE_S) -> BudgetLeases | None:
        """Return the ledger of a submission, or ``None`` if the submission has no budgets.

        Raises:
            RunFormatError: The ledger is damaged or has a later format.
            UsageError: The ledger cannot be read.
        """
        path = folder / NAME
        if not path.exists():
            return None
        try:
            data: Any = json.loads(read_file(path, limit=_MOST_BYTES))
            check_format(str(path), data.get("format"), FORMAT)
            book = cls(folder, amounts_of(data["budgets"]), count(data["at_once"]) or 1, lease_s=lease_s)
            book.ended, book.needed = data["ended"] is True, amounts_of(data["needed"])
            book._needs = {name: amounts_of(slots) for name, slots in (mapping(data["needs"]) or {}).items()}
            book._restore(data["holders"])
        except OSError as error:
            raise UsageError(f"{path} cannot be read: {error.strerror or error}") from None
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise RunFormatError(str(path), "is damaged. Submit the experiment again") from None
        return book

    def _restore(self, rows: Iterable[Mapping[str, Any]]) -> None:
        for row in rows:
            granted, base, gone = (amounts_of(row[name]) for name in ("granted", "base", "gone"))
            holder = LeaseHolder(granted, base, gone, int(row["number"]), row["live"] is True)
            self._holders[int(row["shard"]), str(row["place"]), str(row["holder"])] = holder
