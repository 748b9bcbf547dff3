"""Accounts of paid calls: which slots of a run pay, from which budgets, and how much an episode needs."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gym_gui.controllers.engine.resolved_operator import ResolvedOperator
from gym_gui.controllers.runs.budget_message import RUN
from gym_gui.controllers.runs.model_slots import paying_slots, with_limits
from gym_gui.controllers.runs.operator_execution import OperatorExecution
from gym_gui.core.config import Experiment
from gym_gui.core.experiment.leases import Needs
from gym_gui.core.experiment.slot_patterns import slot_for
from gym_gui.core.experiment.spending import NOTHING, Amount, SlotSpending
from gym_gui.core.record_fields import text

MARGIN = 1.25
"""Factor on the largest cost of an episode so far, which gives the amount that the next episode may need."""
GENEROUS, SHARE = 8.0, 16.0
"""Factors that limit an episode's allowance while much of the budget is left.

An episode may spend ``GENEROUS`` times the largest cost so far, up to a ``SHARE``-th of the remaining budget,
because an episode that is cut off is paid for and has to be played again."""
_NEXT_TO_NOTHING = Amount(1, 1e-12)


@dataclass
class Payer:
    """Slot whose calls cost money or tokens.

    Attributes:
        accounts: Accounts that pay for the slot.
        limit: The user's limit for the slot in each episode; 0 for no limit.
        at_once: Requests that the slot has in flight at the same time in one episode.
        need: The largest cost of an episode so far; ``None`` as long as none has been played.
        announces: Whether the slot's worker announces each request before it is sent; ``None`` if that is
            unknown, because no session was ready yet.
    """

    accounts: Sequence[str]
    limit: Amount
    at_once: int
    need: Amount | None = None
    announces: bool | None = None

    def margin(self) -> Amount:
        """Return the amount that the slot may need in the next episode."""
        return self.limited((self.need or NOTHING) * MARGIN)

    def limited(self, amount: Amount) -> Amount:
        """Return an amount, reduced to the user's limit per episode."""
        tokens = min(amount.tokens, self.limit.tokens) if self.limit.tokens else amount.tokens
        return Amount(tokens, min(amount.usd, self.limit.usd) if self.limit.usd else amount.usd)


@dataclass
class EpisodeCosts:
    """Costs of an episode in flight.

    Attributes:
        allowances: Amount that each slot may spend; these amounts are reserved.
        spendings: Amount that each slot has spent so far.
    """

    allowances: Mapping[str, Amount]
    spendings: dict[str, SlotSpending] = field(default_factory=dict[str, SlotSpending])

    def cut_off(self, slot: str, requests: int) -> SlotSpending:
        """Return the amount that a slot has spent, including its requests in flight.

        If the slot's requests are not announced and none has been answered, its whole allowance counts as
        spent.
        """
        spending = self.spendings.get(slot, SlotSpending())
        known = spending.announces or spending.request != NOTHING
        return spending.cut_off(requests) if known else SlotSpending(self.allowances[slot])


def budgets_of(experiment: Experiment, resolved: Iterable[ResolvedOperator]) -> dict[str, Amount]:
    """Return the budgets of an experiment by account: of the run, and of slots that have their own.

    Args:
        experiment: The experiment.
        resolved: The operators of the experiment, checked.
    """
    execution = experiment.execution
    whole = Amount(execution.token_budget or 0, execution.money_budget_usd or 0.0)
    runs = (OperatorExecution(with_limits(each, execution), 0, deque()) for each in resolved)
    return CostAccounts(whole, runs).budgets


