"""What a run may spend, what is reserved, and what is spent: in one file for all processes that play it.

The file only grows, by a line for each reservation, each announced request and each settlement. It is locked
while a line is written. So it survives a writer that is killed, and processes that see the same file share
its budgets.
"""

from __future__ import annotations

import fcntl
import math
import os
from collections.abc import Callable, Collection, Generator, Iterable, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from gym_gui.core.errors import UsageError
from gym_gui.core.experiment.spending import NOTHING, Amount, Amounts, Room, amounts_of, plain_amounts
from gym_gui.core.record_fields import mapping, number
from mosaic_worker.plain_files import open_file

NAME = "budget.jsonl"
"""In the run folder."""

ROUNDING = 1e-9
"""US dollars by which sums may miss."""


@dataclass
class _Account:
    spent: Amount = NOTHING
    held: Amount = NOTHING


@dataclass
class _Ticket:
    held: dict[str, Amount] = field(default_factory=dict[str, Amount])
    settled: dict[str, Amount] = field(default_factory=dict[str, Amount])
    announcing: frozenset[str] = frozenset()
    announced: dict[str, Amount] = field(default_factory=dict[str, Amount])


class BudgetLedger:
    """Budgets that several processes share.

    Args:
        path: The ledger's file; made with the first line. ``None``: no other process writes it, and ``keep``
            is given each line that belongs in the file.
        budgets: By account, what may be spent in it; 0 for no limit. What was spent under other budgets
            counts.
        keep: Takes each line where there is no path.
    """

    def __init__(
        self, path: Path | None, budgets: Amounts, keep: Callable[[bytes], None] | None = None
    ) -> None:
        self._path, self._budgets, self._keep = path, budgets, keep
        self._limits: Amounts | None = None
        self._accounts: dict[str, _Account] = {}
        self._tickets: dict[str, _Ticket] = {}
        self._at = 0
        self.elapsed_s = 0.0
        with self._locked():
            pass

    def remaining(self, account: str) -> Room:
        """What is neither spent nor reserved in an account, as far as this process has heard."""
        budget, gone = self._budgets.get(account, NOTHING), self.gone(account)
        most = budget if self._limits is None else self._limits.get(account, NOTHING)
        return Room(
            most.tokens - gone.tokens if budget.tokens else math.inf,
            most.usd - gone.usd if budget.usd else math.inf,
        )

    def limit(self, amounts: Amounts) -> None:
        """Have only so much of each budget to be spent for now, from the beginning on."""
        self._limits = amounts

    def gone(self, account: str) -> Amount:
        """What has been spent in an account, or put aside."""
        known = self._account(account)
        return known.spent + known.held

    def spent(self, account: str) -> Amount:
        """What has been spent in an account."""
        return self._account(account).spent

    def reserve(self, ticket: str, amounts: Amounts, announcing: Iterable[str] = ()) -> bool:
        """Put so much aside, for a ticket that has nothing reserved yet.

        Args:
            ticket: Who asks; :meth:`settle` names it.
            amounts: The most that it may spend, by account.
            announcing: Slots that :meth:`announce` each request.

        Returns:
            Whether there is so much; if not, nothing is reserved.

        Raises:
            OSError: The file cannot be written.
        """
        with self._locked() as write:
            if not all(self._fits(account, amount) for account, amount in amounts.items()):
                return False
            row: dict[str, Any] = {"reserve": ticket, "amounts": plain_amounts(amounts)}
            write(row | {"announcing": slots} if (slots := sorted(announcing)) else row)
        return True

    def announce(self, ticket: str, slot: str, most: Amount) -> None:
        """A slot is about to make a request, which takes so much at most.

        It is written before this returns, but not forced onto the disk, which takes longer: it survives the
        end of every process, not that of the machine.

        Raises:
            OSError: The file cannot be written.
        """
        with self._locked(force=False) as write:
            write({"announce": ticket, "amounts": plain_amounts({slot: most})})

    def settle(self, ticket: str, amounts: Amounts, elapsed_s: float = 0.0) -> None:
        """A ticket has spent so much, and gives back the rest of what it had reserved.

        Args:
            ticket: Who; one without a reservation has spent it all the same.
            amounts: What it has spent at most, by account, since it was settled last.
            elapsed_s: How long the run has taken in all.

        Raises:
            OSError: The file cannot be written.
        """
        with self._locked() as write:
            write({"settle": ticket, "amounts": plain_amounts(amounts), "elapsed_s": round(elapsed_s, 3)})

    def reserved(self) -> dict[str, dict[str, Amount]]:
        """Tickets that were never settled, with what they reserved."""
        return {name: dict(ticket.held) for name, ticket in self._tickets.items() if ticket.held}

    def settled(self, ticket: str) -> dict[str, Amount]:
        """What a ticket has spent, by account, as it was settled."""
        known = self._tickets.get(ticket)
        return dict(known.settled) if known is not None else {}

    def announcing(self, ticket: str) -> Collection[str]:
        """Slots that announced each request since a ticket was reserved last."""
        known = self._tickets.get(ticket)
        return known.announcing if known is not None else ()

    def announced(self, ticket: str) -> dict[str, Amount]:
        """What all requests that were announced for a ticket took at most, by slot."""
        known = self._tickets.get(ticket)
        return dict(known.announced) if known is not None else {}

    # -- the file --------------------------------------------------------------------

    @contextmanager
    def _locked(self, *, force: bool = True) -> Generator[Any]:
        """Hear what others have written; what is given to the function that is yielded is added."""
        if self._path is None:
            yield self._apply_and_keep
            return
        with suppress(FileExistsError):
            open_file(self._path, "xb").close()
        with open_file(self._path, "r+b", buffering=0) as file:
            with suppress(OSError):  # a file system without locks: other writers are not seen
                fcntl.flock(file.fileno(), fcntl.LOCK_EX)  # let go when the file is closed
            self._hear(file)

            def write(row: Mapping[str, Any]) -> None:
                file.write(_line(row))
                if force:
                    os.fsync(file.fileno())
                self._hear(file)

            yield write

    def _apply_and_keep(self, row: Mapping[str, Any]) -> None:
        self._apply(row)
        if self._keep is not None:
            self._keep(_line(row))

    def _hear(self, file: Any) -> None:
        file.seek(self._at)
        data: bytes = file.read()
        whole = data.rfind(b"\n") + 1
        if whole < len(data):  # its writer was killed in the middle of a line
            file.truncate(self._at + whole)
        for line in data[:whole].splitlines():
            try:
                self._apply(mapping(orjson.loads(line)) or {})
            except ValueError:  # no JSON, or a negative amount
                raise UsageError(
                    f"{self._path} is damaged: {line[:60]!r}", fix="Repair or remove that line"
                ) from None
        self._at += whole

    def _apply(self, row: Mapping[str, Any]) -> None:
        amounts = amounts_of(row.get("amounts"))
        if "reserve" in row:
            ticket = self._tickets.setdefault(str(row["reserve"]), _Ticket())
            for account, amount in amounts.items():
                ticket.held[account] = ticket.held.get(account, NOTHING) + amount
                self._account(account).held += amount
            ticket.announcing = frozenset(map(str, row.get("announcing") or ()))
        elif "announce" in row:
            announced = self._tickets.setdefault(str(row["announce"]), _Ticket()).announced
            for slot, amount in amounts.items():
                announced[slot] = announced.get(slot, NOTHING) + amount
        elif "settle" in row:
            ticket = self._tickets.setdefault(str(row["settle"]), _Ticket())
            for account, amount in ticket.held.items():
                self._account(account).held -= amount
            ticket.held.clear()
            for account, amount in amounts.items():
                ticket.settled[account] = ticket.settled.get(account, NOTHING) + amount
                self._account(account).spent += amount
            self.elapsed_s = max(self.elapsed_s, number(row.get("elapsed_s")) or 0.0)

    def _account(self, name: str) -> _Account:
        return self._accounts.setdefault(name, _Account())

    def _fits(self, account: str, amount: Amount) -> bool:
        room = self.remaining(account)
        return amount.tokens <= room.tokens and amount.usd <= room.usd + ROUNDING


def _line(row: Mapping[str, Any]) -> bytes:
    return orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE)
