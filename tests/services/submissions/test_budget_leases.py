"""One budget over many shards: even if shards are killed, cut off or late, all together keep to it."""

from __future__ import annotations

import json
import random
import tempfile
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gym_gui.controllers.runs.budget_message import RUN, budget_message
from gym_gui.controllers.runs.cost_accounts import CostAccounts
from gym_gui.controllers.runs.shard_lease import ShardLease
from gym_gui.core.errors import RunFormatError
from gym_gui.core.experiment.leases import Claim, Lease
from gym_gui.core.experiment.spending import NOTHING, Amount
from gym_gui.services.runs.budget_ledger import BudgetLedger
from gym_gui.services.shards.lease_files import CLAIM, LEASE, LeaseFiles
from gym_gui.services.submissions.budget_leases import NAME, BudgetLeases

NEED = Amount(100, 0.5)
"""What an episode needs, at most."""
LEASE_S = 60.0


class Shard:
    """A shard without episodes: its own books, its lease, and what it says; each try has a folder."""

    def __init__(self, number: int, place: str, folder: Path, whole: Amount, episodes: int) -> None:
        self.number, self.place, self.left, self._whole = number, place, episodes, whole
        self.folder, self.tries, self.now = folder, 0, 0.0
        self.flights: list[str] = []
        self.before = NOTHING
        self.begin_try()

    def begin_try(self) -> None:
        """A process begins, with what ``before`` says that was spent before."""
        self.tries += 1
        self.here = self.folder / f"{self.number}-{self.place}-{self.tries}"
        self.here.mkdir()
        self.ledger = BudgetLedger(None, {RUN: self._whole})
        self.ledger.settle("before", {RUN: self.before})
        self.files = LeaseFiles(self.here, lambda: self.now)
        self.lease = ShardLease(self.files, CostAccounts(self._whole, []), self.ledger)
        self.is_up = True
        self.say()

    @property
    def spent(self) -> Amount:
        """What it has really spent, or may with what is under way."""
        return self.ledger.spent_and_reserved(RUN)

    @property
    def has_room(self) -> bool:
        room = self.ledger.remaining(RUN)
        return self.files.is_held and NEED.tokens <= room.tokens and NEED.usd <= room.usd

    def say(self) -> None:
        rest = {RUN: NEED * self.left}
        waits = not self.flights and bool(self.left) and not self.has_room
        self.lease.claim({RUN: NEED} if self.left else {}, rest, waits=waits)

    def look(self) -> None:
        self.now += 1.0
        self.lease.read_current()
        self.say()

    def begin(self) -> None:
        if self.is_up and self.left and self.has_room:
            self.left -= 1
            self.flights.append(f"{self.left}")
            assert self.ledger.reserve(self.flights[-1], {RUN: NEED})
            self.say()

    def finish(self, part: float) -> None:
        if self.is_up and self.flights:
            self.ledger.settle(self.flights.pop(0), {RUN: NEED * part})
            self.say()

    def kill(self, part: float) -> None:
        """Of what was under way, a part has been paid for."""
        for ticket in self.flights:
            self.ledger.settle(ticket, {RUN: NEED * part})
            self.left += 1
        self.flights.clear()
        self.before, self.is_up = self.ledger.spent(RUN), False

    @property
    def said(self) -> str:
        return (self.here / CLAIM).read_text()


ACTIONS = st.tuples(
    st.sampled_from(("look", "hear", "hear", "tell", "begin", "begin", "finish", "kill", "lose", "restart")),
    st.integers(0, 3),
    st.floats(0, 1),
)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2500), st.floats(0, 12), st.lists(ACTIONS, max_size=120))
def test_all_together_never_spend_more(
    tokens: int, usd: float, actions: list[tuple[str, int, float]]
) -> None:
    whole = Amount(tokens + 1, usd + 0.01)
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        book = BudgetLeases(folder, {RUN: whole}, 4, lease_s=LEASE_S)
        shards = [Shard(number, "one" if number < 2 else "two", folder, whole, 6) for number in range(4)]
        gone: list[Shard] = []
        for action, which, part in actions:
            shard = shards[which]
            if action == "hear":
                if not shard.is_up:
                    book.record_claim(shard.number, shard.place, shard.said, is_live=False)
                    shard.begin_try()
                book.record_claim(shard.number, shard.place, shard.said, is_live=True)
                book.grant_budgets(more_to_come=False)
                told = book.lease(shard.number, shard.place)
                if part > 0.3:  # else who coordinates is killed before it tells
                    (shard.here / LEASE).write_text(f"{told}\n")
            elif action == "look" and shard.is_up:
                shard.look()
            elif action == "begin":
                shard.begin()
            elif action == "finish":
                shard.finish(part)
            elif action == "kill" and shard.is_up:
                shard.kill(part)
            elif action == "lose":
                # Its place is heard of no more, and it plays on there; another place begins it anew.
                book.charge_lost_host(shard.place)
                gone.append(shard)
                other = f"{shard.place}-{len(gone)}"
                shards[which] = Shard(shard.number, other, folder, whole, 6)
            elif action == "restart":
                again = BudgetLeases.open(folder, lease_s=LEASE_S)
                book = again or book
            for lost in gone:
                lost.look()
                lost.begin()
            total = sum((each.spent for each in (*shards, *gone)), NOTHING)
            assert total.tokens <= whole.tokens and total.usd <= whole.usd + 1e-6