class CostAccounts:
    """Paying slots of a run, the accounts that they pay from, and the amounts that episodes need.

    Args:
        whole: Budget of the whole run; ``NOTHING`` if there is none.
        runs: The run's operators.

    Attributes:
        budgets: Budgets by account: of the run, and of slots that have their own.
    """

    def __init__(self, whole: Amount, runs: Iterable[OperatorExecution]) -> None:
        self.budgets: dict[str, Amount] = {RUN: whole} if whole != NOTHING else {}
        self._by_operator = {run.operator_id: self.would_be(run) for run in runs}

    def of(self, operator: str) -> Mapping[str, Payer]:
        """Return the paying slots of an operator."""
        return self._by_operator.get(operator, {})

    def would_be(self, run: OperatorExecution) -> dict[str, Payer]:
        """Return the paying slots that an operator would have with its current players."""
        payers: dict[str, Payer] = {}
        for slot, budgets in paying_slots(run.resolved.assignments).items():
            own = f"{run.operator_id}/{slot}"
            if budgets.run not in (NOTHING, self.budgets.get(RUN)):
                self.budgets[own] = budgets.run
            accounts = [account for account in (RUN, own) if account in self.budgets]
            payers[slot] = Payer(accounts, budgets.episode, budgets.at_once)
        return {slot: payer for slot, payer in payers.items() if payer.accounts}

    def seat(self, run: OperatorExecution) -> None:
        """Register the paying slots of an operator that is new or has other players."""
        self._by_operator[run.operator_id] = self.would_be(run)

    def introduce(self, operator: str, announcing: Collection[str]) -> None:
        """Record which slots announce their requests, when a session of the operator is ready.

        A slot counts as announcing if it announces in every session.
        """
        for slot, payer in self.of(operator).items():
            payer.announces = slot in announcing and payer.announces is not False

    def exclude(self, operators: Collection[str]) -> None:
        """Remove operators and the budgets of their slots."""
        for operator in operators:
            for slot in self._by_operator.pop(operator, {}):
                self.budgets.pop(f"{operator}/{slot}", None)

    def allowance(self, payer: Payer, share: Amount) -> Amount:
        """Return an amount as the slot's worker gets it; tokens or money are 0 if no budget limits them."""
        share = share.most(_NEXT_TO_NOTHING)
        tokens = any(self.budgets[account].tokens for account in payer.accounts)
        usd = any(self.budgets[account].usd for account in payer.accounts)
        return Amount(share.tokens if tokens else 0, share.usd if usd else 0.0)

    def by_account(self, operator: str, by_slot: Mapping[str, Amount]) -> dict[str, Amount]:
        """Return the amounts of an operator's slots, summed by the accounts that pay for the slots."""
        sums: dict[str, Amount] = {}
        for slot, amount in by_slot.items():
            payer = self.of(operator).get(slot)
            for account in payer.accounts if payer is not None else ():
                sums[account] = sums.get(account, NOTHING) + amount
        return sums

    def need(self, operator: str) -> dict[str, Amount]:
        """Return the amount that the next episode of an operator may need, by account."""
        return self.by_account(operator, {slot: p.margin() for slot, p in self.of(operator).items()})

    def unknown(self, operator: str) -> bool:
        """Return whether the cost of an operator's episodes is still unknown for a slot."""
        return any(payer.need is None for payer in self.of(operator).values())

    def update_largest_costs(self, operator: str, spendings: Mapping[str, SlotSpending]) -> None:
        """Update the largest costs of an operator's slots with an episode that was played to its end."""
        for slot, payer in self.of(operator).items():
            payer.need = (payer.need or NOTHING).most(spendings.get(slot, SlotSpending()).peak)

    @property
    def needs(self) -> dict[str, dict[str, Amount]]:
        """Largest cost of an episode so far by operator and slot, without slots that have none yet."""
        known = {
            operator: {slot: payer.need for slot, payer in payers.items() if payer.need is not None}
            for operator, payers in self._by_operator.items()
        }
        return {operator: slots for operator, slots in known.items() if slots}

    def learn(self, needs: Needs) -> bool:
        """Take over costs that other shards have measured; return whether a largest cost has changed."""
        before = self.needs
        for operator, slots in needs.items():
            for slot, amount in slots.items():
                if (payer := self.of(operator).get(slot)) is not None:
                    payer.need = (payer.need or NOTHING).most(amount)
        return self.needs != before

    def share_account(self, one: str, other: str) -> bool:
        """Return whether two operators spend from the same account."""
        own = {account for payer in self.of(one).values() for account in payer.accounts}
        return any(account in own for payer in self.of(other).values() for account in payer.accounts)

    def slot_of(self, run: OperatorExecution, index: int, call: Mapping[str, Any]) -> str | None:
        """Return the slot that has made a call; agents may have swapped seats or appeared later.

        Args:
            run: The operator.
            index: Index of the episode.
            call: The row of the call.
        """
        seats = run.resolved.seatings[index % len(run.resolved.seatings)]
        agent = text(call.get("agent")) or ""
        slot = seats.get(agent) or slot_for(agent, run.resolved.assignments)
        return slot if slot in self.of(run.operator_id) else None
