"""What shards on a cluster of Ray may spend: real keeper, nodes and book, and threads for what Ray does."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gym_gui.controllers.runs.budget_message import RUN
from gym_gui.core.experiment.leases import Claim, Lease
from gym_gui.core.experiment.spending import Amount
from gym_gui.services.shards.lease_files import CLAIM, LEASE
from gym_gui.services.submissions.archive import pack
from gym_gui.services.submissions.budget_leases import BudgetLeases
from gym_gui.services.submissions.ray import ray_node
from gym_gui.services.submissions.ray.ray_backend import seen_of
from gym_gui.services.submissions.ray.ray_keeper import Keeper
from gym_gui.services.submissions.ray.ray_node import bundle_name
from gym_gui.services.submissions.shard_status import ShardStatus
from tests.support.waiting import eventually

PLAYS = """
try=work/$1/$2
spent=$(cat work/$1/runs/spent 2>/dev/null || echo 0)
claim() {
  printf '{"number":%s,"gone":{"run":{"tokens":%s}},"keeps":{"run":{"tokens":%s}},' $1 $2 $3 >$try/new
  printf '"next":{"run":{"tokens":100}},"rest":{"run":{"tokens":300}}}' >>$try/new
  mv $try/new $try/claim
}
claim 0 $spent $spent
until [ -f $try/lease ] || [ -f stop ]; do sleep 0.05; done
[ -f stop ] && exit 0
spent=$((spent + 100))
echo $spent >$try/spent; mv $try/spent work/$1/runs/spent
claim 1 $spent $((spent + 300))
until [ -f $try/end ] || [ -f stop ]; do sleep 0.05; done
[ -f stop ] && exit 0
echo 0 >$try/code
"""
"""A shard that spends 100 tokens when it is given some, and would spend 300 more."""


class Threads:
    """Ray's part, by its names: tasks are threads on one of two nodes, and answers are there at once."""

    def __init__(self) -> None:
        self.pool, self.node = ThreadPoolExecutor(4), "one"
        self.actors: list[Actor] = []
        self.tasks: list[Future[None]] = []
        self.lost: set[Future[None]] = set()

    def get(self, answer: Any) -> Any:
        if not isinstance(answer, Future):
            return answer.value
        if answer in self.lost:
            raise RuntimeError("the node is dead")
        return answer.result()

    def wait(self, tasks: Sequence[Any], **_: Any) -> tuple[list[Any], list[Any]]:
        return [task for task in tasks if task in self.lost or task.done()], []

    def remote(self, function: Callable[..., None]) -> Any:
        def begin(*arguments: Any) -> Future[None]:
            self.tasks.append(self.pool.submit(function, *arguments))
            return self.tasks[-1]

        return SimpleNamespace(options=lambda **_: SimpleNamespace(remote=begin))

    def get_runtime_context(self) -> Any:
        return SimpleNamespace(get_node_id=lambda: self.node * 16, current_actor=self.actors[-1])


class Actor:
    """What tasks ask the keeper by: one question at a time, and none while they are cut off."""

    def __init__(self, keeper: Keeper) -> None:
        self._keeper, self._lock = keeper, threading.Lock()
        self.reached, self.is_dead = threading.Event(), False
        self.reached.set()

    def __getattr__(self, method: str) -> Any:
        def ask(*arguments: Any) -> Any:
            self.reached.wait()
            if self.is_dead:
                raise ConnectionError("the actor is dead")
            with self._lock:
                return SimpleNamespace(value=getattr(self._keeper, method)(*arguments))

        return SimpleNamespace(remote=ask)


class Submitted:
    """A submission of one shard, and who coordinates it.

    Attributes:
        ray: Ray's part.
        folder: The submission's; and the home of nodes.
        keeper: Who keeps it.
        book: Its budget, 1,000 tokens.
    """

    def __init__(self, folder: Path, ray: Threads) -> None:
        self.ray, self.folder = ray, folder
        (folder / "bundle").mkdir()
        (folder / "bundle" / "play.sh").write_text(PLAYS)
        pack(folder / "bundle", folder / "packed")
        self.book = BudgetLeases(folder, {RUN: Amount(1000)}, 1)
        self.keep()

    def keep(self) -> None:
        """Begin a keeper."""
        self.keeper = Keeper("study", "nodes")
        self.ray.actors.append(Actor(self.keeper))
        plan = {
            "name": "study",
            "folder": "nodes",
            "digest": "d1",
            "options": {},
            "check": "exit 0\n",
            "mark": "mark",
            "expected": "",
            "allowed": "[]",
            "allowed_name": "allowed.json",
            "claim_name": CLAIM,
            "lease_name": LEASE,
        }
        assert self.keeper.is_new() and not self.keeper.is_new()
        if not self.keeper.use(plan):
            self.keeper.put(bundle_name(plan), 0, (self.folder / "packed").read_bytes())
            self.keeper.put(bundle_name(plan), 0, b"")

    def look(self, attempt: int) -> ShardStatus:
        """Look at a try, and tell the book."""
        ((number, _, row),), _ = self.keeper.look([(1, attempt)])
        seen = seen_of(row)
        about = {"is_over": seen.is_over, "holder": seen.holder, "after": seen.after}
        self.book.record_claim(number, "ray", seen.claim, is_live=seen.running, **about)
        return seen

    def give(self, attempt: int, number: int) -> Lease:
        """Have a try claim something, and give it a lease until it has seen that."""

        def is_seen() -> bool:
            seen = self.look(attempt)
            assert seen.running, seen.said
            if not (claim := Claim.from_line(seen.claim)):
                return False
            self.book.grant_budgets(more_to_come=False)
            self.keeper.tell({seen.holder: self.book.lease(1, "ray", seen.holder)})
            return claim.number == number

        eventually(is_seen, "it has seen its lease")
        lease = Lease.from_line(self.book.lease(1, "ray", self.look(attempt).holder))
        assert lease is not None
        return lease

    def file(self, node: str, attempt: int, name: str) -> Path:
        """A file of a try's folder on a node."""
        return self.folder / "nodes" / "study" / f"{(node * 16)[:16]}-d1" / "work" / "1" / f"{attempt}" / name

    @property
    def tokens(self) -> int:
        """What counts as spent."""
        return self.book.spent(RUN).tokens


