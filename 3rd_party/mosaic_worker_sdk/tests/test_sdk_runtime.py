"""A worker class at the end of a real link, driven by a host that is a few lines of test."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import struct
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from mosaic_worker.concurrent import AsyncWorker
from mosaic_worker.link import PROTOCOL, SocketLink, WorkerLink
from mosaic_worker.pb import worker_pb2 as pb
from mosaic_worker.runtime import Runtime
from mosaic_worker.worker import Actions, Batch, Decision, Invalid, LoadError, Slot, StepResults, Worker

VECTOR = json.dumps({"kind": "Box", "dtype": "float32", "shape": [1], "low": -1.0, "high": 1.0})
THREE = json.dumps({"kind": "Discrete", "dtype": "int64", "n": 3, "start": 0})


class Diary(Worker):
    """Notes every call; decides by the step."""

    def __init__(self) -> None:
        self.calls: list[Any] = []

    def load(self, slot: Slot) -> str:
        self.calls.append(("load", slot))
        return "diary"

    def reset(self, slot: Slot, starts: Any) -> None:
        self.calls.append(("reset", [(s.episode, s.seed, s.agent_id) for s in starts]))

    def select_actions(self, batch: Batch) -> Any:
        self.calls.append(("select", list(batch.ids)))
        return np.array(batch.steps) % 3

    def on_episode_end(self, slot: Slot, ends: Any) -> None:
        self.calls.append(("end", [(e.episode, e.status) for e in ends]))

    def close(self) -> None:
        self.calls.append(("close", None))


class Host:
    """The other end of a worker's link, and the thread that the worker runs in."""

    def __init__(self, worker: Worker | Callable[[], Worker], token: str = "") -> None:
        self.sock, theirs = socket.socketpair()
        self.sock.settimeout(20)
        self._reader = self.sock.makefile("rb")
        make = worker if callable(worker) else lambda: worker
        self.runtime = Runtime(make, SocketLink(theirs, pb.ToWorker), "diary_worker", "1.2", token)
        self.status: int | None = None
        self._theirs = theirs
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        self.status = self.runtime.run()
        self._theirs.close()

    def say(self, **body: Any) -> None:
        self.say_all(pb.ToWorker(**body))

    def say_all(self, *messages: pb.ToWorker) -> None:
        """Several messages, which arrive at once."""
        data = [message.SerializeToString() for message in messages]
        self.sock.sendall(b"".join([struct.pack("<I", len(each)) + each for each in data]))

    def hear(self, *, skip: str = "log") -> Any:
        """The next message that is not of kind ``skip``; ``None`` at the end."""
        while head := self._reader.read(4):
            message = pb.FromWorker.FromString(self._reader.read(struct.unpack("<I", head)[0]))
            if message.WhichOneof("body") != skip:
                return message
        return None

    def greet(self, protocol: int = PROTOCOL, **more: Any) -> pb.Welcome:
        self.say(hello=pb.Hello(protocol=protocol, **more))
        return self.hear().welcome

    def load(self, slot: int = 0, **more: Any) -> pb.Loaded:
        self.say(load=pb.Load(**{"slot": slot, "agent": "a", "env": "E-v0", "observation_space": VECTOR,
                                 "action_space": THREE, **more}))  # fmt: skip
        return self.hear().loaded

    def ask(self, *ids: int, steps: list[int] | None = None, slot: int = 0, **more: Any) -> None:
        n = len(ids)
        q = pb.Questions(ids=ids, episodes=[0] * n, steps=steps or list(ids), seeds=[5] * n, **more)
        q.observation.add(data=np.arange(n, dtype="<f4").tobytes())
        self.say(work=pb.Work(slot=slot, questions=q))

    def end(self) -> int | None:
        self.sock.shutdown(socket.SHUT_WR)
        self._thread.join(20)
        assert not self._thread.is_alive()
        self._reader.close()
        self.sock.close()
        return self.status


@pytest.fixture
def seat() -> Iterator[Callable[..., Host]]:
    hosts: list[Host] = []

    def make(worker: Any, **more: Any) -> Host:
        hosts.append(Host(worker, **more))
        return hosts[-1]

    yield make
    for host in hosts:
        if host.status is None:
            host.end()


