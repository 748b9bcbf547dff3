"""Connects a :class:`~mosaic_worker.worker.Worker` to its host: converts messages to calls and results to
messages.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import logging
import os
import threading
from concurrent.futures import Future
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, cast

import numpy as np

from mosaic_worker.codec import Codec
from mosaic_worker.failures import FailureLog, described, traceback_text
from mosaic_worker.link import PROTOCOL, WorkerLink
from mosaic_worker.pb import worker_pb2 as pb
from mosaic_worker.spaces import Space
from mosaic_worker.worker import (
    Actions,
    Batch,
    BatchDecider,
    CannotGoOn,
    EpisodeEnd,
    EpisodeStart,
    Invalid,
    LimitReached,
    LoadError,
    PolicyFailed,
    Seat,
    Slot,
    StepResults,
    Worker,
)

SDK = "mosaic_worker/0.1.0"
_log = logging.getLogger(__name__)


class _LinkHost:
    """The :class:`~mosaic_worker.worker.Host` at the other end of a link."""

    def __init__(self, link: WorkerLink, pending: List[pb.ToWorker], *, notes: bool) -> None:
        self._link = link
        self._pending = pending
        self._notes = notes
        self._numbers = itertools.count(1)
        self._announced: Dict[int, Future[None]] = {}

    def ask_human(self, batch: Batch) -> List[Any]:
        for i in batch.ids:
            self._link.send(pb.FromWorker(ask_human=pb.HumanRequest(slot=batch.slot.index, id=i)))
        codec = Codec(batch.slot.action_space)
        answers: Dict[int, Any] = {}
        while len(answers) < len(batch):
            message = self._link.receive()
            if message is None:
                raise EOFError("the host is gone")
            if message.WhichOneof("body") != "human":
                self._pending.append(message)
                continue
            columns = message.human.action
            answers[message.human.id] = codec.unstack(columns, 1)[0] if columns else None
        return [answers[i] for i in batch.ids]

    def record_call(self, call: Mapping[str, Any]) -> None:
        self._link.send(pb.FromWorker(call=pb.Call(json=json.dumps(call))))

    def announce(self, slot: Slot, episode: int, tokens: int, usd: float) -> Future[None]:
        future: Future[None] = Future()
        if not self._notes:
            future.set_result(None)
            return future
        number = next(self._numbers)
        self._announced[number] = (
            future  # set before the message is sent, because the answer arrives in another thread
        )
        about = pb.Announce(number=number, slot=slot.index, episode=episode, tokens=tokens, usd=usd)
        self._link.send(pb.FromWorker(announce=about))
        return future

    def noted(self, number: int) -> None:
        """Complete the future of an announced request after the host has recorded it."""
        future = self._announced.pop(number, None)
        if future is not None and future.set_running_or_notify_cancel():
            future.set_result(None)


_LONGEST_LOG = 1 << 16
"""Largest number of characters of a log entry that is sent; the rest is cut off."""


class _Forward(logging.Handler):
    def __init__(self, link: WorkerLink) -> None:
        super().__init__()
        self._link = link

    def emit(self, record: logging.LogRecord) -> None:
        try:
            text = self.format(record)
            if len(text) > _LONGEST_LOG:
                text = f"{text[:_LONGEST_LOG]} … ({len(text):,} characters)"
            entry = pb.Log(level=record.levelno, logger=record.name, text=text)
            self._link.send(pb.FromWorker(log=entry))
        except OSError:
            pass  # the connection is closed; the main loop detects this


class Runtime:
    """Serves one host until the host sends ``shutdown`` or the connection ends.

    Args:
        make: Makes the worker; called after the host's ``Hello``, so that a slow import is not
            mistaken for a dead process.
        link: The connection to the host.
        worker_id: Id of the worker, as in its ``worker.toml``.
        version: Version of the worker.
        token: A host whose ``Hello`` does not carry this token is refused; empty on private carriers.
    """

    def __init__(
        self, make: Callable[[], Worker], link: WorkerLink, worker_id: str, version: str = "", token: str = ""
    ) -> None:
        self._make, self._link, self._token = make, link, token
        self._id, self._version = worker_id, version
        self._slots: Dict[int, Tuple[Slot, Codec, Codec]] = {}
        self._pending: List[pb.ToWorker] = []
        self._decider: Optional[BatchDecider] = None
        self._stop = threading.Event()
        self._failures = FailureLog(_log)

    def run(self) -> int:
        """Serve the host until the end.

        Returns:
            Exit status: 0 after an orderly end, 1 if the worker could not go on.
        """
        try:
            return self._serve()
        except (EOFError, BrokenPipeError, ConnectionResetError):
            return 0
        except Exception as exc:  # code of the worker's author: report its error, then end
            return self._fail(exc)
        finally:
            self._stop.set()

    def _fail(self, exc: Exception) -> int:
        failed = pb.Failed(reason=described(exc), traceback=traceback_text(exc))
        try:
            self._link.send(pb.FromWorker(failed=failed))
        except OSError:
            return 1
        return 1

    def _receive(self) -> Optional[pb.ToWorker]:
        return self._pending.pop(0) if self._pending else self._link.receive()

    def _serve(self) -> int:
        first = self._receive()
        if first is None:
            return 0
        if first.WhichOneof("body") != "hello":
            raise ValueError("the host did not say hello")
        hello = first.hello
        if self._token and hello.token != self._token:
            raise PermissionError("the host's token is wrong")
        worker = self._make()
        self._link = worker.connect(self._link)
        self._welcome(worker)
        if hello.protocol != PROTOCOL:
            raise ValueError(f"the host speaks protocol {hello.protocol}, this worker {PROTOCOL}")
        root = logging.getLogger()
        forward = _Forward(self._link)
        root.addHandler(forward)
        root.setLevel(logging.INFO)
        if hello.heartbeat_s > 0:
            threading.Thread(target=self._send_heartbeats, args=(hello.heartbeat_s,), daemon=True).start()
        worker.host = self._host = _LinkHost(self._link, self._pending, notes=hello.notes)
        self._decider = worker.decider(self._send_one)
        try:
            self._loop(worker)
        finally:
            root.removeHandler(forward)
            if self._decider is not None:
                self._decider.close()
            worker.close()
        return 0

    def _welcome(self, worker: Worker) -> None:
        welcome = pb.Welcome(
            protocol=PROTOCOL,
            worker=self._id,
            version=self._version,
            sdk=SDK,
            pid=os.getpid(),
            alive=True,
            wants_results=type(worker).on_step_result is not Worker.on_step_result,
            in_flight=worker.in_flight,
            inputs=list(worker.inputs),
            announces=worker.announces,
        )
        self._link.send(pb.FromWorker(welcome=welcome))

    def _send_heartbeats(self, period: float) -> None:
        while not self._stop.wait(period):
            try:
                self._link.send(pb.FromWorker(alive=pb.Alive()))
            except OSError:
                return

    def _loop(self, worker: Worker) -> None:
        together = type(worker).select_together is not Worker.select_together
        while True:
            message = self._receive()
            if message is None:
                return
            body = message.WhichOneof("body")
            if body == "work":
                self._work(worker, self._with_others(message.work) if together else [message.work])
            elif body == "load":
                self._load(worker, message.load)
            elif body == "noted":
                self._host.noted(message.noted.number)
            elif body == "shutdown":
                return

    def _load(self, worker: Worker, load: pb.Load) -> None:
        reply = pb.Loaded(slot=load.slot)
        try:
            slot = _slot(load)
            reply.policy = worker.load(slot) or ""
            self._slots[load.slot] = slot, Codec(slot.observation_space), Codec(slot.action_space)
        except LoadError as exc:
            reply.error = str(exc) or "the slot cannot be played"
        except Exception as exc:  # code of the worker's author
            reply.error = self._failures.add("load failed", exc)
        self._link.send(pb.FromWorker(loaded=reply))

    def _with_others(self, work: pb.Work) -> List[pb.Work]:
        """Return ``work``, and of every other slot the next work message that has already arrived."""
        while (message := self._link.arrived()) is not None:
            self._pending.append(message)
        taken: Dict[int, pb.Work] = {work.slot: work}
        left: List[pb.ToWorker] = []
        for index, message in enumerate(self._pending):
            if message.WhichOneof("body") != "work":
                left += self._pending[index:]  # work after this message waits behind it
                break
            if message.work.slot in taken:
                left.append(message)
            else:
                taken[message.work.slot] = message.work
        self._pending[:] = left
        return list(taken.values())

    def _work(self, worker: Worker, works: Sequence[pb.Work]) -> None:
        batches = [batch for work in works if (batch := self._pass_on(worker, work)) is not None]
        if batches:
            self._link.send_all([pb.FromWorker(replies=reply) for reply in self._replies(worker, batches)])

    def _replies(self, worker: Worker, batches: Sequence[Batch]) -> List[pb.Replies]:
        codecs = [self._slots[batch.slot.index][2] for batch in batches]
        if len(batches) > 1:
            try:
                decided = worker.select_together(batches)
                return [_replies(*each) for each in zip(batches, decided, codecs)]
            except (EOFError, ConnectionError):
                raise
            except Exception:  # code of the worker's author: the loop below finds the slot that failed
                _log.debug("decided slot by slot after all", exc_info=True)
        return [
            reply
            for batch, codec in zip(batches, codecs)
            for reply in _answer(worker, batch, codec, self._failures)
        ]

    def _pass_on(self, worker: Worker, work: pb.Work) -> Optional[Batch]:
        """Pass results, ends and starts to the worker; return the batch to be decided, or ``None`` if there
        is none.
        """
        slot, observation_codec, action_codec = self._slots[work.slot]
        decider = self._decider
        if work.HasField("results"):
            results = _results(slot, observation_codec, action_codec, work.results)
            (decider.results if decider else worker.on_step_result)(results)
        if work.ends:
            ends = [EpisodeEnd(e.episode, e.total_reward, e.steps, e.status) for e in work.ends]
            (decider.end if decider else worker.on_episode_end)(slot, ends)
        if work.starts:
            starts = [_start(slot, start) for start in work.starts]
            (decider.reset if decider else worker.reset)(slot, starts)
        if not work.HasField("questions"):
            return None
        batch = _batch(slot, observation_codec, work.questions)
        if decider is None:
            return batch
        decider.ask(batch)
        return None

    def _send_one(self, batch: Batch, result: Any) -> None:
        """Send the result of one decision of a worker that makes several decisions at a time."""
        codec = self._slots[batch.slot.index][2]
        if isinstance(result, Exception):
            reply = _broken(batch, result)
        else:
            try:
                reply = _replies(batch, result if isinstance(result, Actions) else [result], codec)
            except Exception as exc:  # code of the worker's author: no action of this space
                reply = _broken(batch, exc)
        with contextlib.suppress(OSError):  # the connection is closed; the main loop detects this
            self._link.send(pb.FromWorker(replies=reply))


def _slot(load: pb.Load) -> Slot:
    return Slot(
        index=load.slot,
        agent_id=load.agent,
        env_id=load.env,
        observation_space=Space.from_json(json.loads(load.observation_space)),
        action_space=Space.from_json(json.loads(load.action_space)),
        settings=json.loads(load.settings or "{}"),
        action_meanings=tuple(load.action_meanings),
        noop_action=load.noop if load.HasField("noop") else None,
        secrets=dict(load.secrets),
        deterministic=load.deterministic if load.HasField("deterministic") else None,
        briefing=load.briefing,
        team=load.team,
        teammates=tuple(load.teammates),
        opponents=tuple(load.opponents),
        deadline_s=load.deadline_s or None,
        seats={seat.agent: _seat(seat) for seat in load.seats},
        simulator=json.loads(load.simulator or "{}"),
        options=tuple(load.options),
    )


def _seat(seat: pb.Seat) -> Seat:
    return Seat(seat.briefing, seat.team, tuple(seat.teammates), tuple(seat.opponents))


def _start(slot: Slot, s: pb.Start) -> EpisodeStart:
    return EpisodeStart(
        s.episode,
        s.seed,
        s.agent or slot.agent_id,
        s.tokens,
        s.usd,
        s.joins if s.HasField("joins") else None,
        _seat(s.seat) if s.HasField("seat") else None,
    )


def _batch(slot: Slot, codec: Codec, q: pb.Questions) -> Batch:
    ids = list(q.ids)
    n = len(ids)
    masks = None
    if q.masks:
        masks = np.frombuffer(bytearray(q.masks), np.bool_).reshape(n, -1)
    return Batch(
        slot=slot,
        ids=ids,
        episodes=list(q.episodes),
        steps=list(q.steps),
        seeds=np.array(list(q.seeds), np.uint64),
        observations=codec.stacked(q.observation, n),
        action_masks=masks,
        attempts=list(q.attempts),
        reasons=list(q.reasons),
        texts=list(q.texts),
        images=[(image.data, image.mime) for image in q.images],
        messages=[list(m.texts) for m in q.messages],
        choices=[list(zip(c.actions, c.words)) for c in q.choices],
        facts=[list(f.facts) for f in q.facts],
        states=[np.array(s.values, np.float64) for s in q.states],
    )


def _results(slot: Slot, observation_codec: Codec, action_codec: Codec, r: pb.Results) -> StepResults:
    n = len(r.episodes)
    return StepResults(
        slot,
        list(r.episodes),
        list(r.steps),
        observation_codec.stacked(r.observation, n),
        action_codec.stacked(r.action, n),
        np.array(r.rewards, np.float64),
        np.array(r.terminated, np.bool_),
        np.array(r.truncated, np.bool_),
    )


def _answer(worker: Worker, batch: Batch, codec: Codec, failures: FailureLog) -> List[pb.Replies]:
    """Let the worker decide a batch; if it raises, let it decide one by one.

    An observation that the worker cannot handle then fails its own episode and no other.
    """
    try:
        return [_replies(batch, worker.select_actions(batch), codec)]
    except (EOFError, ConnectionError):
        raise
    except Exception as exc:  # code of the worker's author
        if len(batch) > 1:
            return [
                reply for i in range(len(batch)) for reply in _answer(worker, batch.only(i), codec, failures)
            ]
        if not isinstance(exc, PolicyFailed):
            failures.add("select_actions raised", exc)
        return [_broken(batch, exc)]


def _broken(batch: Batch, exc: Exception) -> pb.Replies:
    reason = str(exc) if isinstance(exc, PolicyFailed) else described(exc)
    limit = ("episode" if exc.own else "run") if isinstance(exc, LimitReached) else ""
    limit = "stop" if isinstance(exc, CannotGoOn) else limit
    problem = pb.Problem(id=batch.ids[0], reason=reason, fatal=True, limit=limit)
    return pb.Replies(slot=batch.slot.index, problems=[problem])


def _replies(batch: Batch, result: Any, codec: Codec) -> pb.Replies:
    actions, values, extras = (
        (result.actions, result.values, result.extras)
        if isinstance(result, Actions)
        else (result, None, None)
    )
    if actions is None:
        raise TypeError("select_actions returned None")
    reply = pb.Replies(slot=batch.slot.index)
    ids: Sequence[int] = batch.ids
    if isinstance(actions, (list, tuple)):
        given = cast("Sequence[Any]", actions)
        bad = {i: a for i, a in enumerate(given) if isinstance(a, Invalid)}
        for i, invalid in bad.items():
            reply.problems.add(id=ids[i], reason=invalid.reason, raw=invalid.raw)
            if invalid.cause:
                reply.extras.add(id=ids[i], json=json.dumps({"cause": invalid.cause}))
        if bad:
            good = [i for i in range(len(given)) if i not in bad]
            values = None if values is None else np.asarray(values)[good]
            actions, ids = [given[i] for i in good], [ids[i] for i in good]
    if len(ids):
        for column in codec.columns(actions, len(ids)):
            reply.action.add(data=column.data, sizes=column.sizes)
        reply.ids.extend(ids)
        if values is not None:
            reply.values.extend(np.asarray(values, np.float64).tolist())
    for i, extra in zip(batch.ids, extras or ()):
        if extra:
            reply.extras.add(id=i, json=json.dumps(extra))
    return reply
