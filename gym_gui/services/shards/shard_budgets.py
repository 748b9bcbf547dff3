"""Joins the budget ledgers of shards into the ledger of their merged run."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import orjson

from gym_gui.analysis.records.jsonl import read_lines
from gym_gui.core.errors import RunFormatError
from gym_gui.core.experiment.spending import NOTHING, Amount, Amounts, amounts_of, plain_amounts
from gym_gui.services.runs.budget_ledger import NAME

LOST = "lost"
"""Ticket in the merged ledger for amounts that shards without results may have spent."""


def ledger_sums(folder: Path) -> dict[str, Amount]:
    """Return the spending according to a run folder's ledger, by account; empty without a ledger.

    Raises:
        RunFormatError: The ledger is damaged.
        UsageError: The ledger cannot be read.
    """
    found: dict[str, Amount] = {}
    if (folder / NAME).is_file():
        for line in read_lines(folder / NAME):
            try:
                amounts = amounts_of(line.value.get("amounts"))
            except ValueError as error:
                raise RunFormatError(str(folder / NAME), f"is damaged: {error}") from None
            for account, amount in amounts.items():
                if "settle" in line.value:
                    found[account] = found.get(account, NOTHING) + amount
    return found


def ledger_sums_of(folders: Iterable[Path]) -> dict[str, Amount]:
    """Return the sums of the ledgers of several run folders. Raises like :func:`ledger_sums`."""
    found: dict[str, Amount] = {}
    for folder in folders:
        for account, amount in ledger_sums(folder).items():
            found[account] = found.get(account, NOTHING) + amount
    return found


def merge_ledgers(folders: Iterable[Path], lost: Amounts, target: Path) -> None:
    """Write one ledger from those of the shards, so that a resumed run knows what has been spent.

    Args:
        folders: Run folders of the shards.
        lost: Other amounts that may have been spent, by account.
        target: Run folder for the ledger. None is written if no budget limits the run.

    Raises:
        RunFormatError: A ledger is damaged.
        OSError: The new ledger cannot be written.
    """
    books = [folder / NAME for folder in folders if (folder / NAME).is_file()]
    if not books and not lost:
        return
    with (target / NAME).open("xb") as file:
        for book in books:
            for line in read_lines(book):
                file.write(orjson.dumps(line.value, option=orjson.OPT_APPEND_NEWLINE))
        if lost:
            row = {"settle": LOST, "amounts": plain_amounts(lost)}
            file.write(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))
