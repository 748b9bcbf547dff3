"""How a submission is seen by who looks at it: by its record, and what changes from look to look."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from gym_gui.core.experiment.spending import Amount
from gym_gui.services.experiment_file import load_experiment
from gym_gui.services.run_lock import lock_run
from gym_gui.services.submissions.all_runs import AllRuns
from gym_gui.services.submissions.budget_leases import BudgetLeases
from gym_gui.services.submissions.bundle import write_bundle
from gym_gui.services.submissions.follower import following
from gym_gui.services.submissions.host_state import note_answer, save_log_tail
from gym_gui.services.submissions.overview import SubmissionWatch
from gym_gui.services.submissions.submission_record import (
    COLLECTED,
    FAILED,
    NAME,
    SENT,
    WAITING,
    PlaceState,
    ShardState,
    Submission,
    open_submission,
)
from tests.support.commands import experiment


@pytest.fixture
def submission(tmp_path: Path) -> Submission:
    """Six shards: finished, running, in the queue, lost, failed, not begun."""
    runs = tmp_path / "runs"
    found = Submission(runs / "submissions" / "01SUB", "slurm", {}, "run", 6, 24, runs)
    file = experiment(tmp_path, {"id": "a", "name": "Chance"}, {"id": "b", "name": "Turns"}, num_episodes=12)
    write_bundle(found.bundle, load_experiment(file, allow_code=False), [])
    found.states = {
        1: ShardState(COLLECTED, "slurm", 1, done=4, node="node1", job="7_1"),
        2: ShardState(SENT, "slurm", 1, done=1, playing=True, node="node2", job="7_2"),
        3: ShardState(SENT, "slurm", 1, job="7_3"),
        4: ShardState(WAITING, "slurm", 1, lost=1, problem="slurm: its job ended: node fail", node="node1"),
        5: ShardState(FAILED, "slurm", 3, lost=3, problem="slurm: ended with exit status 1", node="node2"),
    }
    found.places = {"slurm": PlaceState("2026-11-28T14:00:00+00:00")}
    found.began_at = "2026-11-28T13:00:00+00:00"
    save_log_tail(found.log(5, 3), ["Traceback", "ValueError: no such key"])
    found.save()
    return found


def test_each_shard_and_each_machine_says_what_the_record_does(submission: Submission) -> None:
    seen = SubmissionWatch(submission.folder).overview()
    states = ["collected", "playing", "queued", "lost", "failed", "waiting"]
    assert [row.state for row in seen.shards] == states
    assert (seen.title, seen.tasks) == ("Chance and Turns", ("CartPole-v1",))
    assert (seen.done, seen.followed, seen.rate, seen.left_s) == (5, None, None, None)
    places = {row.name: (row.playing, row.queued, row.here, row.done) for row in seen.places}
    assert places == {"node1": (0, 0, 1, 4), "node2": (1, 0, 0, 1), "slurm": (0, 1, 0, 0)}
    assert all(row.heard_at and row.heard_at.hour == 14 for row in seen.places)
    assert [row.number for row in seen.shards if row.log] == [5]
    assert seen.shards[1].job == "7_2"


def test_speed_and_what_is_left_come_from_looks_and_only_while_it_is_followed(
    submission: Submission, clock: Callable[[float], None]
) -> None:
    watch = SubmissionWatch(submission.folder)
    with following(submission.folder):
        clock(0)
        first = watch.overview()
        assert first.followed is not None and first.followed.is_here and first.rate is None
        submission.states[2].done = 3
        submission.save()
        clock(8)
        seen = watch.overview()
        assert (seen.rate, seen.left_s) == (0.25, (24 - 7) / 0.25)
        assert {row.name: row.rate for row in seen.places}["node2"] == 0.25
        submission.due = [1, 2]  # until it is decided: how much there is to play is not known
        submission.save()
        clock(9)
        assert watch.overview().left_s is None
    assert watch.overview().rate is None


@pytest.fixture
def clock(submission: Submission) -> Callable[[float], None]:
    """Sets when its record was written last, in seconds."""

    def at(seconds: float) -> None:
        os.utime(submission.folder / NAME, (1e9 + seconds, 1e9 + seconds))

    return at


def test_what_was_handed_out_of_a_shared_budget_is_spent(submission: Submission) -> None:
    BudgetLeases(submission.folder, {"run": Amount(1000, 0.5)}, 2).save()
    (spent,) = SubmissionWatch(submission.folder).overview().budgets
    assert (spent.account, spent.tokens, spent.usd) == ("run", (0, 1000), (0.0, 0.5))


def test_it_is_one_entry_of_the_list_of_runs_until_it_is_one(submission: Submission) -> None:
    shelves = AllRuns(submission.out)

    def listed() -> list[tuple[str, str, int, int | None]]:
        found = [entry for batch in shelves.scan() for entry in batch]
        assert found == shelves.refresh()
        return [(entry.title, entry.status, entry.done, entry.planned) for entry in found]

    assert listed() == [("Chance and Turns", "failed", 5, 24)]
    lock = lock_run(submission.folder)
    try:
        assert listed() == [("Chance and Turns", "running", 5, 24)]
    finally:
        os.close(lock)
    # Another machine's locks are not seen: it is believed while its record changes.
    elsewhere = AllRuns(submission.out.parent / "mine")
    elsewhere.set_others([submission.out])
    (entry,) = (entry for batch in elsewhere.scan() for entry in batch)
    assert (entry.status, entry.elsewhere) == ("running", str(submission.out))
    os.utime(submission.folder / NAME, (1e9, 1e9))
    assert [each.status for batch in elsewhere.scan() for each in batch] == ["failed"]
    submission.run, submission.cleared = str(submission.out / "01RUN"), True
    submission.save()
    assert listed() == []
    (submission.folder / NAME).write_text("{")
    assert [status for _, status, _, _ in listed()] == ["damaged"]


def test_who_follows_is_on_record_while_it_does(submission: Submission) -> None:
    watch = SubmissionWatch(submission.folder)
    with following(submission.folder):
        follower = watch.overview().followed
        assert follower is not None and follower.pid == os.getpid()
    assert watch.overview().followed is None


def test_an_answer_is_on_record_to_ten_seconds() -> None:
    place = PlaceState(problem="away")
    note_answer(place)
    at = place.heard_at
    assert at and not place.problem
    note_answer(place)
    assert place.heard_at == at


def test_what_is_known_of_places_reads_back(submission: Submission) -> None:
    submission.place("two").given_up = True
    submission.save()
    again = open_submission(submission.folder)
    assert again.places == submission.places
    assert again.states == submission.states
