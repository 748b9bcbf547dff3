"""Which shards a place plays next."""

from __future__ import annotations

from pathlib import Path

import pytest

from gym_gui.services.submissions.shard_scheduler import ShardScheduler
from gym_gui.services.submissions.submission_record import SENT, WAITING, ShardState, Submission
from tests.services.submissions.test_coordinator import DONE, PLAYS, WAITS, Place


class Dealt(Place):
    """A place where one process plays several."""

    deals = True


ONE, TWO = (
    Dealt(name, lambda number, attempt: DONE, capacity) for name, capacity in (("one", 1), ("two", 3))
)


@pytest.fixture
def submission(tmp_path: Path) -> Submission:
    return Submission(tmp_path, "ssh", {}, "run", 10, 40, tmp_path)


def test_a_place_is_dealt_its_share_of_those_that_are_used(submission: Submission) -> None:
    lost: dict[str, str] = {}
    dealing = ShardScheduler(submission, [ONE, TWO], lost, None)
    assert dealing.next_batch(ONE) == [1, 2, 3], "a quarter"
    lost["two"] = "it is away"
    assert dealing.next_batch(ONE) == list(range(1, 11))


def test_what_was_begun_is_gone_on_with_where_it_was(submission: Submission) -> None:
    dealing = ShardScheduler(submission, [ONE, TWO], {}, None)
    submission.states[1] = ShardState(WAITING, "two", 1)
    assert dealing.next_batch(ONE) == [2, 3, 4]
    submission.states[1].lost = 2
    assert dealing.next_batch(ONE) == [1, 2, 3], "the last try is made elsewhere"


def test_half_of_what_waits_longest_is_taken_back(submission: Submission) -> None:
    dealing = ShardScheduler(submission, [ONE, TWO], {}, None)
    submission.states = {number: ShardState(SENT, "two", 1, batch=1) for number in range(1, 6)}
    submission.states |= {number: ShardState(SENT, "two", 1, batch=6) for number in (6, 7)}
    assert (dealing.free_processes(ONE), dealing.free_processes(TWO)) == (1, 1)
    dealing.saw(TWO, {number: PLAYS if number in (1, 6) else WAITS for number in range(1, 8)})
    assert dealing.steal_from(ONE) == (TWO, [4, 5])
    dealing.put_back(4)
    assert submission.states[4] == ShardState(tries=1)
    assert dealing.next_batch(ONE)[0] == 4