class Try(Shard):
    """A shard on a node that may be lost: each playing of it holds a lease of its own."""

    def __init__(self, number: int, holder: str, folder: Path, whole: Amount, begins_with: Saved) -> None:
        self.holder, self.after = holder, begins_with.after
        super().__init__(number, holder, folder, whole, begins_with.left)
        self.before = self.base = begins_with.spent
        self.begin_try()
        self.saved = begins_with.spent, begins_with.left

    @property
    def spent(self) -> Amount:
        """What it has really spent itself."""
        return self.ledger.spent_and_reserved(RUN) - self.base

    def save(self) -> None:
        """What is brought elsewhere: what is under way has to be played again, and is paid for."""
        self.saved = self.ledger.spent_and_reserved(RUN), self.left + len(self.flights)

    def hear(self, book: BudgetLeases, said: str, *, is_live: bool = True, is_over: bool = True) -> None:
        about = {"holder": self.holder, "after": self.after}
        book.record_claim(self.number, "ray", said, is_live=is_live, is_over=is_over, **about)

    def told(self, book: BudgetLeases) -> None:
        (self.here / LEASE).write_text(book.lease(self.number, "ray", self.holder))


class Saved(NamedTuple):
    """What a try begins with.

    Attributes:
        spent: By its books.
        left: Episodes that it has to play.
        after: Who has left it, and has ended.
    """

    spent: Amount
    left: int
    after: str = ""


def heard(book: BudgetLeases, *shards: Shard, more_to_come: bool = False) -> None:
    """Everybody is looked at once, told, and looks."""
    for shard in shards:
        book.record_claim(shard.number, shard.place, shard.said, is_live=shard.is_up)
    book.grant_budgets(more_to_come=more_to_come)
    for shard in shards:
        if shard.is_up:
            (shard.here / LEASE).write_text(book.lease(shard.number, shard.place))
            shard.look()


def play(book: BudgetLeases, *shards: Shard, part: float = 1.0) -> None:
    """Play until nothing more is given."""
    for _ in range(60):
        heard(book, *shards)
        for shard in shards:
            shard.begin()
            shard.finish(part)


def test_what_is_left_is_played_and_then_it_has_ended(tmp_path: Path) -> None:
    whole = Amount(1250, 0.0)
    book = BudgetLeases(tmp_path, {RUN: whole}, 2)
    shards = [Shard(number, "one", tmp_path, whole, 20) for number in (1, 2)]
    play(book, *shards)
    played = [20 - each.left for each in shards]
    assert book.ended and sum(played) == 12 and book.spent(RUN).tokens == 1200
    assert all(each.lease.is_last for each in shards)
    assert budget_message(book, book.budgets, book.needed) == (
        "the token budget of the run does not suffice for another episode: 1,200 of 1,250 spent, and the "
        "next may take 100 (raise --token-budget)"
    )


def test_who_ends_gives_back_what_it_did_not_spend(tmp_path: Path) -> None:
    whole = Amount(1000, 0.0)
    book = BudgetLeases(tmp_path, {RUN: whole}, 1)
    first = Shard(1, "one", tmp_path, whole, 8)
    heard(book, first)
    assert book.left(RUN).tokens < 1000
    first.begin()
    first.kill(0.5)
    book.record_claim(1, "one", first.said, is_live=False)
    assert book.left(RUN).tokens == 900, (
        "what was under way counts as spent until the shard reports otherwise"
    )
    first.begin_try()
    heard(book, first)
    assert book.spent(RUN).tokens >= first.spent.tokens == 50


def test_what_is_not_known_counts_as_spent(tmp_path: Path) -> None:
    whole = Amount(1000, 0.0)
    book = BudgetLeases(tmp_path, {RUN: whole}, 1)
    heard(book, Shard(1, "one", tmp_path, whole, 10))
    given = book.spent(RUN)
    assert given.tokens >= 100
    book.charge_lost_host("one")
    other = Shard(1, "two", tmp_path, whole, 10)
    play(book, other)
    assert book.uncollected_spending({RUN: other.spent}) == {RUN: given}, "what nothing came back from"
    assert book.uncollected_spending({RUN: book.spent(RUN)}) == {}
    assert other.spent.tokens + given.tokens <= 1000 and other.spent.tokens >= 900 - given.tokens


