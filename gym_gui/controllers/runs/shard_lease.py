"""What a shard of a run may spend of the run's budgets: it lives on a lease, and says where it stands."""

from __future__ import annotations

from collections.abc import Mapping

from gym_gui.controllers.runs.cost_accounts import CostAccounts
from gym_gui.core.experiment.leases import Claim
from gym_gui.core.experiment.spending import NOTHING, Amount, Amounts
from gym_gui.services.runs.budget_ledger import BudgetLedger
from gym_gui.services.shards.lease_files import LeaseFiles

_PLENTY = 2.0
"""Times what all episodes that are left may need: more than that is given back."""


class ShardLease:
    """The part of a run's budgets that a shard has been given.

    Args:
        files: Where it is given, and where the shard says what it needs.
        cost_accounts: The accounts that spend it; they learn what an episode costs in other shards.
        ledger: The shard's own books, which are limited to it.

    Attributes:
        ended: Whether the shard has come to its end for want of more.
    """

    def __init__(self, files: LeaseFiles, cost_accounts: CostAccounts, ledger: BudgetLedger) -> None:
        self._files, self._cost_accounts, self._ledger = files, cost_accounts, ledger
        self._keeps: dict[str, Amount] = {}
        self.ended = False
        ledger.limit(self._keeps)

    @property
    def is_held(self) -> bool:
        """Whether it has been given something, and who gave it is still there."""
        return self._files.is_held

    @property
    def is_last(self) -> bool:
        """Whether nothing more will be given."""
        return self._files.lease is not None and self._files.lease.ended

    def look(self) -> bool:
        """See what has been given since; returns whether that changes anything."""
        held, before = self.is_held, self._files.lease
        if not self._files.look():
            return self.is_held != held
        lease = self._files.lease
        assert lease is not None
        if before is None or lease.number > before.number:
            self._keeps = dict(lease.amounts)
            self._ledger.limit(self._keeps)
        known = self._cost_accounts.learn(lease.needs)
        return known or not held or before is None or lease.number > before.number or lease.ended

    def claim(self, next_: Amounts | None, rest: Amounts, *, waits: bool = False) -> None:
        """Say where the shard stands; what it has no use for is given back.

        Args:
            next_: What has to be left for anything more to begin; ``None``: that is not known.
            rest: What all that is left may need.
            waits: Whether nothing is played before more is given.
        """
        gone = {account: self._ledger.gone(account) for account in self._cost_accounts.budgets}
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
