"""Writes a message that names the budget which does not suffice for the next episode of a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from gym_gui.core.experiment.spending import Amount, RemainingBudget

RUN = "run"
"""Name of the budget account of the whole run; a slot's account is named ``<operator>/<slot>``."""


class BudgetBalance(Protocol):
    """Ledger that states the spent and the remaining amount of each budget."""

    def remaining(self, account: str) -> RemainingBudget:
        """Return the remaining amount of an account."""
        ...

    def spent(self, account: str) -> Amount:
        """Return the spent amount of an account."""
        ...


def budget_message(ledger: BudgetBalance, budgets: Mapping[str, Amount], needed: Mapping[str, Amount]) -> str:
    """Return which budget does not suffice for an episode, as a clause for a message.

    Args:
        ledger: Spent and remaining amounts by account.
        budgets: Budgets by account.
        needed: Amounts that the next episode may need, by account.
    """
    for account, next_ in needed.items():
        room, budget, spent = ledger.remaining(account), budgets[account], ledger.spent(account)
        whose, where = (
            ("the run", "raise --{}-budget")
            if account == RUN
            else (f"slot {account}", "raise it in its settings")
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
            f"the {what} budget of {whose} does not suffice for another episode: {figures} spent, and the "
            f"next may {more} ({where.format(what)})"
        )
    return "the budgets of the run do not suffice for another episode"
