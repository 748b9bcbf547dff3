"""Decides for which episodes the budgets of a run suffice, and how much each episode may spend."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson

from gym_gui.analysis.records.jsonl import read_lines
from gym_gui.analysis.words import wording
from gym_gui.controllers.runs.budget_message import budget_message
from gym_gui.controllers.runs.cost_accounts import GENEROUS, MARGIN, SHARE, CostAccounts, EpisodeCosts, Payer
from gym_gui.controllers.runs.operator_execution import OperatorExecution
from gym_gui.controllers.runs.shard_lease import ShardLease
from gym_gui.core.config import Experiment
from gym_gui.core.experiment.execution import EpisodePlan
from gym_gui.core.experiment.spending import (
    NOTHING,
    Amount,
    RemainingBudget,
    SlotSpending,
    Takeover,
    accounted,
    paid,
)
from gym_gui.core.record_fields import count
from gym_gui.services.runs.budget_ledger import NAME, ROUNDING, BudgetLedger
from gym_gui.services.runs.recorder import RecordingError
from gym_gui.services.shards.lease_files import LeaseFiles

UNSEEN_AFTER_A_KILL = 2
"""Number of calls without a line in ``calls.jsonl`` that are charged to a slot of a killed run.

The number is counted per parallel request, for slots that do not announce their requests: the call in flight
and the call before it. The number is a guess: if the run's own process hung before it was killed, more calls
may be missing.
"""


class EpisodeBudget:
    """Distributes a run's money, tokens and time among its episodes, in the order of the seeds.

    Before an episode begins, the amount that it may need is reserved; its players cannot spend more. The
    first episode of each operator shows how much is needed. After it, an episode begins only if enough is
    left for it and for every operator's episodes with earlier seeds. So the operators can still be compared
    when a budget ends.

    Args:
        experiment: The experiment.
        runs: The run's operators.
        leased: Files with a shard's part of the budgets, if budgets hold for several shards together.

    Attributes:
        problem: Why nothing may be spent any more, because the ledger cannot be written; ``""`` if it can.
    """

    def __init__(
        self,
        experiment: Experiment,
        runs: Sequence[OperatorExecution],
        leased: LeaseFiles | None = None,
    ) -> None:
        execution = experiment.execution
        whole = Amount(execution.token_budget or 0, execution.money_budget_usd or 0.0)
        self._seconds = execution.time_budget_s or math.inf
        self._runs = list(runs)
        self._cost_accounts = CostAccounts(whole, runs)
        self._flights: dict[tuple[str, int], EpisodeCosts] = {}
        self._ledger: BudgetLedger | None = None
        self._leased = leased
        self._lease: ShardLease | None = None
        self._since, self._before = time.monotonic(), 0.0
        self.problem = ""

    def record_announcing_slots(self, run: OperatorExecution, announcing: Collection[str]) -> None:
        """Record which slots announce their requests, when a session of an operator is ready.

        Args:
            run: The operator.
            announcing: Slots whose workers announce each request before they send it.
        """
        self._cost_accounts.introduce(run.operator_id, announcing)

    def exclude(self, operators: Collection[str]) -> None:
        """Exclude operators from the budgets; none of them may have begun."""
        self._runs = [run for run in self._runs if run.operator_id not in operators]
        self._cost_accounts.exclude(operators)

    def add_operator(self, run: OperatorExecution, taking: Takeover | None = None) -> None:
        """Add a new operator, or update an operator that has other players.

        Args:
            run: The operator.
            taking: Change of a slot's player in the middle of an episode, or ``None``. The former player's
                cost is settled, and the amount from :meth:`allowance_for` is reserved for the new player.
        """
        same = run.operator_id
        known = self._cost_accounts.of(same)
        if taking is not None:
            self._hand_over(same, taking)
        self._runs = [*(other for other in self._runs if other.operator_id != same), run]
        self._cost_accounts.seat(run)
        if taking is None or self._ledger is None:
            return
        for slot, payer in self._cost_accounts.of(same).items():
            if slot != taking.slot and slot in known:
                payer.need, payer.announces = known[slot].need, known[slot].announces
        if taking.allowance is not None:
            flight = self._flights.setdefault((same, taking.index), EpisodeCosts({}))
            flight.allowances = {**flight.allowances, taking.slot: taking.allowance}
        flight = self._flights.get((same, taking.index))
        if flight is not None:
            held = self._cost_accounts.by_account(same, flight.allowances)
            self._ledger.reserve(_ticket(same, taking.index), held)

    def allowance_for(self, run: OperatorExecution, slot: str, index: int) -> Amount | None:
        """Return how much a new player of a slot may spend in the rest of a running episode.

        Args:
            run: The operator with the new player. Nothing is reserved before :meth:`add_operator` is called.
            slot: The slot whose player changes.
            index: Index of the episode.

        Returns:
            ``NOTHING`` if no budget limits the player; ``None`` if its budget is used up.
        """
        payer = self._cost_accounts.would_be(run).get(slot)
        if payer is None or self._ledger is None:
            return NOTHING
        flight = self._flights.get((run.operator_id, index))
        back = NOTHING if flight is None else self._unspent(run.operator_id, flight, slot)
        tokens = usd = math.inf
        for account in payer.accounts:
            room = self._ledger.remaining(account)
            tokens, usd = min(tokens, room.tokens + back.tokens), min(usd, room.usd + back.usd)
        if tokens < 1 or usd <= 0:
            return None
        most = payer.limited(
            Amount(0 if tokens == math.inf else int(tokens), 0.0 if usd == math.inf else usd)
        )
        return self._cost_accounts.allowance(payer, most)

    def _unspent(self, operator: str, flight: EpisodeCosts, slot: str) -> Amount:
        """Return the unspent part of a slot's allowance when another player takes the slot.

        Requests in flight count as spent, because they may still cost money.
        """
        payer, had = self._cost_accounts.of(operator).get(slot), flight.allowances.get(slot, NOTHING)
        if payer is None:
            return NOTHING
        return had - flight.spendings.get(slot, SlotSpending()).cut_off(payer.at_once).paid

    def _hand_over(self, operator: str, taking: Takeover) -> None:
        """Charge the former player's cost of a slot, and release its reservation for the episode."""
        flight = self._flights.get((operator, taking.index))
        payer = self._cost_accounts.of(operator).get(taking.slot)
        if flight is None or self._ledger is None:
            return
        spending = flight.spendings.pop(taking.slot, SlotSpending())
        flight.allowances = {s: amount for s, amount in flight.allowances.items() if s != taking.slot}
        gone = NOTHING if payer is None else spending.cut_off(payer.at_once).paid
        self._settle_slots(operator, taking.index, {taking.slot: gone})

    def begin_live(self, keep: Callable[[bytes], None]) -> None:
        """Begin to account for live episodes, which are played one at a time and without a fixed number.

        Args:
            keep: Writes a line of the ledger.
        """
        self._ledger = BudgetLedger(None, self._cost_accounts.budgets, keep)

    @property
    def limits_time(self) -> bool:
        """Whether a time budget stops further episodes from beginning."""
        return self._seconds < math.inf

    def open(self, folder: Path) -> None:
        """Open the ledger in a run folder, and read the amounts that an earlier part of the run has spent.

        Raises:
            UsageError: The ledger in the folder is damaged.
        """
        self._since = time.monotonic()
        if not self._cost_accounts.budgets and not self.limits_time:
            return
        fresh = not (folder / NAME).exists()
        self._ledger = BudgetLedger(folder / NAME, self._cost_accounts.budgets)
        self._before = self._ledger.elapsed_s
        for run in self._runs:
            self._learn(run, _rows(folder / "operators" / run.operator_id / "calls.jsonl"), fresh)
        if self._leased is not None and self._cost_accounts.budgets:
            self._lease = ShardLease(self._leased, self._cost_accounts, self._ledger)
            self._claim()

    def _learn(self, run: OperatorExecution, calls: Iterable[Mapping[str, Any]], fresh: bool) -> None:
        """Read the spent amounts of an earlier part of the run, and the largest costs of its episodes."""
        assert self._ledger is not None
        spendings: dict[int, dict[str, SlotSpending]] = {}
        largest: dict[str, Amount] = {}
        for call in calls:
            index = count(call.get("episode"))
            slot = self._cost_accounts.slot_of(run, index or 0, call)
            if index is not None and slot is not None:
                episode = spendings.setdefault(index, {})
                episode[slot] = episode.get(slot, SlotSpending()).with_call(call)
                largest[slot] = largest.get(slot, NOTHING).most(episode[slot].request)
        waiting = {plan.index for plan in run.pending}
        for index, episode in spendings.items():
            if index not in waiting:
                self._cost_accounts.update_largest_costs(run.operator_id, episode)
        spoken_for = self._ledger.reserved()
        for index in range(run.total):
            ticket = _ticket(run.operator_id, index)
            cut_off = ticket in spoken_for
            if not cut_off and not (fresh and index in spendings):
                continue
            told = spendings.get(index, {})
            taken = {slot: spending.paid for slot, spending in told.items()}
            guessed = False
            for slot, payer in self._cost_accounts.of(run.operator_id).items() if cut_off else ():
                if slot in self._ledger.announcing(ticket):
                    spending = told.get(slot, SlotSpending())
                    unseen = spending.with_request(self._ledger.announced(ticket).get(slot, NOTHING)).open
                else:  # a request was in flight, and so was the line of the one before it
                    unseen = largest.get(slot, NOTHING) * (UNSEEN_AFTER_A_KILL * payer.at_once)
                    guessed = True
                taken[slot] = taken.get(slot, NOTHING) + unseen
            spent, known = (
                self._cost_accounts.by_account(run.operator_id, taken),
                self._ledger.settled(ticket),
            )
            # The amount that was settled when a process was lost may be more than was really paid.
            rest = {a: (amount - known.get(a, NOTHING)).most(NOTHING) for a, amount in spent.items()}
            is_known = largest or not guessed
            self._ledger.settle(ticket, rest if is_known else spoken_for[ticket], self._before)

    # -- beginning episodes ------------------------------------------------------------------

    def allows(self, run: OperatorExecution, plan: EpisodePlan) -> bool:
        """Return whether the budgets let an episode begin now."""
        return self._shares(run, plan) is not None

    def reserve(self, run: OperatorExecution, plan: EpisodePlan) -> EpisodePlan | None:
        """Reserve an episode's allowances; return its plan with them, or ``None`` if it may not begin now."""
        shares = self._shares(run, plan)
        if shares is None or self._ledger is None or not shares:
            return plan if shares is not None else None
        key = run.operator_id, plan.index
        payers = self._cost_accounts.of(run.operator_id)
        announcing = [slot for slot, payer in payers.items() if payer.announces]
        held = self._cost_accounts.by_account(run.operator_id, shares)
        with self._writing():
            if self.problem or not self._ledger.reserve(_ticket(*key), held, announcing):
                return None
        if self.problem:
            return None
        self._flights[key] = EpisodeCosts(shares, {slot: SlotSpending(announces=True) for slot in announcing})
        self._claim()
        allowances = {
            slot: self._cost_accounts.allowance(payers[slot], share) for slot, share in shares.items()
        }
        return replace(plan, allowances=allowances)

    def _shares(self, run: OperatorExecution, plan: EpisodePlan) -> dict[str, Amount] | None:
        """Return how much each slot may spend in an episode; ``None`` if too little is left now."""
        if self.elapsed_s >= self._seconds:
            return None
        payers = self._cost_accounts.of(run.operator_id)
        if self._ledger is None or not payers:
            return {}
        if self._lease is not None and not self._lease.is_held:
            return None
        if self._cost_accounts.unknown(run.operator_id):
            return self._first_shares(run)
        if any(self._waits_for_first(other) for other in self._runs if self._pay_together(run, other)):
            return None
        spoken_for = self._earlier(run, plan)
        for account, amount in self._needed(run, plan).items():
            if not _within(amount, self._ledger.remaining(account)):
                return None
        return {slot: self._generous(payer, spoken_for) for slot, payer in payers.items()}

    def _generous(self, payer: Payer, spoken_for: Mapping[str, Amount]) -> Amount:
        assert self._ledger is not None and payer.need is not None
        tokens, usd = payer.need.tokens * GENEROUS, payer.need.usd * GENEROUS
        for account in payer.accounts:
            room, others = self._ledger.remaining(account), spoken_for.get(account, NOTHING)
            tokens = min(tokens, (room.tokens - others.tokens) / SHARE)
            usd = min(usd, (room.usd - others.usd) / SHARE)
        return payer.limited(payer.margin().most(Amount(int(tokens), usd)))

    def _first_shares(self, run: OperatorExecution) -> dict[str, Amount] | None:
        """Return an even share of the remaining budget for each slot of an operator with unknown costs."""
        if any(operator == run.operator_id for operator, _ in self._flights):
            return None
        assert self._ledger is not None
        shares: dict[str, Amount] = {}
        for slot, payer in self._cost_accounts.of(run.operator_id).items():
            tokens = usd = math.inf
            for account in payer.accounts:
                room, among = self._ledger.remaining(account), self._unknown(account)
                tokens, usd = min(tokens, room.tokens / among), min(usd, room.usd / among)
            share = Amount(0 if tokens == math.inf else int(tokens), 0.0 if usd == math.inf else usd)
            if tokens < 1 or usd <= 0:
                return None
            shares[slot] = payer.limited(share)
        return shares

    def _unknown(self, account: str) -> int:
        """Return how many waiting slots with unknown costs an account pays for, at least 1."""
        flying = {operator for operator, _ in self._flights}
        waiting = [run.operator_id for run in self._runs if run.pending and run.operator_id not in flying]
        slots = [payer for operator in waiting for payer in self._cost_accounts.of(operator).values()]
        return max(1, sum(payer.need is None and account in payer.accounts for payer in slots))

    def _pay_together(self, run: OperatorExecution, other: OperatorExecution) -> bool:
        """Return whether another operator spends from the same account."""
        return other is not run and self._cost_accounts.share_account(run.operator_id, other.operator_id)

    def _waits_for_first(self, run: OperatorExecution) -> bool:
        """Return whether an operator's costs are unknown and its first episode waits or is in flight."""
        flying = any(operator == run.operator_id for operator, _ in self._flights)
        return self._cost_accounts.unknown(run.operator_id) and (flying or bool(run.pending))

    def _needed(self, run: OperatorExecution, plan: EpisodePlan) -> dict[str, Amount]:
        """Return the amount that must be left in each account for an episode to begin."""
        spoken_for = self._earlier(run, plan)
        need = self._cost_accounts.need(run.operator_id)
        return {account: amount + spoken_for.get(account, NOTHING) for account, amount in need.items()}

    def _earlier(self, run: OperatorExecution, plan: EpisodePlan) -> dict[str, Amount]:
        """Return the amount that waiting episodes before an episode may need, by account.

        Those are the operator's own episodes with a lower index, and other operators' up to the same seed.
        """
        seed = plan.index // len(run.resolved.seatings)
        needed: dict[str, Amount] = {}
        for other in self._runs:
            last = (seed + 1) * len(other.resolved.seatings)
            if other is run:
                last = plan.index  # an operator's own episodes are played in order
            waiting = _count_below(other, last)
            if not waiting:
                continue
            for account, amount in self._cost_accounts.need(other.operator_id).items():
                needed[account] = needed.get(account, NOTHING) + amount * waiting
        return needed

    # -- calls and ends of episodes -------------------------------------------------------------

    def charge_call(self, run: OperatorExecution, line: bytes) -> None:
        """Charge a paid call to its episode."""
        if self._ledger is None or not self._cost_accounts.of(run.operator_id):
            return
        call: Mapping[str, Any] = orjson.loads(line)
        index = count(call.get("episode")) or 0
        slot = self._cost_accounts.slot_of(run, index, call)
        flight = self._flights.get((run.operator_id, index))
        if slot is None:
            return
        if flight is not None:
            flight.spendings[slot] = flight.spendings.get(slot, SlotSpending()).with_call(call)
        else:  # the call arrives after its episode was settled with announced amounts alone
            late = {slot: (paid(call) - accounted(call)).most(NOTHING)}
            self._settle_slots(run.operator_id, index, late)
            self._claim()

    def record_request(self, run: OperatorExecution, index: int, slot: str, most: Amount) -> bool:
        """Record a request that a slot is about to send, with its largest possible cost.

        Returns:
            Whether the slot may send it: ``False`` if its episode has been settled or the ledger cannot be
            written.
        """
        if self._ledger is None or slot not in self._cost_accounts.of(run.operator_id):
            return True
        flight = self._flights.get((run.operator_id, index))
        if flight is None:
            return False
        with self._writing():
            self._ledger.announce(_ticket(run.operator_id, index), slot, most)
        if self.problem:
            return False
        flight.spendings[slot] = flight.spendings.get(slot, SlotSpending()).with_request(most)
        return True

    def charge_finished(self, run: OperatorExecution, index: int) -> None:
        """Charge the cost of an episode that was played to its end, and record its needs."""
        flight = self._flights.pop((run.operator_id, index), None)
        if flight is not None:
            self._cost_accounts.update_largest_costs(run.operator_id, flight.spendings)
            self._settle(run, index, flight.spendings)

    def charge_too_small(self, run: OperatorExecution, index: int) -> None:
        """Charge an episode whose allowance was too small, and double the allowance for the next one."""
        flight = self._flights.pop((run.operator_id, index), None)
        if flight is None:
            return
        self._settle(run, index, flight.spendings)
        for slot, had in flight.allowances.items():
            payer = self._cost_accounts.of(run.operator_id)[slot]
            payer.need = (payer.need or NOTHING).most(had * (2 / MARGIN))

    def charge_lost(self, run: OperatorExecution, index: int, *, begun: bool) -> None:
        """Charge an episode whose process has died or was stopped.

        If it had ``begun``, requests in flight are charged with their largest possible cost.
        """
        flight = self._flights.pop((run.operator_id, index), None)
        if flight is not None:
            spendings = {slot: flight.spendings.get(slot, SlotSpending()) for slot in flight.allowances}
            if begun:
                payers = self._cost_accounts.of(run.operator_id)
                spendings = {slot: flight.cut_off(slot, payers[slot].at_once) for slot in spendings}
            self._settle(run, index, spendings)

    def charge_restarted(self, run: OperatorExecution, index: int) -> None:
        """Charge the requests in flight of an episode that begins again because its worker was lost."""
        flight = self._flights.get((run.operator_id, index))
        if flight is not None:
            payers = self._cost_accounts.of(run.operator_id)
            flight.spendings = {
                s: spending.cut_off(payers[s].at_once) for s, spending in flight.spendings.items()
            }

    def close(self) -> None:
        """Charge all running episodes and close the ledger, because nothing more is played."""
        for operator, index in list(self._flights):
            run = next(run for run in self._runs if run.operator_id == operator)
            self.charge_lost(run, index, begun=True)
        if self._ledger is not None:
            if self._cost_accounts.budgets or self.limits_time:
                with self._writing():
                    self._ledger.settle("", {}, self.elapsed_s)
            self._claim()
            self._ledger = None

    def _settle(self, run: OperatorExecution, index: int, spendings: Mapping[str, SlotSpending]) -> None:
        taken = {slot: spending.paid + spending.open for slot, spending in spendings.items()}
        self._settle_slots(run.operator_id, index, taken)
        self._claim()

    def _settle_slots(self, operator: str, index: int, taken: Mapping[str, Amount]) -> None:
        assert self._ledger is not None
        with self._writing():
            spent = self._cost_accounts.by_account(operator, taken)
            self._ledger.settle(_ticket(operator, index), spent, self.elapsed_s)

    @contextmanager
    def _writing(self) -> Generator[None]:
        """Catch errors of writing the ledger, and store them in :attr:`problem`.

        Amounts that cannot be written stay reserved in the ledger; ``--resume`` settles them from the calls.
        """
        try:
            yield
        except OSError as exc:
            why = f"the ledger of the run's budgets cannot be written: {exc.strerror}"
            fix = "Free some space, then continue with `mosaic run --resume`"
            self.problem = self.problem or str(RecordingError(why, fix=fix))

    # -- a shard's part of the budgets -----------------------------------------------

    @property
    def waits_for_lease(self) -> bool:
        """Whether paying players must wait because the coordinator has not renewed the shard's lease."""
        return self._lease is not None and bool(self._flights) and not self._lease.is_held

    def read_lease(self) -> bool:
        """Read the shard's current lease; return whether more episodes may begin than before."""
        return self._lease is not None and self._lease.read_current()

    def request_more(self) -> bool:
        """Ask the coordinator for more budget when no episode can begin; return whether more may come."""
        if self._lease is None:
            return False
        if self._lease.is_held and self._lease.is_last:
            self._lease.ended = True
            return False
        self._claim(waits=True)
        return True

    def _claim(self, *, waits: bool = False) -> None:
        """Report the shard's spending and needs to the coordinator."""
        if self._lease is None or self._ledger is None:
            return
        paying = [run for run in self._runs if self._cost_accounts.of(run.operator_id)]
        waiting = [(plans[0], run) for run in paying for plans in (run.suspects, run.pending) if plans]
        rest: dict[str, Amount] = {}
        for run in paying:
            left = len(run.pending) + len(run.suspects)
            for account, amount in self._cost_accounts.need(run.operator_id).items():
                rest[account] = rest.get(account, NOTHING) + amount * left
        unknown = any(self._cost_accounts.unknown(run.operator_id) for _, run in waiting)
        first = min(waiting, key=lambda each: each[0].index // len(each[1].resolved.seatings), default=None)
        next_ = {} if first is None else self._needed(first[1], first[0])
        self._lease.claim(None if unknown else next_, rest, waits=waits)

    # -- messages -----------------------------------------------------------------------

    @property
    def elapsed_s(self) -> float:
        """Seconds that the run has taken, including earlier parts of a resumed run."""
        return self._before + time.monotonic() - self._since

    def unplayed_reason(self) -> str:
        """Return why episodes remain unplayed, as a sentence; ``""`` if none remain."""
        left = sum(len(run.pending) for run in self._runs)
        total = sum(run.total for run in self._runs)
        if not left:
            return ""
        end = f"{left:,} of {wording.count(total, 'episode')} are left unplayed"
        if self.elapsed_s >= self._seconds:
            return f"the run has used its time budget of {self._seconds:g} s (raise --time-budget); {end}"
        run = next(run for run in self._runs if run.pending and not self.allows(run, run.pending[0]))
        return f"{self.budget_message(run, run.pending[0])}; {end}"

    def budget_message(self, run: OperatorExecution, plan: EpisodePlan) -> str:
        """Return which budget does not suffice for an episode, as a clause for a message."""
        assert self._ledger is not None
        return budget_message(self._ledger, self._cost_accounts.budgets, self._needed(run, plan))


def _within(amount: Amount, room: RemainingBudget) -> bool:
    return amount.tokens <= room.tokens and amount.usd <= room.usd + ROUNDING


def _count_below(run: OperatorExecution, last: int) -> int:
    """Return the number of an operator's waiting episodes with an index below ``last``."""
    found = 0
    for plan in run.pending:
        if plan.index >= last:
            break
        found += 1
    return found + sum(plan.index < last for plan in run.suspects)


def _ticket(operator: str, index: int) -> str:
    return f"{operator}/{index}"


def _rows(path: Path) -> Iterable[Mapping[str, Any]]:
    return (line.value for line in read_lines(path))
