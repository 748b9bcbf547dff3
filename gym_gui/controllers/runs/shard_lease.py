"""Manages a shard's lease on the run's budgets: the amounts that the shard may spend, and its reports."""

from __future__ import annotations

from collections.abc import Mapping

from gym_gui.controllers.runs.cost_accounts import CostAccounts
from gym_gui.core.experiment.leases import Claim
from gym_gui.core.experiment.spending import NOTHING, Amount, Amounts
from gym_gui.services.runs.budget_ledger import BudgetLedger
from gym_gui.services.shards.lease_files import LeaseFiles

_PLENTY = 2.0
"""Factor on the amount that all remaining episodes may need; the lease returns budget beyond this."""


class ShardLease:
    """Part of a run's budgets that the coordinator has leased to one shard.

    Args:
        files: Files with the coordinator's lease and the shard's reports.
        cost_accounts: The shard's accounts; needs that other shards have measured are added there.
        ledger: The shard's own ledger, which the lease limits.

    Attributes:
        ended: Whether the shard has ended because no more budget will come.
    """

    def __init__(self, files: LeaseFiles, cost_accounts: CostAccounts, ledger: BudgetLedger) -> None:
        self._files, self._cost_accounts, self._ledger = files, cost_accounts, ledger
        self._keeps: dict[str, Amount] = {}
        self.ended = False
        ledger.limit(self._keeps)

    @property
    def is_held(self) -> bool:
        """Whether the shard has a lease from a coordinator that is still alive."""
        return self._files.is_held

    @property
    def is_last(self) -> bool:
        """Whether the coordinator will give no more budget."""
        return self._files.lease is not None and self._files.lease.ended

    def read_current(self) -> bool:
        """Read the current lease; return whether it changes anything for the shard."""
        held, before = self.is_held, self._files.lease
        if not self._files.check():
            return self.is_held != held
        lease = self._files.lease
        assert lease is not None
        if before is None or lease.number > before.number:
            self._keeps = dict(lease.amounts)
            self._ledger.limit(self._keeps)
        known = self._cost_accounts.learn(lease.needs)
        return known or not held or before is None or lease.number > before.number or lease.ended

    def claim(self, next_: Amounts | None, rest: Amounts, *, waits: bool = False) -> None:
        """Report the shard's spending and needs, and return budget that the shard does not need.

        Args:
            next_: Amount that must be left for another episode to begin; ``None`` if unknown.
            rest: Amount that all remaining episodes may need.
            waits: Whether the shard cannot play before it gets more budget.
        """
        gone = {account: self._ledger.spent_and_reserved(account) for account in self._cost_accounts.budgets}
        if waits:
            self._keep(gone)
        elif next_ is not None:
            self._keep({account: gone[account] + rest.get(account, NOTHING) * _PLENTY for account in gone})
        lease = self._files.lease
        number = 0 if lease is None else lease.number
        claim = Claim(number, gone, self._keeps, next_, rest, self._cost_accounts.needs, waits, self.ended)
        self._files.claim(claim)

    def _keep(self, most: Mapping[str, Amount]) -> None:
        self._keeps = {account: amount.least(most[account]) for account, amount in self._keeps.items()}
        self._ledger.limit(self._keeps)
