"""A slot: questions out in batches, answers back in any order, and whatever else comes back."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gym_gui.core.types import Answer, EpisodeSummary
from gym_gui.wire import pb
from gym_gui.workers.slot import MAX_BATCH, WorkerSlot
from tests.support.little_workers import RAW, little_worker
from tests.support.staff import DOES, SEES, Table, hired, request
from tests.support.waiting import in_time

SUMMARY = {"total_reward": 0.0, "steps": 1, "seed": 0, "agent_id": "agent_0"}


def raw(folder: Path, after: str, name: str = "little_worker", **more: Any) -> Any:
    """A worker that speaks in bytes: ``after`` it has loaded its slot, this program."""
    return little_worker(folder, f"{RAW}\nbegin()\n{after}\nstay()\n", name, **more)


# -- answers --------------------------------------------------------------------------------


ORDERS = {
    "in order": "link.sendall(replies(ids, [i % 3 for i in ids]))",
    "backwards": "link.sendall(replies(ids[::-1], [i % 3 for i in ids[::-1]]))",
    "in parts": "for i in ids: link.sendall(replies([i], [i % 3]))",
    "two in one write": "link.sendall(replies(ids[:2], [i % 3 for i in ids[:2]]) + "
    "replies(ids[2:], [i % 3 for i in ids[2:]]))",
    "in half messages": "data = replies(ids, [i % 3 for i in ids])\n"
    "for k in range(len(data)): link.sendall(data[k:k+1])",
    "twice": "link.sendall(replies(ids, [i % 3 for i in ids]) + replies(ids, [2 for i in ids]))",
    "with some not asked for": "link.sendall(replies([9999, *ids, 10**9], [0, *[i % 3 for i in ids], 0]))",
    "one id repeated": "link.sendall(replies([ids[0], *ids], [i % 3 for i in [ids[0], *ids]]))",
    "of another slot first": "link.sendall(replies(ids, [0 for i in ids], slot=7) + "
    "replies(ids, [i % 3 for i in ids]))",
    "in order again": "link.sendall(replies(ids, [i % 3 for i in ids]))",
}
"""How a worker may answer four questions; what one way would answer too often, the next would hear."""


async def test_every_question_gets_its_own_answer(tmp_path: Path):
    # Questions come in two messages, because a worker has two at a time.
    four = "ids = questions()\nwhile len(ids) < 4: ids += questions()\n"
    async with hired(raw(tmp_path, "\n".join(four + program for program in ORDERS.values()))) as (table, _):
        table.begin(*range(4))
        for order in ORDERS:
            asked = table.ask(*range(4))
            answers = await table.hear(4)
            assert [a.decision for a in answers] == asked, order
            assert [a.action for a in answers] == [d.id % 3 for d in asked], order
            assert all(not a.invalid and not a.failure and a.latency_ms >= 0 for a in answers), order
        assert table.answers.empty()


UNPLAYABLE = {
    "replies(ids, [7])": "7",
    "replies(ids, [-1])": "-1",
    "frame(replies=pb.Replies(ids=ids, action=[pb.Column(data=b'abc')]))": "does not fit",
    "frame(replies=pb.Replies(ids=ids))": "does not fit",
    "frame(replies=pb.Replies(ids=ids, action=[pb.Column(data=bytes(8))] * 3))": "does not fit",
    "frame(replies=pb.Replies(problems=[pb.Problem(id=ids[0], reason='no move in it')]))": "no move in it",
}


async def test_an_answer_that_cannot_be_played(tmp_path: Path):
    code = "\n".join(f"ids = questions()\nlink.sendall({reply})" for reply in UNPLAYABLE)
    async with hired(raw(tmp_path, code)) as (table, _):
        table.begin(0)
        for reply, reason in UNPLAYABLE.items():
            table.ask(0)
            (answer,) = await table.hear(1)
            assert reason in answer.invalid and not answer.failure, reply


async def test_an_illegal_action_is_named(tmp_path: Path):
    async with hired(raw(tmp_path, "link.sendall(replies(questions(), [1]))")) as (table, _):
        table.begin(0)
        table.ask(0, action_mask=np.array([1, 0, 1], np.int8))
        (answer,) = await table.hear(1)
        assert "1" in answer.invalid and answer.action == 1


async def test_a_policy_that_is_broken_fails_the_episode(tmp_path: Path):
    problem = "pb.Problem(id=questions()[0], reason='CUDA error', fatal=True, raw='trace')"
    code = f"link.sendall(frame(replies=pb.Replies(problems=[{problem}])))"
    async with hired(raw(tmp_path, code)) as (table, _):
        table.begin(0)
        table.ask(0)
        (answer,) = await table.hear(1)
        assert answer.failure == "CUDA error" and answer.extras == {"raw": "trace"}


# -- what is recorded beside ----------------------------------------------------------------


def extras(text: str) -> str:
    extra = f"pb.Extra(id=ids[0], json={text!r})"
    return (
        "ids = questions()\n"
        f"link.sendall(frame(replies=pb.Replies(ids=ids, action=[pb.Column(data=bytes(8))], values=[0.5], "
        f"extras=[{extra}])))\n"
    )


async def test_values_and_extras_are_passed_on(tmp_path: Path):
    text = json.dumps({"tokens": {"input": 3, "output": 1}, "call_ref": "c1"})
    async with hired(raw(tmp_path, extras(text))) as (table, _):
        table.begin(0)
        table.ask(0)
        (answer,) = await table.hear(1)
        assert answer.extras == {"value": 0.5, "tokens": {"input": 3, "output": 1}, "call_ref": "c1"}


UNRECORDABLE = {
    "{": "cannot be recorded",
    "[1]": "is no JSON object",
    '"\\ud800"': "cannot be recorded",
    "[" * 5000: "cannot be recorded",
    '{"a": ' * 400 + "1" + "}" * 400: "cannot be recorded",
    '{"reward": 100}': "'reward', which only MOSAIC",
    '{"state_sha": "0"}': "'state_sha', which only MOSAIC",
    '{"tokens": 5}': "'tokens' are not",
    '{"tokens": {"input": "many"}}': "'tokens' are not",
}


async def test_extras_that_cannot_be_recorded_refuse_the_answer(tmp_path: Path):
    async with hired(raw(tmp_path, "".join(map(extras, UNRECORDABLE)))) as (table, _):
        table.begin(0)
        for text, reason in UNRECORDABLE.items():
            table.ask(0)
            (answer,) = await table.hear(1)
            assert reason in answer.invalid and not answer.failure, text[:40]


async def test_calls_that_cannot_be_recorded_are_reported_and_dropped(tmp_path: Path):
    calls = ["no json", '{"model": "m",\n "input": 3}', "[]"]
    code = "".join(f"link.sendall(frame(call=pb.Call(json={call!r})))\n" for call in calls)
    async with hired(raw(tmp_path, code)) as (table, _):
        await in_time(lambda: len(table.logs) >= 3, "three lines")
        assert '{"model":"m","input":3}' in table.logs
        assert sum("a paid call" in line for line in table.logs) == 2


_ANY = st.builds(
    pb.Replies,
    slot=st.just(0),
    ids=st.lists(st.integers(0, 6), max_size=5),
    action=st.lists(
        st.builds(
            pb.Column,
            data=st.one_of(st.binary(max_size=40), st.integers(0, 5).map(lambda n: bytes(8 * n))),
            sizes=st.lists(st.integers(0, 2**32 - 1), max_size=5),
        ),
        max_size=2,
    ),
    values=st.lists(st.floats(), max_size=3),
    extras=st.lists(st.builds(pb.Extra, id=st.integers(0, 6), json=st.text(max_size=9)), max_size=2),
    problems=st.lists(
        st.builds(
            pb.Problem, id=st.integers(0, 6), reason=st.text(max_size=5), raw=st.text(), fatal=st.booleans()
        ),
        max_size=2,
    ),
)


class _Mute:
    """Stands where a process would; the questions go nowhere."""

    welcome = pb.Welcome()

    def send(self, message: pb.ToWorker) -> None:
        pass


@given(st.lists(_ANY, max_size=4))
def test_no_reply_whatsoever_raises_or_answers_twice(messages: list[pb.Replies]):
    got: list[Answer] = []
    table = Table([WorkerSlot(0, "agent_0", _Mute(), SEES, DOES, got.extend)], asyncio.Queue(), [])  # type: ignore[arg-type]
    table.begin(*range(5))
    asked = {d.id for d in table.ask(*range(5))}
    for message in messages:
        table.slots[0].on_replies(message)
    ids = [a.decision.id for a in got]
    assert len(ids) == len(set(ids)) and set(ids) <= asked
    assert all(a.invalid or a.failure or 0 <= a.action < 3 for a in got)


# -- batches --------------------------------------------------------------------------------


async def test_a_worker_has_two_batches_at_a_time_and_none_is_too_large(tmp_path: Path):
    code = (
        "sizes = []\n"
        "while True:\n"
        "    ids = questions(); sizes.append(len(ids))\n"
        "    link.sendall(frame(log=pb.Log(level=20, text=','.join(map(str, sizes)))))\n"
        "    link.sendall(replies(ids, [0] * len(ids)))\n"
    )
    async with hired(raw(tmp_path, code)) as (table, _):
        episodes = range(3 * MAX_BATCH)
        table.begin(*episodes)
        table.ask(*episodes)
        await table.hear(len(episodes))
        await in_time(lambda: sum(map(int, table.logs[-1].split(","))) == len(episodes), "all were asked")
        sizes = [int(s) for s in table.logs[-1].split(",")]
        assert sizes[0] == MAX_BATCH and max(sizes) == MAX_BATCH


async def test_a_worker_that_takes_one_at_a_time_gets_no_more(tmp_path: Path):
    code = (
        f"{RAW}\nbegin(in_flight=2)\n"
        "first, second = questions(), questions()\n"
        "link.sendall(frame(log=pb.Log(level=20, text='two')))\n"
        "link.settimeout(0.2)\n"
        "try:\n    receive()\n"
        "except TimeoutError:\n    link.sendall(frame(log=pb.Log(level=20, text='no third')))\n"
        "link.settimeout(None)\n"
        "link.sendall(replies(second, [2])); third = questions()\n"
        "link.sendall(replies(first + third, [0, 1]))\nstay()"
    )
    async with hired(little_worker(tmp_path, code)) as (table, _):
        table.begin(0, 1, 2)
        table.ask(0, 1, 2)
        assert [a.action for a in await table.hear(3)] == [0, 2, 1]
        assert "no third" in table.logs


# -- deadlines ------------------------------------------------------------------------------


async def test_an_answer_that_does_not_come_is_refused_and_ignored_when_it_does(tmp_path: Path):
    code = "first = questions()\nsecond = questions()\nlink.sendall(replies(first + second, [1, 2]))"
    async with hired(raw(tmp_path, code), request(deadline_s=0.2)) as (table, _):
        table.begin(0)
        table.ask(0)
        (late,) = await table.hear(1)
        assert late.invalid == "no answer within 0.2 s"
        table.ask(0, attempt=1, reason=late.invalid)
        (answer,) = await table.hear(1)
        assert answer.action == 2 and answer.decision.attempt == 1


async def test_only_what_is_overdue_is_refused(tmp_path: Path):
    code = "first = questions()\nwhile True:\n    ids = questions()\n    link.sendall(replies(ids, [1]))"
    async with hired(raw(tmp_path, code), request(deadline_s=0.4)) as (table, _):
        table.begin(0, 1)
        table.ask(0)
        table.ask(1)
        (answer,) = await table.hear(1)
        assert (answer.decision.episode, answer.action) == (1, 1)
        (answer,) = await table.hear(1)
        assert (answer.decision.episode, answer.invalid) == (0, "no answer within 0.4 s")


async def test_a_hung_worker_is_refused_until_its_silence_is_noticed(tmp_path: Path):
    code = f"{RAW}\nbegin(alive=True)\nlink.sendall(frame(log=pb.Log(text='up')))\nthreading.Event().wait()"
    definition = little_worker(tmp_path, code, launch={"heartbeat_s": 0.5})
    async with hired(definition, request(deadline_s=0.1)) as (table, supervisor):
        os.kill(supervisor.processes()[0].pid, signal.SIGSTOP)
        table.begin(0, 1)
        table.ask(0)
        (answer,) = await table.hear(1)
        assert "no answer" in answer.invalid
        await in_time(lambda: any("did not respond" in line for line in table.logs), "the silence")


# -- episodes -------------------------------------------------------------------------------


async def test_an_episode_that_is_over_is_forgotten(tmp_path: Path):
    code = "first = questions()\nsecond = questions()\nlink.sendall(replies(first + second, [1, 2]))"
    async with hired(raw(tmp_path, code)) as (table, _):
        table.begin(0, 1)
        table.ask(0)
        table.slots[0].end(EpisodeSummary(0, **SUMMARY))
        table.ask(1)
        (answer,) = await table.hear(1)
        assert (answer.decision.episode, answer.action) == (1, 2)
        assert table.answers.empty()