@pytest.fixture
def submitted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Submitted]:
    ray = Threads()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setitem(sys.modules, "ray", ray)
    monkeypatch.setattr(ray_node, "SAVE_S", 0.0)
    yield Submitted(tmp_path, ray)
    for actor in ray.actors:
        actor.is_dead = True  # so its tasks end
        actor.reached.set()
    ray.pool.shutdown()


@pytest.mark.full
def test_a_node_that_is_cut_off_has_spent_what_it_was_given_and_gets_no_more(submitted: Submitted) -> None:
    ray, keeper = submitted.ray, submitted.keeper
    keeper.begin([(1, 1)])
    first = submitted.give(1, 1).amounts[RUN].tokens
    assert first >= 200
    eventually(lambda: keeper.saved(1), "what was played was brought to the keeper")
    ray.actors[0].reached.clear()
    ray.actors.append(Actor(keeper))
    ray.lost.add(ray.tasks[0])
    seen = submitted.look(1)
    assert (seen.running, seen.is_over, seen.said) == (False, False, "the node is dead")
    assert submitted.tokens == first, "it plays on, for all that is known"

    ray.node = "two"
    keeper.begin([(1, 2)])
    second = submitted.give(2, 1).amounts[RUN].tokens
    # What it began with was paid for by the first.
    assert submitted.tokens == first + second - 100
    ray.actors[0].reached.set()
    ray.tasks[0].exception(30)
    keeper.tell({seen.holder: submitted.book.lease(1, "ray", seen.holder)})
    assert keeper.claim(1, 1, seen.holder, "late", "") == ""
    ((_, _, row),), _ = keeper.look([(1, 1)])
    assert (row["state"], row["claim"]) == ("lost", seen.claim), "what it tells late changes nothing"

    submitted.file("two", 2, "end").touch()
    eventually(lambda: not submitted.look(2).running, "the second try has ended")
    assert submitted.look(2).is_over and submitted.tokens == first + 100
    assert submitted.book.uncollected_spending({RUN: Amount(200)}) == {RUN: Amount(first - 100)}


@pytest.mark.full
def test_a_lost_keeper_has_nothing_spent_twice(submitted: Submitted) -> None:
    ray = submitted.ray
    submitted.keeper.begin([(1, 1)])
    first = submitted.give(1, 1).amounts[RUN].tokens
    old = submitted.look(1).holder
    ray.actors[0].is_dead = True
    assert isinstance(ray.tasks[0].exception(60), ConnectionError)
    reopened = BudgetLeases.open(submitted.folder)
    assert reopened is not None
    submitted.book = reopened
    submitted.keep()
    assert submitted.look(1).said == "the cluster no longer knows it"
    assert submitted.tokens == first
    # What was meant for the one before does not reach the same try, played again.
    submitted.keeper.tell({old: submitted.book.lease(1, "ray", old)})
    submitted.keeper.begin([(1, 1)])
    eventually(lambda: submitted.look(1).claim, "it has claimed something")
    seen = submitted.look(1)
    assert seen.holder != old and seen.after == old
    assert not submitted.file("one", 1, LEASE).exists()
    assert submitted.tokens == 100, "the first has ended there, and left all that it has spent"
    second = submitted.give(1, 1).amounts[RUN].tokens
    assert submitted.tokens == second


def test_a_shard_that_leaves_no_exit_status_may_play_on(submitted: Submitted) -> None:
    submitted.keeper.begin([(1, 1)])
    first = submitted.give(1, 1).amounts[RUN].tokens
    submitted.file("one", 1, "").joinpath("../../../stop").touch()
    eventually(lambda: not submitted.look(1).running, "its task has ended")
    assert not submitted.look(1).is_over and submitted.tokens == first
