"""Slots whose calls cost something, the accounts they are paid from, and episodes in which they are made."""

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
"""Times what an episode has needed so far that the next one may need."""
GENEROUS, SHARE = 8.0, 16.0
"""Where there is plenty, an episode may take so many times what one has needed, up to such a part of the
rest: an episode that is cut off is paid for and has to be played again."""
_NEXT_TO_NOTHING = Amount(1, 1e-12)


@dataclass
class Payer:
    """A slot whose calls cost something.

    Attributes:
        accounts: Those that it is paid from.
        limit: What a person allows it in each episode; 0 for no limit.
        at_once: Requests that it has under way at the same time in one.
        need: The most that an episode has needed; ``None`` as long as none has been played.
        announces: Whether its worker announces each request before it is sent; ``None`` before one is known.
    """

    accounts: Sequence[str]
    limit: Amount
    at_once: int
    need: Amount | None = None
    announces: bool | None = None

    def margin(self) -> Amount:
        """What the next episode may need."""
        return self.limited((self.need or NOTHING) * MARGIN)

    def limited(self, amount: Amount) -> Amount:
        """Not more than the person allows."""
        tokens = min(amount.tokens, self.limit.tokens) if self.limit.tokens else amount.tokens
        return Amount(tokens, min(amount.usd, self.limit.usd) if self.limit.usd else amount.usd)


@dataclass
class Flight:
    """An episode that is being played.

    Attributes:
        allowances: What its slots may spend, which is put aside.
        courses: What they have spent so far.
    """

    allowances: Mapping[str, Amount]
    spendings: dict[str, SlotSpending] = field(default_factory=dict[str, SlotSpending])

    def cut_off(self, slot: str, requests: int) -> SlotSpending:
        """What a slot has taken with requests that were under way; where these were not announced and would
        have been the first, all that it had may be gone."""
        spending = self.spendings.get(slot, SlotSpending())
        known = spending.announces or spending.request != NOTHING
        return spending.cut_off(requests) if known else SlotSpending(self.allowances[slot])


def budgets_of(experiment: Experiment, resolved: Iterable[ResolvedOperator]) -> dict[str, Amount]:
    """Budgets of an experiment by account: that of the run, and those of slots that have their own.

    Args:
        experiment: The experiment.
        resolved: Its operators, checked.
    """
    execution = experiment.execution
    whole = Amount(execution.token_budget or 0, execution.money_budget_usd or 0.0)
    runs = (OperatorExecution(with_limits(each, execution), 0, deque()) for each in resolved)
    return CostAccounts(whole, runs).budgets


class CostAccounts:
    """Which slots of a run pay, from which accounts, and what an episode has them pay.

    Args:
        whole: Budget of the whole run; nothing for none.
        runs: Its operators.

    Attributes:
        budgets: By account: that of the run, and those of slots that have their own.
    """

    def __init__(self, whole: Amount, runs: Iterable[OperatorExecution]) -> None:
        self.budgets: dict[str, Amount] = {RUN: whole} if whole != NOTHING else {}
        self._by_operator = {run.operator_id: self.would_be(run) for run in runs}

    def of(self, operator: str) -> Mapping[str, Payer]:
        """Those of an operator, by slot."""
        return self._by_operator.get(operator, {})

    def would_be(self, run: OperatorExecution) -> dict[str, Payer]:
        """Those that an operator would have, were it seated."""
        payers: dict[str, Payer] = {}
        for slot, budgets in paying_slots(run.resolved.assignments).items():
            own = f"{run.operator_id}/{slot}"
            if budgets.run not in (NOTHING, self.budgets.get(RUN)):
                self.budgets[own] = budgets.run
            accounts = [account for account in (RUN, own) if account in self.budgets]
            payers[slot] = Payer(accounts, budgets.episode, budgets.at_once)
        return {slot: payer for slot, payer in payers.items() if payer.accounts}

    def seat(self, run: OperatorExecution) -> None:
        """An operator has come, or others play for it."""
        self._by_operator[run.operator_id] = self.would_be(run)

    def introduce(self, operator: str, announcing: Collection[str]) -> None:
        """A session of an operator is ready; a slot announces its requests where it does in every session."""
        for slot, payer in self.of(operator).items():
            payer.announces = slot in announcing and payer.announces is not False

    def leave_out(self, operators: Collection[str]) -> None:
        """Forget operators, and the budgets of their slots."""
        for operator in operators:
            for slot in self._by_operator.pop(operator, {}):
                self.budgets.pop(f"{operator}/{slot}", None)

    def allowance(self, payer: Payer, share: Amount) -> Amount:
        """A share in the form that the slot gets: zero where no budget limits it."""
        share = share.most(_NEXT_TO_NOTHING)
        tokens = any(self.budgets[account].tokens for account in payer.accounts)
        usd = any(self.budgets[account].usd for account in payer.accounts)
        return Amount(share.tokens if tokens else 0, share.usd if usd else 0.0)

    def by_account(self, operator: str, by_slot: Mapping[str, Amount]) -> dict[str, Amount]:
        """What slots of an operator spend, by the accounts they are paid from."""
        sums: dict[str, Amount] = {}
        for slot, amount in by_slot.items():
            payer = self.of(operator).get(slot)
            for account in payer.accounts if payer is not None else ():
                sums[account] = sums.get(account, NOTHING) + amount
        return sums

    def need(self, operator: str) -> dict[str, Amount]:
        """What the next episode of an operator may need, by account."""
        return self.by_account(operator, {slot: p.margin() for slot, p in self.of(operator).items()})

    def unknown(self, operator: str) -> bool:
        """Whether what an operator needs is still to be found out."""
        return any(payer.need is None for payer in self.of(operator).values())

    def note_need(self, operator: str, spendings: Mapping[str, SlotSpending]) -> None:
        """An episode was played to its end, in which slots have spent so much."""
        for slot, payer in self.of(operator).items():
            payer.need = (payer.need or NOTHING).most(spendings.get(slot, SlotSpending()).peak)

    @property
    def needs(self) -> dict[str, dict[str, Amount]]:
        """The most that an episode has needed, by operator and slot, as far as that is known."""
        known = {
            operator: {slot: payer.need for slot, payer in payers.items() if payer.need is not None}
            for operator, payers in self._by_operator.items()
        }
        return {operator: slots for operator, slots in known.items() if slots}

    def learn(self, needs: Needs) -> bool:
        """Others have found out what an episode needs; returns whether that was not known."""
        before = self.needs
        for operator, slots in needs.items():
            for slot, amount in slots.items():
                if (payer := self.of(operator).get(slot)) is not None:
                    payer.need = (payer.need or NOTHING).most(amount)
        return self.needs != before

    def pay_together(self, one: str, other: str) -> bool:
        """Whether two operators spend from the same account."""
        own = {account for payer in self.of(one).values() for account in payer.accounts}
        return any(account in own for payer in self.of(other).values() for account in payer.accounts)

    def slot_of(self, run: OperatorExecution, index: int, call: Mapping[str, Any]) -> str | None:
        """The slot that has made a call: agents take other seats where these are swapped, or appear.

        Args:
            run: The operator.
            index: Of the episode.
            call: Its line.
        """
        seats = run.resolved.seatings[index % len(run.resolved.seatings)]
        agent = text(call.get("agent")) or ""
        slot = seats.get(agent) or slot_for(agent, run.resolved.assignments)
        return slot if slot in self.of(run.operator_id) else None