def test_nobody_spends_who_hears_nothing_and_goes_on_when_it_does(tmp_path: Path) -> None:
    whole = Amount(1000, 0.0)
    book = BudgetLeases(tmp_path, {RUN: whole}, 1, lease_s=LEASE_S)
    shard = Shard(1, "one", tmp_path, whole, 4)
    heard(book, shard)
    assert shard.has_room
    shard.now += LEASE_S  # by its own clock, whatever others say the time is
    assert not shard.has_room
    shard.look()
    assert not shard.has_room, "the same lease is no new one"
    heard(book, shard)
    assert shard.has_room


def test_one_finds_out_what_an_episode_needs_and_all_are_told(tmp_path: Path) -> None:
    whole = Amount(1000, 0.0)
    book = BudgetLeases(tmp_path, {RUN: whole}, 4)
    unknown = (
        '{"number":%d,"gone":{"run":{"tokens":0,"usd":0}},"keeps":{},"next":null,"rest":{},"waits":true}'
    )
    for number in (1, 2, 3):
        book.record_claim(number, "one", unknown % 0, is_live=True)
    book.grant_budgets(more_to_come=False)
    given = [Lease.from_line(book.lease(number, "one")) for number in (1, 2, 3)]
    assert [lease.amounts[RUN].tokens for lease in given if lease] == [500, 0, 0]
    found = {"a": {"agent_0": {"tokens": 70, "usd": 0}}}
    row = {**json.loads(unknown % 1), "next": {"run": {"tokens": 70, "usd": 0}}, "needs": found}
    book.record_claim(1, "one", json.dumps(row), is_live=True)
    told = Lease.from_line(book.lease(2, "one"))
    assert told is not None and told.needs == {"a": {"agent_0": Amount(70, 0.0)}}


def test_shards_that_are_begun_again_may_bring_something_back(tmp_path: Path) -> None:
    whole = Amount(150, 0.0)
    book = BudgetLeases(tmp_path, {RUN: whole}, 2)
    one, two = (Shard(number, "one", tmp_path, whole, 3) for number in (1, 2))
    heard(book, one, two)
    one.begin()
    heard(book, one, two)
    one.kill(0.0)
    heard(book, one, two, more_to_come=True)
    heard(book, one, two, more_to_come=True)
    assert not book.ended
    one.begin_try()
    heard(book, one, two)
    heard(book, one, two)
    assert not book.ended and (one.has_room or two.has_room)


@pytest.mark.parametrize("written", ["", "[]", '{"format": 1}', '{"format": 1, "budgets": {}, "holders": 3}'])
def test_a_damaged_book_is_one_line(tmp_path: Path, written: str) -> None:
    assert BudgetLeases.open(tmp_path) is None
    (tmp_path / NAME).write_text(written)
    with pytest.raises(RunFormatError, match="damaged"):
        BudgetLeases.open(tmp_path)


@pytest.mark.parametrize("where", ["granted", "base", "gone", "budgets", "needed"])
@pytest.mark.parametrize("amount", [{"tokens": -1}, {"usd": -0.5}])
def test_a_negative_amount_is_damage(tmp_path: Path, where: str, amount: dict[str, float]) -> None:
    book = BudgetLeases(tmp_path, {RUN: Amount(1000, 1.0)}, 1)
    shard_says = Claim(0, {RUN: Amount(10, 0.1)}, {}, None, {}).to_line()
    book.record_claim(1, "one", shard_says, is_live=True)
    book.save()
    data = json.loads((tmp_path / NAME).read_text())
    (data if where in data else data["holders"][0])[where][RUN] = amount
    (tmp_path / NAME).write_text(json.dumps(data))
    with pytest.raises(RunFormatError, match="damaged"):
        BudgetLeases.open(tmp_path)


def test_a_shard_has_not_spent_less_than_nothing(tmp_path: Path) -> None:
    book = BudgetLeases(tmp_path, {RUN: Amount(1000)}, 1)
    book.record_claim(1, "one", Claim(0, {RUN: Amount(400)}, {}, None, {}).to_line(), is_live=True)
    assert book.spent(RUN) == Amount(400)
    book.save()
    data = json.loads((tmp_path / NAME).read_text())
    data["holders"][0]["base"][RUN] = {"tokens": 100_000}
    (tmp_path / NAME).write_text(json.dumps(data))
    again = BudgetLeases.open(tmp_path)
    assert again is not None and again.left(RUN) == Amount(1000)
    assert Claim.from_line(Claim(0, {RUN: Amount(-5)}, {}, None, {}).to_line()) is None


