"""Ledger of a run's budgets, reservations and spending, in one file for all processes that play the run.

The file only grows, by one line per reservation, announced request and settlement. It is locked while a line
is written. So it survives a killed writer, and all processes with the same file share its budgets.
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
from gym_gui.core.experiment.spending import (
    NOTHING,
    Amount,
    Amounts,
    RemainingBudget,
    amounts_of,
    plain_amounts,
)
from gym_gui.core.record_fields import mapping, number
from mosaic_worker.plain_files import open_file

NAME = "budget.jsonl"
"""Name of the file in the run folder."""

ROUNDING = 1e-9
"""Tolerance for rounding errors of sums, in US dollars."""


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
        path: File of the ledger, created with the first line. ``None``: no other process writes it, and
            ``keep`` gets each line that belongs in the file.
        budgets: By account, the limit of spending; 0 for no limit. Amounts that were spent under other
            budgets count too.
        keep: Called with each line if there is no path.
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

    def remaining(self, account: str) -> RemainingBudget:
        """Return the amount of an account that is neither spent nor reserved, as far as known."""
        budget, gone = self._budgets.get(account, NOTHING), self.spent_and_reserved(account)
        most = budget if self._limits is None else self._limits.get(account, NOTHING)
        return RemainingBudget(
            most.tokens - gone.tokens if budget.tokens else math.inf,
            most.usd - gone.usd if budget.usd else math.inf,
        )

    def limit(self, amounts: Amounts) -> None:
        """Limit the total spending to amounts below the budgets, until the next call."""
        self._limits = amounts

    def spent_and_reserved(self, account: str) -> Amount:
        """Return the sum of what has been spent and reserved in an account."""
        known = self._account(account)
        return known.spent + known.held

    def spent(self, account: str) -> Amount:
        """Return what has been spent in an account."""
        return self._account(account).spent

    def reserve(self, ticket: str, amounts: Amounts, announcing: Iterable[str] = ()) -> bool:
        """Reserve amounts under a name (the ticket) that has no reservation yet.

        Args:
            ticket: Name of the reservation, which :meth:`settle` refers to.
            amounts: The most that it may spend, by account.
            announcing: Slots that call :meth:`announce` for each request.

        Returns:
            Whether enough is left; if not, nothing is reserved.

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
        """Record the largest cost of a request that a slot is about to make.

        The line is written before this returns, but not flushed to the disk, which takes longer. It survives
        the end of every process but not a crash of the machine.

        Raises:
            OSError: The file cannot be written.
        """
        with self._locked(force=False) as write:
            write({"announce": ticket, "amounts": plain_amounts({slot: most})})

    def settle(self, ticket: str, amounts: Amounts, elapsed_s: float = 0.0) -> None:
        """Record the spending under a reservation's ticket, and free the rest of the reservation.

        Args:
            ticket: Name of the ticket. The spending of a ticket without a reservation counts too.
            amounts: The most that it has spent since its last settlement, by account.
            elapsed_s: Total duration of the run so far, in seconds.

        Raises:
            OSError: The file cannot be written.
        """
        with self._locked() as write:
            write({"settle": ticket, "amounts": plain_amounts(amounts), "elapsed_s": round(elapsed_s, 3)})

    def reserved(self) -> dict[str, dict[str, Amount]]:
        """Return the reservations of tickets that were never settled."""
        return {name: dict(ticket.held) for name, ticket in self._tickets.items() if ticket.held}

    def settled(self, ticket: str) -> dict[str, Amount]:
        """Return the spending of a ticket according to its settlements, by account."""
        known = self._tickets.get(ticket)
        return dict(known.settled) if known is not None else {}

    def announcing(self, ticket: str) -> Collection[str]:
        """Return the slots that announce each request since the ticket's latest reservation."""
        known = self._tickets.get(ticket)
        return known.announcing if known is not None else ()

    def announced(self, ticket: str) -> dict[str, Amount]:
        """Return the largest cost of all announced requests of a ticket, by slot."""
        known = self._tickets.get(ticket)
        return dict(known.announced) if known is not None else {}

    # -- the file --------------------------------------------------------------------

    @contextmanager
    def _locked(self, *, force: bool = True) -> Generator[Any]:
        """Lock the file, read the rows of other processes, and yield a function that appends a row."""
        if self._path is None:
            yield self._apply_and_keep
            return
        with suppress(FileExistsError):
            open_file(self._path, "xb").close()
        with open_file(self._path, "r+b", buffering=0) as file:
            with suppress(OSError):  # a file system without locks: other writers are not noticed
                fcntl.flock(file.fileno(), fcntl.LOCK_EX)  # released when the file is closed
            self._read_new_lines(file)

            def write(row: Mapping[str, Any]) -> None:
                file.write(_line(row))
                if force:
                    os.fsync(file.fileno())
                self._read_new_lines(file)

            yield write

    def _apply_and_keep(self, row: Mapping[str, Any]) -> None:
        self._apply(row)
        if self._keep is not None:
            self._keep(_line(row))

    def _read_new_lines(self, file: Any) -> None:
        file.seek(self._at)
        data: bytes = file.read()
        whole = data.rfind(b"\n") + 1
        if whole < len(data):  # a writer was killed in the middle of a line
            file.truncate(self._at + whole)
        for line in data[:whole].splitlines():
            try:
                self._apply(mapping(orjson.loads(line)) or {})
            except ValueError:  # invalid JSON, or a negative amount
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
