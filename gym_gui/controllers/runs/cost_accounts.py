"""Slots whose calls cost something, the accounts that pay for them, and the episodes in which they play."""

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
"""Factor on the most that an episode has needed so far: the next one may need that much."""
GENEROUS, SHARE = 8.0, 16.0
"""If much is left, an episode may spend ``GENEROUS`` times what one has needed, up to one ``SHARE``-th of the
rest, because an episode that is cut off is paid for and has to be played again."""
_NEXT_TO_NOTHING = Amount(1, 1e-12)


@dataclass
class Payer:
    """A slot whose calls cost something.

    Attributes:
        accounts: Accounts that pay for the slot.
        limit: What a person allows the slot in each episode; 0 for no limit.
        at_once: Requests that the slot has in flight at the same time in one episode.
        need: The most that an episode has needed; ``None`` as long as none has been played.
        announces: Whether the slot's worker announces each request before it is sent; ``None`` if that is
            unknown, because no session was ready yet.
    """

    accounts: Sequence[str]
    limit: Amount
    at_once: int
    need: Amount | None = None
    announces: bool | None = None

    def margin(self) -> Amount:
        """Return what the next episode may need."""
        return self.limited((self.need or NOTHING) * MARGIN)

    def limited(self, amount: Amount) -> Amount:
        """Return an amount reduced to what the person allows per episode."""
        tokens = min(amount.tokens, self.limit.tokens) if self.limit.tokens else amount.tokens
        return Amount(tokens, min(amount.usd, self.limit.usd) if self.limit.usd else amount.usd)


@dataclass
class Flight:
    """An episode that is being played.

    Attributes:
        allowances: What each slot may spend; these amounts are reserved.
        spendings: What each slot has spent so far.
    """

    allowances: Mapping[str, Amount]
    spendings: dict[str, SlotSpending] = field(default_factory=dict[str, SlotSpending])

    def cut_off(self, slot: str, requests: int) -> SlotSpending:
        """Return what a slot has spent, including requests that were in flight.

        If its requests are not announced and none has been answered, its whole allowance may be spent.
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
    """Knows which slots of a run pay, from which accounts, and how much an episode needs.

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
        """Return the payers of an operator, by slot."""
        return self._by_operator.get(operator, {})

    def would_be(self, run: OperatorExecution) -> dict[str, Payer]:
        """Return the payers that an operator would have if it were seated, by slot."""
        payers: dict[str, Payer] = {}
        for slot, budgets in paying_slots(run.resolved.assignments).items():
            own = f"{run.operator_id}/{slot}"
            if budgets.run not in (NOTHING, self.budgets.get(RUN)):
                self.budgets[own] = budgets.run
            accounts = [account for account in (RUN, own) if account in self.budgets]
            payers[slot] = Payer(accounts, budgets.episode, budgets.at_once)
        return {slot: payer for slot, payer in payers.items() if payer.accounts}

    def seat(self, run: OperatorExecution) -> None:
        """Set the payers of an operator that is new or has other players."""
        self._by_operator[run.operator_id] = self.would_be(run)

    def introduce(self, operator: str, announcing: Collection[str]) -> None:
        """Note which slots announce their requests in a session of an operator that is ready.

        A slot counts as announcing if it does so in every session.
        """
        for slot, payer in self.of(operator).items():
            payer.announces = slot in announcing and payer.announces is not False

    def leave_out(self, operators: Collection[str]) -> None:
        """Forget operators, and the budgets of their slots."""
        for operator in operators:
            for slot in self._by_operator.pop(operator, {}):
                self.budgets.pop(f"{operator}/{slot}", None)

    def allowance(self, payer: Payer, share: Amount) -> Amount:
        """Return a share as the slot's worker gets it: tokens or money are 0 if no budget limits them."""
        share = share.most(_NEXT_TO_NOTHING)
        tokens = any(self.budgets[account].tokens for account in payer.accounts)
        usd = any(self.budgets[account].usd for account in payer.accounts)
        return Amount(share.tokens if tokens else 0, share.usd if usd else 0.0)

    def by_account(self, operator: str, by_slot: Mapping[str, Amount]) -> dict[str, Amount]:
        """Return what slots of an operator spend, summed by the accounts that pay for them."""
        sums: dict[str, Amount] = {}
        for slot, amount in by_slot.items():
            payer = self.of(operator).get(slot)
            for account in payer.accounts if payer is not None else ():
                sums[account] = sums.get(account, NOTHING) + amount
        return sums

    def need(self, operator: str) -> dict[str, Amount]:
        """Return what the next episode of an operator may need, by account."""
        return self.by_account(operator, {slot: p.margin() for slot, p in self.of(operator).items()})

    def unknown(self, operator: str) -> bool:
        """Return whether it is still unknown what an operator's episodes need."""
        return any(payer.need is None for payer in self.of(operator).values())

    def note_need(self, operator: str, spendings: Mapping[str, SlotSpending]) -> None:
        """Update the needs of an operator's slots from an episode that was played to its end."""
        for slot, payer in self.of(operator).items():
            payer.need = (payer.need or NOTHING).most(spendings.get(slot, SlotSpending()).peak)

    @property
    def needs(self) -> dict[str, dict[str, Amount]]:
        """The most that an episode has needed, by operator and slot, as far as known."""
        known = {
            operator: {slot: payer.need for slot, payer in payers.items() if payer.need is not None}
            for operator, payers in self._by_operator.items()
        }
        return {operator: slots for operator, slots in known.items() if slots}

    def learn(self, needs: Needs) -> bool:
        """Take over needs that other shards have measured; return whether any known need has changed."""
        before = self.needs
        for operator, slots in needs.items():
            for slot, amount in slots.items():
                if (payer := self.of(operator).get(slot)) is not None:
                    payer.need = (payer.need or NOTHING).most(amount)
        return self.needs != before

    def pay_together(self, one: str, other: str) -> bool:
        """Return whether two operators spend from the same account."""
        own = {account for payer in self.of(one).values() for account in payer.accounts}
        return any(account in own for payer in self.of(other).values() for account in payer.accounts)

    def slot_of(self, run: OperatorExecution, index: int, call: Mapping[str, Any]) -> str | None:
        """Return the slot that has made a call, since agents may have swapped seats or appeared later.

        Args:
            run: The operator.
            index: Index of the episode.
            call: The row of the call.
        """
        seats = run.resolved.seatings[index % len(run.resolved.seatings)]
        agent = text(call.get("agent")) or ""
        slot = seats.get(agent) or slot_for(agent, run.resolved.assignments)
        return slot if slot in self.of(run.operator_id) else None
