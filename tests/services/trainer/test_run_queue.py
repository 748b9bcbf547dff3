"""The machine is shared out without ever giving anything twice, and no run waits forever."""

from __future__ import annotations

import os
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gym_gui.core.errors import QueueFullError, UsageError
from gym_gui.services.trainer.queue import (
    AGEING_S,
    PATIENCE_S,
    Claim,
    Grant,
    Machine,
    RunQueue,
)
from gym_gui.services.trainer.training_records import RunLimits

SMALL = Machine((0, 1), 4000)
LARGE = Machine((0, 1, 2, 3), 16000, ("0", "1"))


@dataclass(frozen=True)
class Job:
    claim: Claim
    priority: int
    arrives: float
    lasts: float


def jobs(machine: Machine) -> st.SearchStrategy[list[Job]]:
    claims = st.builds(
        Claim,
        st.integers(1, len(machine.cores)),
        st.integers(1, machine.memory_mb),
        st.integers(0, len(machine.gpus)),
    )
    times = st.integers(0, 2000).map(float)
    lengths = st.integers(1, 900).map(float)
    return st.lists(st.builds(Job, claims, st.integers(-3, 3), times, lengths), min_size=1, max_size=20)


@settings(max_examples=150, deadline=None)
@given(st.sampled_from([SMALL, LARGE]).flatmap(lambda m: st.tuples(st.just(m), jobs(m))))
def test_nothing_is_given_twice_and_none_starves(case: tuple[Machine, list[Job]]) -> None:
    machine, work = case
    queue, now, started = RunQueue(machine), 0.0, dict[str, float]()
    running: dict[str, tuple[float, Grant]] = {}
    todo = {f"r{k}": job for k, job in enumerate(work)}
    arrived: set[str] = set()
    while len(started) < len(todo) or running:
        for run_id, job in todo.items():
            if run_id not in arrived and job.arrives <= now:
                arrived.add(run_id)
                queue.add(run_id, job.claim, job.priority, job.arrives)
        for run_id in [r for r, (end, _) in running.items() if end <= now]:
            queue.release(run_id)
            del running[run_id]
        for run_id, grant in queue.start(now):
            claim = todo[run_id].claim
            assert (len(grant.cores), grant.memory_mb, len(grant.gpus)) == (
                claim.cores,
                claim.memory_mb,
                claim.gpus,
            )
            started[run_id] = now
            running[run_id] = (now + todo[run_id].lasts, grant)
        cores = [core for _, grant in running.values() for core in grant.cores]
        gpus = [gpu for _, grant in running.values() for gpu in grant.gpus]
        assert len(set(cores)) == len(cores)
        assert set(cores) <= set(machine.cores)
        assert len(set(gpus)) == len(gpus)
        assert set(gpus) <= set(machine.gpus)
        assert sum(grant.memory_mb for _, grant in running.values()) <= machine.memory_mb
        ends = [end for end, _ in running.values()]
        arrivals = [job.arrives for r, job in todo.items() if r not in arrived]
        # Room that no run uses although one waits is handed out within the patience of one.
        assert ends or arrivals or len(started) == len(todo), f"{queue.order(now)} wait for nothing"
        now = min([*ends, *arrivals], default=now)
    assert set(started) == set(todo)


def test_a_large_run_of_low_priority_starts_though_small_ones_keep_coming() -> None:
    queue, now, number = RunQueue(SMALL), 0.0, 0
    queue.add("large", Claim(cores=2, memory_mb=100), priority=-2, since=0.0)
    running: list[tuple[float, str]] = []
    while True:
        # Two cores' worth of small runs, whose ends never coincide.
        while len(queue) < 4:
            number += 1
            queue.add(f"small{number}", Claim(1, 100), priority=3, since=now)
        for end, run_id in running:
            if end <= now:
                queue.release(run_id)
        running = [(end, run_id) for end, run_id in running if end > now]
        begun = queue.start(now)
        if any(run_id == "large" for run_id, _ in begun):
            break
        running += [(now + 20.0 + 7.0 * (k % 2), run_id) for k, (run_id, _) in enumerate(begun)]
        now += 1.0
        assert now < PATIENCE_S + 6 * AGEING_S, "the large run starves"


def test_the_order_is_priority_then_age_and_age_wins_in_the_end() -> None:
    queue = RunQueue(SMALL)
    queue.add("old", Claim(), 0, 0.0)
    queue.add("urgent", Claim(), 2, 30.0)
    queue.add("young", Claim(), 0, 30.0)
    assert queue.order(31.0) == ["urgent", "old", "young"]
    late = 10 * AGEING_S
    queue.add("urgent too", Claim(), 2, late)
    assert queue.order(late) == ["urgent", "old", "young", "urgent too"]