def actions_of(replies: pb.Replies) -> dict[int, int]:
    return dict(zip(replies.ids, np.frombuffer(replies.action[0].data, "<i8").tolist()))


def test_welcome_tells_what_the_class_is(seat: Callable[..., Host]) -> None:
    class Learner(Diary):
        inputs = ("text",)
        in_flight = 4

        def on_step_result(self, results: StepResults) -> None: ...

    welcome = seat(Learner()).greet()
    assert (welcome.protocol, welcome.worker, welcome.version) == (PROTOCOL, "diary_worker", "1.2")
    assert (welcome.wants_results, welcome.in_flight, list(welcome.inputs)) == (True, 4, ["text"])
    assert seat(Diary()).greet().wants_results is False


def test_another_version_is_answered_and_left(seat: Callable[..., Host]) -> None:
    host = seat(Diary())
    assert host.greet(protocol=PROTOCOL + 1).protocol == PROTOCOL
    assert "protocol 2, this worker 1" in host.hear().failed.reason
    assert host.end() == 1


@pytest.mark.parametrize(("shown", "good"), [("right", True), ("wrong", False), ("", False)])
def test_token_is_asked_for(seat: Callable[..., Host], shown: str, good: bool) -> None:
    host = seat(Diary(), token="right")
    host.say(hello=pb.Hello(protocol=PROTOCOL, token=shown))
    assert host.hear().WhichOneof("body") == ("welcome" if good else "failed")


def test_a_slot_is_what_the_host_said(seat: Callable[..., Host]) -> None:
    worker = Diary()
    host = seat(worker)
    host.greet()
    more = {"settings": '{"k": [1]}', "noop": 2, "secrets": {"key": "s"}, "action_meanings": ["l", "n", "r"]}
    assert host.load(slot=3, deterministic=True, **more).policy == "diary"
    slot: Slot = worker.calls[0][1]
    assert (slot.index, slot.agent_id, slot.env_id, slot.settings) == (3, "a", "E-v0", {"k": [1]})
    assert (slot.noop_action, slot.deterministic, slot.secrets) == (2, True, {"key": "s"})
    assert slot.action_meanings == ("l", "n", "r")
    assert "'s'" not in repr(slot), "a secret must not be printed with its slot"
    assert host.load(slot=4).error == "" and worker.calls[1][1].noop_action is None


def test_work_is_taken_in_its_order(seat: Callable[..., Host]) -> None:
    worker = Diary()
    host = seat(worker)
    host.greet()
    host.load()
    work = pb.Work(ends=[pb.End(episode=4, status="aborted")])
    work.starts.add(episode=5, seed=2**64 - 1)
    work.starts.add(episode=6, seed=1, agent="b")
    work.questions.ids.append(9)
    work.questions.episodes.append(5)
    work.questions.steps.append(4)
    work.questions.seeds.append(2**64 - 1)
    work.questions.observation.add(data=bytes(4))
    host.say(work=work)
    assert actions_of(host.hear().replies) == {9: 1}
    host.say(shutdown=pb.Shutdown())
    assert host.end() == 0
    assert worker.calls[1:] == [
        ("end", [(4, "aborted")]),
        ("reset", [(5, 2**64 - 1, "a"), (6, 1, "b")]),
        ("select", [9]),
        ("close", None),
    ]


def test_a_decision_that_raises_takes_no_other_with_it(seat: Callable[..., Host]) -> None:
    class Picky(Diary):
        def select_actions(self, batch: Batch) -> Any:
            if 2 in batch.ids:
                raise KeyError("no two")
            return super().select_actions(batch)

    host = seat(Picky())
    host.greet()
    host.load()
    host.ask(1, 2, 3)
    answers, problems = dict[int, int](), list[pb.Problem]()
    while len(answers) + len(problems) < 3:
        replies = host.hear().replies
        problems += replies.problems
        if replies.ids:
            answers |= actions_of(replies)
    assert answers == {1: 1, 3: 0}
    (problem,) = problems
    assert (problem.id, problem.fatal) == (2, True)
    line = Picky.select_actions.__code__.co_firstlineno + 2
    assert problem.reason == f"KeyError: 'no two' (test_sdk_runtime.py, line {line}, in select_actions)"