NODE_ACTIONS = (
    *("hear", "hear", "hear", "begin", "begin", "finish", "finish", "save"),
    *("late", "end", "kill", "cut off", "restart"),
)


@pytest.mark.parametrize("seed", range(16))
def test_tries_that_live_beside_one_another_never_spend_more(seed: int) -> None:
    chance = random.Random(seed)
    whole = NEED * chance.randint(2, 8)
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        book = BudgetLeases(folder, {RUN: whole}, 2, lease_s=LEASE_S)
        tries = [Try(number, f"{number}-0", folder, whole, Saved(NOTHING, 30)) for number in range(2)]
        others: list[Try] = []
        known = {each.holder: each.said for each in tries}

        def begin_again(which: int, begins_with: Saved) -> None:
            others.append(tries[which])
            name = f"{which}-{len(others)}"
            tries[which] = Try(which, name, folder, whole, begins_with)
            known[name] = tries[which].said

        for _ in range(60):
            action, which, part = chance.choice(NODE_ACTIONS), chance.randrange(2), chance.random()
            each = tries[which]
            if action == "hear":
                if part > 0.3:  # else what is known of it is what it has said before
                    known[each.holder] = each.said
                each.hear(book, known[each.holder])
                book.grant_budgets(more_to_come=False)
                if part < 0.8:  # else who coordinates is killed before it tells
                    each.told(book)
                    each.look()
            elif action == "begin":
                each.begin()
            elif action == "finish":
                each.finish(part)
            elif action == "save":
                each.save()
            elif action == "late" and others:
                others[which % len(others)].hear(book, others[which % len(others)].said)
            elif action in ("end", "kill"):
                # Its task goes on to tell how it ended, or is killed and another one begins there.
                each.kill(part)
                if action == "end":
                    each.hear(book, each.said, is_live=False)
                begin_again(which, Saved(each.before, each.left, each.holder))
            elif action == "cut off":
                # It plays on, and is begun elsewhere with what was brought there last.
                each.hear(book, known[each.holder], is_live=False, is_over=False)
                begin_again(which, Saved(*each.saved))
            elif action == "restart":
                book = BudgetLeases.open(folder, lease_s=LEASE_S) or book
            for other in others:
                other.begin()
        for _ in range(20):  # at last everybody plays who can
            known_to(book, *tries)
            for each in (*tries, *others):
                each.begin()
                each.finish(1.0)
        total = sum((each.spent for each in (*tries, *others)), NOTHING)
        assert total.tokens <= whole.tokens and total.usd <= whole.usd + 1e-6


def known_to(book: BudgetLeases, *tries: Try) -> None:
    """Tries are looked at, told, and look."""
    for each in tries:
        each.hear(book, each.said)
    book.grant_budgets(more_to_come=False)
    for each in tries:
        each.told(book)
        each.look()


def test_what_a_try_begins_with_is_paid_for_once(tmp_path: Path) -> None:
    whole = Amount(1000, 0.0)
    book = BudgetLeases(tmp_path, {RUN: whole}, 1)
    first = Try(1, "a", tmp_path, whole, Saved(NOTHING, 4))
    known_to(book, first)
    first.begin()
    first.finish(1.0)
    first.save()
    known_to(book, first)
    given = Lease.from_line(book.lease(1, "ray", "a"))
    assert given is not None and given.amounts[RUN].tokens > 100
    first.hear(book, first.said, is_live=False, is_over=False)
    second = Try(1, "b", tmp_path, whole, Saved(*first.saved))
    known_to(book, second)
    lease = Lease.from_line(book.lease(1, "ray", "b"))
    assert lease is not None and second.has_room
    assert book.spent(RUN).tokens == given.amounts[RUN].tokens + lease.amounts[RUN].tokens - 100
    # The lost one plays on with what it has; whatever it says late, it gets no more of it.
    while first.has_room:
        first.begin()
        first.finish(1.0)
    assert first.spent.tokens <= given.amounts[RUN].tokens
    again = BudgetLeases.open(tmp_path)
    assert again is not None and again.spent(RUN) == book.spent(RUN)


def test_who_goes_on_where_one_ended_gets_back_what_that_had_not_spent(tmp_path: Path) -> None:
    whole = Amount(1000, 0.0)
    book = BudgetLeases(tmp_path, {RUN: whole}, 1)
    first = Try(1, "a", tmp_path, whole, Saved(NOTHING, 9))
    known_to(book, first)
    first.begin()
    known_to(book, first)
    first.kill(0.5)
    first.hear(book, first.said, is_live=False, is_over=False)
    assert book.left(RUN).tokens < 900, "it may play on, as far as the book knows"
    second = Try(1, "b", tmp_path, whole, Saved(first.before, 9, "a"))
    second.hear(book, second.said)
    assert book.spent(RUN).tokens == 50
