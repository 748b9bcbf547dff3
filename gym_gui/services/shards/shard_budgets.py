"""What shards have spent of the budgets of their run: their books become those of the run."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import orjson

from gym_gui.analysis.records.jsonl import read_lines
from gym_gui.core.errors import RunFormatError
from gym_gui.core.experiment.spending import NOTHING, Amount, Amounts, amounts_of, plain_amounts
from gym_gui.services.runs.budget_ledger import NAME

LOST = "lost"
"""Who has spent in the books of the run what may have been spent where nothing came back from."""


def spent_in(folder: Path) -> dict[str, Amount]:
    """What a run folder's books say was spent, by account; nothing where it has none.

    Raises:
        RunFormatError: They are damaged.
        UsageError: They cannot be read.
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


def spent_in_all(folders: Iterable[Path]) -> dict[str, Amount]:
    """What the books of several run folders say; raises as :func:`spent_in`."""
    found: dict[str, Amount] = {}
    for folder in folders:
        for account, amount in spent_in(folder).items():
            found[account] = found.get(account, NOTHING) + amount
    return found


def join_books(folders: Iterable[Path], lost: Amounts, target: Path) -> None:
    """Write one ledger of those of shards, so that a process that resumes their run knows what is spent.

    Args:
        folders: Run folders of the shards.
        lost: What may have been spent besides.
        target: The run folder that gets the ledger; none is written where no budget limits the run.

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
