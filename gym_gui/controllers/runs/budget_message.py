"""Names the budget of a run that does not suffice for the next episode, as text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from gym_gui.core.experiment.spending import Amount, Room

RUN = "run"
"""Name of the account of the whole run; the account of a slot is ``<operator>/<slot>``."""


class Books(Protocol):
    """Knows how much of each budget is spent."""

    def remaining(self, account: str) -> Room:
        """Return the amount that is left in an account."""
        ...

    def spent(self, account: str) -> Amount:
        """Return the amount that has been spent from an account."""
        ...


def budget_message(ledger: Books, budgets: Mapping[str, Amount], needed: Mapping[str, Amount]) -> str:
    """Return which budget does not suffice for an episode, as the beginning of a sentence.

    Args:
        ledger: Knows what is spent and left.
        budgets: Budgets by account.
        needed: Amounts that the next episode may need, by account.
    """
    for account, next_ in needed.items():
        room, budget, spent = ledger.remaining(account), budgets[account], ledger.spent(account)
        whose, where = (
            ("the run", "--{}-budget gives") if account == RUN else (f"slot {account}", "its settings give")
        )
        if next_.usd > room.usd or room.usd <= 0:
            what, figures = "money", f"${spent.usd:.4f} of ${budget.usd:.4f}"
            more = f"cost ${next_.usd:.4f}"
        elif next_.tokens > room.tokens or room.tokens <= 0:
            what, figures = "token", f"{spent.tokens:,} of {budget.tokens:,}"
            more = f"take {next_.tokens:,}"
        else:
            continue
        return (
            f"the {what} budget of {whose} carries no further episode: {figures} spent, and what comes "
            f"next may {more} ({where.format(what)} it more)"
        )
    return "the budgets of the run carry no further episode"