class Together(Diary):
    """Decides for several slots at once, and notes which."""

    def select_together(self, batches: Sequence[Batch]) -> list[Any]:
        self.calls.append(("together", [(batch.slot.index, list(batch.ids)) for batch in batches]))
        if any(13 in batch.ids for batch in batches):
            raise KeyError("thirteen")
        return [np.array(batch.steps) % 3 for batch in batches]


def asked(slot: int, number: int) -> pb.ToWorker:
    questions = pb.Questions(ids=[number], episodes=[0], steps=[number], seeds=[5])
    questions.observation.add(data=bytes(4))
    return pb.ToWorker(work=pb.Work(slot=slot, questions=questions))


def test_what_has_arrived_for_several_slots_is_decided_together(seat: Callable[..., Host]) -> None:
    worker = Together()
    host = seat(worker)
    host.greet()
    for slot in range(3):
        host.load(slot)
    host.say_all(asked(0, 1), asked(0, 2), asked(1, 4), pb.ToWorker(human=pb.HumanAction()), asked(2, 5))
    replies = [host.hear().replies for _ in range(4)]
    assert [(r.slot, actions_of(r)) for r in replies] == [(0, {1: 1}), (1, {4: 1}), (0, {2: 2}), (2, {5: 2})]
    # A slot's own questions keep their order, and nothing overtakes what is no work.
    assert worker.calls[3:] == [("together", [(0, [1]), (1, [4])]), ("select", [2]), ("select", [5])]


def test_one_slot_that_raises_takes_no_other_with_it(seat: Callable[..., Host]) -> None:
    class Picky(Together):
        def select_actions(self, batch: Batch) -> Any:
            if 13 in batch.ids:
                raise KeyError("thirteen")
            return super().select_actions(batch)

    host = seat(Picky())
    host.greet()
    for slot in range(2):
        host.load(slot)
    host.say_all(asked(0, 13), asked(1, 4))
    failed, fine = host.hear().replies, host.hear().replies
    assert (failed.slot, [problem.id for problem in failed.problems]) == (0, [13])
    assert (fine.slot, actions_of(fine)) == (1, {4: 1})


def test_invalid_values_and_extras_find_their_decision(seat: Callable[..., Host]) -> None:
    class Talker(Diary):
        def select_actions(self, batch: Batch) -> Actions:
            chosen: list[Any] = [2, Invalid("no idea", "hm"), 1]
            return Actions(chosen, values=[0.5, 9.0, -1.0], extras=[None, {"tokens": {"input": 3}}, {"n": 1}])

    host = seat(Talker())
    host.greet()
    host.load()
    host.ask(7, 8, 9)
    replies = host.hear().replies
    assert actions_of(replies) == {7: 2, 9: 1} and list(replies.values) == [0.5, -1.0]
    assert [(p.id, p.reason, p.raw, p.fatal) for p in replies.problems] == [(8, "no idea", "hm", False)]
    assert {e.id: json.loads(e.json) for e in replies.extras} == {8: {"tokens": {"input": 3}}, 9: {"n": 1}}


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda n: None, "returned None"),
        (lambda n: [0] * (n + 1), "2 actions for 1 decisions"),
        (lambda n: np.zeros((n, 2)), "shape"),
        (lambda n: np.zeros(n), "dtype float64 where integers"),
        (lambda n: ["left"] * n, "where an integer is needed"),
    ],
)
def test_an_answer_that_is_none_names_its_problem(
    seat: Callable[..., Host], answer: Callable[[int], Any], words: str
) -> None:
    class Odd(Diary):
        def select_actions(self, batch: Batch) -> Any:
            return answer(len(batch))

    host = seat(Odd())
    host.greet()
    host.load()
    host.ask(1)
    (problem,) = host.hear().replies.problems
    assert words in problem.reason and problem.fatal


