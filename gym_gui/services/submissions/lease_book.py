"""The budgets of a run that is played in shards: how much each shard was given, on disk before it is sent.

What a shard has been given counts as spent until the shard has said that it has spent less, and has bound
itself to that: so all shards together spend at most the budgets, even if shards are killed, cut off or late.

Amounts count from the beginning of a shard's run. Tries of a shard that go on in one folder are one holder.
Where a try may begin without the latest record of the try before it, or beside it, each try is a holder of
its own: what is in the record that it begins with was spent by other holders, and counts for them.
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
from gym_gui.core.experiment.spending import NOTHING, Amount, Amounts, Room, amounts_of, plain_amounts
from gym_gui.core.formats import check_format
from gym_gui.core.record_fields import count, mapping
from mosaic_worker.plain_files import read_file, replace_file

NAME: Final = "leases.json"
FORMAT: Final = 1
LEASE_S: Final = 120.0
"""How long a shard plays on that hears nothing any more."""
_FIRST: Final = 0.5
"""Part of what is left for the shard that finds out what an episode needs."""
_AHEAD: Final = 2
"""What is left is given out to shards in so many rounds, at most."""
_MOST_BYTES: Final = 64 * 2**20
_ROUNDING: Final = 1e-9
_LEAST: Final = Amount(1, 1e-12)


@dataclass
class Holder:
    """A shard at a place, or one of its tries.

    Attributes:
        granted: All that it may have spent by its end; of one that has ended, what it has spent.
        base: Of that, what was in the record that it began with, and others have spent.
        gone: What it has spent or put aside, as far as it has said.
        number: Of its latest lease.
        is_live: Whether it is being played.
        claim: Where it stood when it was heard last.
    """

    granted: dict[str, Amount] = field(default_factory=dict[str, Amount])
    base: dict[str, Amount] = field(default_factory=dict[str, Amount])
    gone: dict[str, Amount] = field(default_factory=dict[str, Amount])
    number: int = 0
    is_live: bool = False
    claim: Claim | None = None

    @property
    def waits(self) -> bool:
        """Whether it plays nothing, and knows of all that it was given."""
        return self.claim is not None and self.claim.waits and self.claim.number == self.number

    @property
    def explores(self) -> bool:
        """Whether it is finding out what an episode needs."""
        return self.is_live and self.claim is not None and self.claim.next is None and not self.waits

    def own(self, account: str) -> Amount:
        """The most that it has spent itself."""
        return (self.granted.get(account, NOTHING) - self.base.get(account, NOTHING)).most(NOTHING)


class LeaseBook:
    """Who may spend how much of a run's budgets.

    Args:
        folder: The submission's.
        budgets: By account, what all shards together may spend; 0 of tokens or of dollars for no limit.
        at_once: How many shards are played at the same time.
        lease_s: Seconds for which a shard spends without hearing anything.

    Attributes:
        ended: Whether what is left carries nothing more of what there is to play.
        needed: What would have to be left then.
    """

    def __init__(self, folder: Path, budgets: Amounts, at_once: int, *, lease_s: float = LEASE_S) -> None:
        self.budgets, self.ended = dict(budgets), False
        self._folder, self._at_once, self._lease_s = folder, at_once, lease_s
        self._holders: dict[tuple[int, str, str], Holder] = {}
        self.needed: Amounts = {}
        self._needs: dict[str, dict[str, Amount]] = {}
        self._who, self._beat = os.urandom(4).hex(), 0
        self._saved = b""

    # -- what shards say -------------------------------------------------------------

    def hear(
        self,
        shard: int,
        place: str,
        said: str,
        *,
        is_live: bool,
        is_over: bool = True,
        holder: str = "",
        after: str = "",
    ) -> None:
        """A shard was looked at.

        Args:
            shard: Which.
            place: Where it is played.
            said: Its claim, as it stands in its file; empty where there is none yet.
            is_live: Whether it is being played.
            is_over: Of one that is not, whether it surely spends nothing more: what it has said is all then.
                Else it may be cut off, and spend all that it was given.
            holder: Which of the holders that the shard has there; empty: it has one.
            after: The holder whose record it began with, to the end of that, and who has ended.
        """
        key = shard, place, holder
        heard = self._holders.setdefault(key, Holder())
        for other, each in self._holders.items():
            if other[0] == shard and each is not heard:
                each.is_live, each.claim = False, None  # as far as the book knows, one holder plays it
        first, heard.is_live = heard.claim is None, is_live
        claim = Claim.from_line(said)
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
            # It has bound itself to that before it said so.
            heard.granted = {
                account: amount.least(claim.keeps.get(account, amount))
                for account, amount in heard.granted.items()
            }
        heard.granted = {
            account: heard.granted.get(account, NOTHING).most(heard.gone.get(account, NOTHING))
            for account in self.budgets
        }

    @staticmethod
    def _take_over(new: Holder, ended: Holder | None) -> None:
        """A holder that has been given nothing yet says what is in the record that it began with."""
        new.base = dict(new.gone)
        if ended is not None:
            ended.granted = {
                account: amount.least(new.base.get(account, amount))
                for account, amount in ended.granted.items()
            }

    def lose(self, place: str) -> None:
        """Nothing is heard of a place any more: what was given to its shards counts as spent."""
        for (_, where, _), holder in self._holders.items():
            if where == place:
                holder.is_live, holder.claim = False, None

    # -- what they are given ---------------------------------------------------------

    def share_out(self, *, more_to_come: bool) -> None:
        """Give what is left to those who need it, the earliest seeds first; on disk when this returns.

        Args:
            more_to_come: Whether shards that were lost are begun again, and may give something back.

        Raises:
            UsageError: It cannot be written.
        """
        asking = [(key, h) for key, h in sorted(self._holders.items()) if h.is_live and h.claim is not None]
        fair = {name: self._part(self.left(name), 1 / (_AHEAD * self._at_once)) for name in self.budgets}
        unheard = any(h.is_live and h.claim is None and h.number for h in self._holders.values())
        stuck = bool(asking) and not more_to_come and not unheard
        for _, holder in asking:
            assert holder.claim is not None
            if holder.claim.number < holder.number:
                stuck = False  # it has been given something that it does not know of yet
                continue
            given = not self.ended and self._give(holder, holder.claim, fair)
            stuck = stuck and holder.waits and not given
        if stuck and not self.ended:
            self.ended = True
            self.needed = next((h.claim.next for _, h in asking if h.claim and h.claim.next), self.needed)
        self.save()

    def lease(self, shard: int, place: str, holder: str = "") -> str:
        """The lease to send to a shard now, as a line; arguments are those of :meth:`hear`."""
        held = self._holders[shard, place, holder]
        self._beat += 1
        beat = f"{self._who}-{self._beat}"
        return Lease(held.number, held.granted, self._lease_s, self._needs, self.ended, beat).to_line()

    def left(self, account: str) -> Amount:
        """What no shard has been given of a budget; 0 where it has no limit."""
        budget, given = self.budgets[account], self.spent(account)
        return Amount(
            max(0, budget.tokens - given.tokens) if budget.tokens else 0,
            max(0.0, budget.usd - given.usd) if budget.usd else 0.0,
        )

    def remaining(self, account: str) -> Room:
        """What no shard has been given of a budget; infinite where nothing limits it."""
        budget, left = self.budgets[account], self.left(account)
        return Room(left.tokens if budget.tokens else math.inf, left.usd if budget.usd else math.inf)

    def spent(self, account: str) -> Amount:
        """The most that all shards have spent in an account."""
        return sum((holder.own(account) for holder in self._holders.values()), NOTHING)

    def lost(self, found: Amounts) -> dict[str, Amount]:
        """What may have been spent where nothing came back from.

        Args:
            found: What was spent by the books of what came back.
        """
        lost = {name: (self.spent(name) - found.get(name, NOTHING)).most(NOTHING) for name in self.budgets}
        return {
            account: amount for account, amount in lost.items() if amount.tokens or amount.usd > _ROUNDING
        }

    def _give(self, holder: Holder, claim: Claim, fair: Amounts) -> bool:
        """Give a shard more, if it needs it and there is so much; returns whether it was given something."""
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
        """Without what has no limit."""
        budget = self.budgets[account]
        return Amount(amount.tokens if budget.tokens else 0, amount.usd if budget.usd else 0.0)

    @staticmethod
    def _part(amount: Amount, part: float) -> Amount:
        return Amount(int(amount.tokens * part), amount.usd * part)

    # -- the file --------------------------------------------------------------------

    def save(self) -> None:
        """Write it, whole or not at all.

        Raises:
            UsageError: It cannot be written.
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
    def open(cls, folder: Path, *, lease_s: float = LEASE_S) -> LeaseBook | None:
        """The book of a submission; ``None`` where nothing limits what is spent.

        Raises:
            RunFormatError: It is damaged, or of a later version.
            UsageError: It cannot be read.
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
            book._take_up(data["holders"])
        except OSError as error:
            raise UsageError(f"{path} cannot be read: {error.strerror or error}") from None
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise RunFormatError(str(path), "is damaged. Submit the experiment anew") from None
        return book

    def _take_up(self, rows: Iterable[Mapping[str, Any]]) -> None:
        for row in rows:
            granted, base, gone = (amounts_of(row[name]) for name in ("granted", "base", "gone"))
            holder = Holder(granted, base, gone, int(row["number"]), row["live"] is True)
            self._holders[int(row["shard"]), str(row["place"]), str(row["holder"])] = holder