def test_small_runs_go_ahead_of_one_that_does_not_fit_until_it_has_waited_long() -> None:
    queue = RunQueue(SMALL)
    queue.occupy("running", Grant((0,), 100))
    queue.add("large", Claim(2, 100), 0, 0.0)
    queue.add("small", Claim(1, 100), 0, 1.0)
    assert [run_id for run_id, _ in queue.start(2.0)] == ["small"]
    queue.release("small")
    queue.add("another", Claim(1, 100), 0, 3.0)
    assert queue.start(PATIENCE_S + 1) == []
    assert queue.lacking("large") == "cores"
    queue.release("running")
    ((run_id, grant),) = queue.start(PATIENCE_S + 2)
    assert (run_id, grant.cores) == ("large", (0, 1))


def test_waiting_for_a_gpu_holds_up_nobody_who_needs_none() -> None:
    queue = RunQueue(Machine((0, 1), 4000, ("0",)))
    queue.occupy("running", Grant((0,), 100, ("0",)))
    queue.add("gpu", Claim(1, 100, 1), 5, 0.0)
    queue.add("cpu", Claim(1, 100), 0, 0.0)
    ((run_id, grant),) = queue.start(10 * PATIENCE_S)
    assert (run_id, grant.cores, grant.gpus) == ("cpu", (1,), ())
    assert queue.lacking("gpu") == "cores and GPUs"


def test_one_that_is_held_waits_and_holds_up_nobody() -> None:
    queue = RunQueue(SMALL)
    queue.add("held", Claim(2, 4000), 9, 0.0, held=True)
    queue.add("free", Claim(), 0, 0.0)
    assert [run_id for run_id, _ in queue.start(10 * PATIENCE_S)] == ["free"]
    queue.release("free")
    queue.set_paused("held", False)
    assert [run_id for run_id, _ in queue.start(10 * PATIENCE_S)] == ["held"]


def test_what_others_use_counts() -> None:
    queue = RunQueue(SMALL)
    queue.occupy("elsewhere", Grant(elsewhere=1))
    queue.add("a", Claim(1, 1000), 0, 0.0)
    queue.add("b", Claim(1, 1000), 0, 1.0)
    assert [run_id for run_id, _ in queue.start(2.0)] == ["a"]
    queue.release("elsewhere")
    assert queue.start(3.0, available_mb=500.0) == []
    assert queue.lacking("b", 500.0) == "memory"
    queue.uses("a", 3500.5)  # far more than it was expected to
    assert queue.start(3.0, available_mb=9000.0) == []
    queue.release("a")
    # Nothing of ours runs: whatever the rest of the machine does, one is tried.
    assert [run_id for run_id, _ in queue.start(3.0, available_mb=500.0)] == ["b"]


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        (RunLimits(cpu_cores=3), "3 cores are requested, but this machine has 2 cores"),
        (RunLimits(cpu_cores=0), "at least 1 core"),
        (RunLimits(memory_mb=4001), "4001 MB of memory are requested, but a run may have 1 to 4000 MB"),
        (RunLimits(gpus=1), "1 GPUs are requested, but this machine has no GPU"),
    ],
)
def test_more_than_the_machine_has_is_refused_with_the_numbers(limits: RunLimits, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        RunQueue(SMALL).check(limits)


def test_gpus_are_named() -> None:
    RunQueue(LARGE).check(RunLimits(4, 16000, 2, 1.0))
    with pytest.raises(UsageError, match="3 GPUs are requested, but this machine has GPUs 0, 1"):
        RunQueue(LARGE).check(RunLimits(gpus=3))


def test_a_full_queue_takes_no_more() -> None:
    queue = RunQueue(SMALL, capacity=2)
    for run_id in "ab":
        queue.check_length()
        queue.add(run_id, Claim(), 0, 0.0)
    with pytest.raises(QueueFullError, match="the queue is full: 2 trainings wait"):
        queue.check_length()
    queue.drop("a")
    queue.check_length()


def test_this_machine_is_what_this_process_may_use() -> None:
    machine = Machine.here(("0",))
    assert set(machine.cores) == os.sched_getaffinity(0)
    assert 0 < machine.memory_mb < os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**20
    assert machine.gpus == ("0",)