def test_masks_and_retries_reach_the_class(seat: Callable[..., Host]) -> None:
    seen = list[Batch]()

    class Watcher(Diary):
        def select_actions(self, batch: Batch) -> Any:
            seen.append(batch)
            return [d.legal_actions[0] if d.legal_actions else 0 for d in batch]

    host = seat(Watcher())
    host.greet()
    host.load()
    host.ask(1, 2, masks=bytes([0, 1, 1, 0, 0, 1]), attempts=[0, 1], reasons=["", "not legal"])
    assert actions_of(host.hear().replies) == {1: 1, 2: 2}
    assert seen[0][1].attempt == 1 and seen[0][1].reason == "not legal"
    assert seen[0].action_masks is not None and seen[0].action_masks.tolist()[1] == [False, False, True]


def test_results_reach_the_class(seat: Callable[..., Host]) -> None:
    heard = list[StepResults]()

    class Learner(Diary):
        def on_step_result(self, results: StepResults) -> None:
            heard.append(results)

    host = seat(Learner())
    host.greet()
    host.load()
    r = pb.Results(
        episodes=[1, 2], steps=[3, 4], rewards=[0.5, -1], terminated=[False, True], truncated=[True, False]
    )
    r.observation.add(data=np.array([0.25, 0.5], "<f4").tobytes())
    r.action.add(data=np.array([2, 0], "<i8").tobytes())
    host.say(work=pb.Work(results=r))
    host.ask(1)
    host.hear()
    (got,) = heard
    assert got.observations.tolist() == [[0.25], [0.5]] and got.actions.tolist() == [2, 0]
    assert got.rewards.tolist() == [0.5, -1] and got.terminated.tolist() == [False, True]


def test_refusals_are_told_apart(seat: Callable[..., Host]) -> None:
    class Choosy(Diary):
        def load(self, slot: Slot) -> str:
            if slot.settings.get("bug"):
                raise ZeroDivisionError("oops")
            raise LoadError("the checkpoint is of another environment")

    host = seat(Choosy())
    host.greet()
    assert host.load().error == "the checkpoint is of another environment"
    assert host.load(settings='{"bug": 1}').error.startswith("ZeroDivisionError: oops (test_sdk_runtime.py, ")
    assert "unknown space kind" in host.load(observation_space='{"kind": "Cube"}').error


def test_the_person_is_asked_while_other_work_waits(seat: Callable[..., Host]) -> None:
    class Shy(Diary):
        def select_actions(self, batch: Batch) -> Any:
            self.calls.append(("select", list(batch.ids)))
            answers = self.host.ask_human(batch)
            return [Invalid("no person chose") if a is None else a for a in answers]

    worker = Shy()
    host = seat(worker)
    host.greet()
    host.load()
    host.ask(1, 2)
    assert [host.hear().ask_human.id for _ in range(2)] == [1, 2]
    host.ask(3)
    host.say(human=pb.HumanAction(id=2, action=[pb.Column(data=(2).to_bytes(8, "little"))]))
    host.say(human=pb.HumanAction(id=1))
    replies = host.hear().replies
    assert actions_of(replies) == {2: 2} and [p.id for p in replies.problems] == [1]
    assert host.hear().ask_human.id == 3
    assert worker.calls[-1] == ("select", [3])


def test_alive_is_said_while_it_computes(seat: Callable[..., Host]) -> None:
    go_on = threading.Event()

    class Slow(Diary):
        def select_actions(self, batch: Batch) -> Any:
            assert go_on.wait(20)
            return super().select_actions(batch)

    host = seat(Slow())
    assert host.greet(heartbeat_s=0.01).alive
    host.say(load=pb.Load(observation_space=VECTOR, action_space=THREE))
    host.ask(1)
    kinds = [host.hear().WhichOneof("body") for _ in range(30)]
    assert kinds.count("alive") >= 28
    go_on.set()
    assert actions_of(host.hear(skip="alive").replies) == {1: 1}


def test_logs_and_paid_calls_are_forwarded_and_only_while_connected(seat: Callable[..., Host]) -> None:
    class Chatty(Diary):
        def select_actions(self, batch: Batch) -> Any:
            logging.getLogger("chatty").warning("thinking about %s", batch.ids)
            self.host.record_call({"usd": 0.5})
            return super().select_actions(batch)

    before = list(logging.getLogger().handlers)
    host = seat(Chatty())
    host.greet()
    host.load()
    host.ask(1)
    log, call = host.hear(skip="").log, host.hear(skip="").call
    assert (log.level, log.logger, log.text) == (30, "chatty", "thinking about [1]")
    assert json.loads(call.json) == {"usd": 0.5}
    assert host.end() == 0
    assert logging.getLogger().handlers == before


class Payer(AsyncWorker):
    """Announces a request before each decision, and says when it has sent it."""

    announces = True

    def load(self, slot: Slot) -> None:
        self.sent = threading.Event()

    async def decide(self, slot: Slot, decision: Decision) -> Any:
        await asyncio.wrap_future(self.host.announce(slot, decision.episode, 100, 0.25))
        self.sent.set()
        return decision.step % 3


def test_an_announced_request_waits_until_it_is_noted(seat: Callable[..., Host]) -> None:
    worker = Payer()
    host = seat(worker)
    assert host.greet(notes=True).announces
    host.load(slot=2)
    host.ask(1, slot=2)
    announce = host.hear().announce
    assert (announce.slot, announce.episode, announce.tokens, announce.usd) == (2, 0, 100, 0.25)
    host.say(noted=pb.Noted(number=announce.number + 1))  # of no request that waits
    assert not worker.sent.wait(0.2)
    host.say(noted=pb.Noted(number=announce.number))
    assert actions_of(host.hear().replies) == {1: 1}
    host.ask(2, slot=2)
    assert host.hear().announce.number > announce.number


def test_who_is_asked_anew_while_it_waits_announces_anew(seat: Callable[..., Host]) -> None:
    host = seat(Payer())
    host.greet(notes=True)
    host.load()
    host.ask(1)
    given_up = host.hear().announce.number
    host.ask(2)
    number = host.hear().announce.number
    host.say(noted=pb.Noted(number=given_up))
    host.say(noted=pb.Noted(number=number))
    assert actions_of(host.hear().replies) == {2: 2}
    assert host.end() == 0


def test_a_host_that_notes_nothing_is_not_waited_for(seat: Callable[..., Host]) -> None:
    """One made before this was known."""
    host = seat(Payer())
    host.greet()
    host.load()
    host.ask(1)
    assert actions_of(host.hear().replies) == {1: 1}


@pytest.mark.parametrize("where", ["make", "reset", "unknown slot"])
def test_what_cannot_go_on_says_so_and_ends(seat: Callable[..., Host], where: str) -> None:
    def make() -> Worker:
        if where == "make":
            raise RuntimeError("broken at make")
        return Broken()

    class Broken(Diary):
        def reset(self, slot: Slot, starts: Any) -> None:
            raise RuntimeError("broken at reset")

    host = seat(make)
    if where == "make":
        host.say(hello=pb.Hello(protocol=PROTOCOL))
    else:
        host.greet()
        host.load()
        slot = 9 if where == "unknown slot" else 0
        host.say(work=pb.Work(slot=slot, starts=[pb.Start(episode=1)]))
    failed = host.hear().failed
    assert failed.traceback and (where in failed.reason or "KeyError: 9" in failed.reason)
    assert host.end() == 1


def test_the_end_of_the_host_is_the_end(seat: Callable[..., Host]) -> None:
    worker = Diary()
    host = seat(worker)
    host.greet()
    assert host.end() == 0 and worker.calls == [("close", None)]
    assert seat(Diary()).end() == 0


def test_a_tool_may_stand_on_the_link(seat: Callable[..., Host]) -> None:
    class Counting(WorkerLink):
        sent = 0

        def __init__(self, link: WorkerLink) -> None:
            self._link = link

        def receive(self) -> pb.ToWorker | None:
            return self._link.receive()

        def send(self, message: pb.FromWorker) -> None:
            type(self).sent += 1
            self._link.send(message)

    class Tool(Diary):
        def connect(self, link: WorkerLink) -> WorkerLink:
            return Counting(link)

    host = seat(Tool())
    host.greet()
    host.load()
    host.ask(1)
    host.hear()
    assert Counting.sent == 3
