"""Slot that a worker process plays: sends questions in batches and receives answers in any order."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from gym_gui.core.enums import EpisodeStatus, Limit, Loss, UnusableCause
from gym_gui.core.errors import ProtocolError
from gym_gui.core.experiment.legality import ActionNames, problem_with
from gym_gui.core.experiment.spending import NOTHING, Amount, SlotSpending
from gym_gui.core.spaces import NotInSpace, Space, SpaceCodec
from gym_gui.core.types import CAUSE, Answer, Decision, EpisodeSummary, Mask, Shown, StepOutcome
from gym_gui.processes.outcome import ChildOutcome
from gym_gui.wire import add_columns, pb
from gym_gui.workers.connection import WorkerConnection
from gym_gui.workers.decision_batch import DecisionBatch
from gym_gui.workers.observation_streams import EpisodeStreams, PreprocessedObservation
from gym_gui.workers.recorded_extras import read_extras
from gym_gui.workers.team_context import JoinedAgent, TeamContext
from mosaic_worker.failures import described
from mosaic_worker.preprocessing import Pipeline

MAX_BATCH = 256
"""Largest number of questions in one message to a worker."""
_NEXT_TO_NOTHING = 1e-12
"""Smallest allowance in US dollars, used because 0 would mean no limit."""
_BATCHES_AHEAD = 2
"""Messages that a worker has at a time: one in work and one waiting, so that it is never idle."""

Sink = Callable[[list[Answer]], None]


class WorkerSlot:
    """One slot, played by a worker process.

    Args:
        index: Number of the slot within its process.
        agent_id: Name of the slot.
        process: Connection to a worker that is started and loaded.
        observation_space: Gymnasium space of the worker's observations.
        action_space: Gymnasium space of the slot's actions.
        sink: Function that receives answers as they arrive.
        deadline_s: Longest time for an answer in seconds; ``None`` for no limit.
        pipeline: Preprocessing of observations before the worker receives them; ``observation_space`` is
            its output space.
        action_meanings: Name of each discrete action, or empty.

    Attributes:
        completed: Number of episodes that the slot has played to their end.
        names: Names of the slot's actions.
    """

    exclusive = False

    def __init__(
        self,
        index: int,
        agent_id: str,
        process: WorkerConnection,
        observation_space: Any,
        action_space: Any,
        sink: Sink,
        deadline_s: float | None = None,
        pipeline: Pipeline | None = None,
        action_meanings: Sequence[str] = (),
    ) -> None:
        self.index, self.agent_id, self.process = index, agent_id, process
        self.names = ActionNames.of(agent_id, action_meanings)
        self._streams = None if pipeline is None else EpisodeStreams(pipeline)
        self._observation_codec, self._action_codec = SpaceCodec(observation_space), SpaceCodec(action_space)
        self._sink, self._deadline_s = sink, deadline_s
        self._queue: list[Decision] = []
        self._open: dict[int, tuple[Decision, list[float]]] = {}
        self._batch_queue: list[DecisionBatch] = []
        self._open_batches: dict[int, tuple[DecisionBatch, float]] = {}
        self._messages_in_work = 0
        self._starts: dict[int, tuple[int, str]] = {}
        self._joined: dict[int, JoinedAgent] = {}
        self._ends: list[EpisodeSummary] = []
        self._results: list[StepOutcome] = []
        self._timer: asyncio.TimerHandle | None = None
        self._allowed: dict[int, Amount] = {}
        self._paid: dict[int, SlotSpending] = {}
        self._playing: dict[int, set[str]] = {}
        self._begun: set[int] = set()
        self._tainted: dict[int, str] = {}
        self._with_person: set[int] = set()
        self._patient_until = 0.0
        self._is_lost = False
        self._given_up_reason = ""
        self.completed = 0

    @property
    def action_space(self) -> Space:
        """Description of the slot's action space."""
        return self._action_codec.space

    @property
    def deadline_s(self) -> float | None:
        """Longest time for an answer in seconds; ``None`` for no limit."""
        return self._deadline_s

    @property
    def carrier(self) -> WorkerConnection:
        """Connection to the worker process, which several slots may share."""
        return self.process

    @property
    def wants_results(self) -> bool:
        """Whether the worker wants to receive the results of its actions."""
        return self.process.welcome.wants_results

    def begin(self, episode: int, seed: int, agent_id: str = "", joined: JoinedAgent | None = None) -> None:
        """Begin an episode; the worker learns of it with the first question."""
        agent = agent_id or self.agent_id
        self._starts[episode] = seed, agent
        if self._streams is not None:
            self._streams.begin(episode, agent)
        if joined is not None:
            self._joined[episode] = joined
        if (real := self._real(episode)) in self._allowed:
            self._playing.setdefault(real, set()).add(agent)
        self._begun.add(episode)

    def _real(self, episode: int) -> int:
        """Return the index of the run's episode to which a single agent's episode belongs."""
        joined = self._joined.get(episode)
        return episode if joined is None else joined.episode

    def allow(self, episode: int, allowance: Amount) -> None:
        """Set the amount that an episode may spend; the worker gets it when each agent begins."""
        self._allowed[episode] = allowance
        self._paid[episode] = SlotSpending(announces=self.process.welcome.announces)

    def over(self, episode: int) -> None:
        """Drop the spending data of an episode that has ended."""
        for known in (self._allowed, self._paid, self._playing):
            known.pop(episode, None)

    def left(self, episode: int, allowance: Amount) -> Amount:
        """Return the unspent part of an allowance for an episode that begins again.

        Open calls count as paid.
        """
        paid = self._paid[episode].cut_off().paid if episode in self._paid else NOTHING
        tokens = max(1, allowance.tokens - paid.tokens) if allowance.tokens else 0
        return Amount(tokens, max(_NEXT_TO_NOTHING, allowance.usd - paid.usd) if allowance.usd else 0.0)

    def on_call(self, call: Mapping[str, Any]) -> Mapping[str, Any]:
        """Add a paid model call to its episode's spending.

        Returns:
            The record of the call, with the run's episode in place of the episode of a single agent.
        """
        episode = call.get("episode")
        if not isinstance(episode, int):
            return call
        if episode in self._joined:
            episode = self._real(episode)
            call = {**call, "episode": episode}
        if episode in self._paid and call.get("agent") in self._playing.get(episode, ()):
            self._paid[episode] = self._paid[episode].with_call(call)
        return call

    def on_announce(self, episode: int, most: Amount) -> int:
        """Add a paid request that the worker is about to send to its episode's spending.

        Args:
            episode: The episode in the worker's numbering.
            most: Largest cost of the request.

        Returns:
            The run's episode.
        """
        episode = self._real(episode)
        if episode in self._paid:
            self._paid[episode] = self._paid[episode].with_request(most)
        return episode

    def end(self, summary: EpisodeSummary) -> None:
        """End an episode and drop its open questions."""
        episode = summary.episode_index
        for i in [i for i, (d, _) in self._open.items() if d.episode == episode]:
            self._close(i)
        self._queue = [d for d in self._queue if d.episode != episode]
        self._begun.discard(episode)
        self._joined.pop(episode, None)
        if self._streams is not None:
            self._streams.end(episode)
        self.completed += summary.status == EpisodeStatus.COMPLETED
        if self._tainted.pop(episode, None) is None and self._starts.pop(episode, None) is None:
            self._ends.append(summary)

    def result(self, outcome: StepOutcome) -> None:
        """Queue the result of an earlier action, which the worker gets with the next message."""
        # A process that replaced a lost one knows nothing of the episodes before it.
        if self.process.welcome.wants_results and outcome.episode not in self._tainted:
            self._results.append(outcome if self._streams is None else self._seen(self._streams, outcome))

    def ask(self, decisions: Sequence[Decision]) -> None:
        """Queue questions for the worker; the sink receives their answers."""
        if self._given_up_reason or self._tainted:
            failures = [self._given_up_reason or self._tainted.get(d.episode, "") for d in decisions]
            loss = Loss.GIVEN_UP if self._given_up_reason else Loss.DIED
            pairs = list(zip(decisions, failures, strict=True))
            self._sink([Answer(d, failure=f, loss=loss) for d, f in pairs if f])
            decisions = [d for d, f in pairs if not f]
        if self._streams is not None:
            decisions = self._preprocess(self._streams, decisions)
        self._queue.extend(decisions)
        self._flush()

    @property
    def takes_batches(self) -> bool:
        """Whether questions can be sent as a batch, without a decision object for each."""
        at_once = self.process.welcome.in_flight
        plain = self._streams is None and not at_once and not self.wants_results
        return plain and not (self._is_lost or self._given_up_reason or self._tainted)

    def ask_batch(self, batch: DecisionBatch) -> None:
        """Queue a batch of questions for the worker."""
        self._batch_queue.append(batch)
        self._flush()

    def unfold(self) -> None:
        """Make decision objects of all questions in batches that have no answer yet."""
        opened, self._open_batches = self._open_batches, {}
        for batch, asked in opened.values():
            decisions = batch.unfold()
            record = [len(decisions), asked]
            self._open.update([(d.id, (d, record)) for d in decisions])
            if not decisions:  # no episode waits for this message's answers any more
                self._messages_in_work -= 1
        if opened:  # deadlines are checked in the order of asking
            self._open = dict(sorted(self._open.items(), key=lambda entry: entry[1][1][1]))
        waiting, self._batch_queue = self._batch_queue, []
        for batch in waiting:
            self._queue += batch.unfold()

    def _preprocess(self, streams: EpisodeStreams, decisions: Sequence[Decision]) -> list[Decision]:
        """Return the questions whose observations could be preprocessed; answer the others as failed."""
        fine, failed = list[Decision](), list[Answer]()
        for d in decisions:
            try:
                streams.see(d.episode, d.observation, d.encoded)
            except Exception as exc:  # the border to Gymnasium's wrappers
                failed.append(Answer(d, failure=f"its preprocessing failed: {described(exc)}"))
            else:
                fine.append(d)
        if failed:
            self._sink(failed)
        return fine

    def fed(self, decision: Decision) -> PreprocessedObservation | None:
        """Return an open question's observation after preprocessing; ``None`` without preprocessing."""
        return None if self._streams is None else self._streams.fed(decision)

    @staticmethod
    def _seen(streams: EpisodeStreams, outcome: StepOutcome) -> StepOutcome:
        """Return a result with its observation after preprocessing."""
        parts = streams.see(outcome.episode, outcome.observation, outcome.encoded)
        return outcome._replace(encoded=parts)

    def settle(self) -> None:
        """Send pending ends and results now, although there is no question to send with them."""
        if (self._ends or self._results) and not self._is_lost:
            self._send([])

    def _flush(self) -> None:
        if self._is_lost:
            return
        queue = self._queue
        at_once = self.process.welcome.in_flight
        if at_once:
            while queue and len(self._open) < at_once:
                self._send([queue.pop(0)])
            return
        while queue and self._messages_in_work < _BATCHES_AHEAD:
            # The questions are divided evenly over the free messages, so that the worker works while we step.
            size = min(MAX_BATCH, -(-len(queue) // (_BATCHES_AHEAD - self._messages_in_work)))
            batch, self._queue = queue[:size], queue[size:]
            queue = self._queue
            self._send(batch)
        while self._batch_queue and self._messages_in_work < _BATCHES_AHEAD:
            self._send_batch()

    def _send_batch(self) -> None:
        """Send the first waiting batch, or a part of it that leaves questions for the next message."""
        first = self._batch_queue[0]
        size = min(
            MAX_BATCH, -(-sum(map(len, self._batch_queue)) // (_BATCHES_AHEAD - self._messages_in_work))
        )
        if len(first) > size:
            first, self._batch_queue[0] = first.split(size)
        else:
            del self._batch_queue[0]
        message = self._news()
        self._pack_batch(message.work.questions, first)
        now = time.perf_counter()
        self._messages_in_work += 1
        self._open_batches[first.numbers[0]] = first, now
        if self._deadline_s is not None and self._timer is None:
            self._arm(self._deadline_s)
        self.process.send(message)

    def _send(self, batch: Sequence[Decision]) -> None:
        message = self._news()
        if batch:
            self._pack_questions(message.work.questions, batch)
            record = [len(batch), time.perf_counter()]
            self._messages_in_work += 1
            self._open.update([(d.id, (d, record)) for d in batch])
            if self._deadline_s is not None and self._timer is None:
                self._arm(self._deadline_s)
        self.process.send(message)

    def _news(self) -> pb.ToWorker:
        """Return a message with all results, ends and starts that come before the next questions."""
        message = pb.ToWorker()
        work = message.work
        work.slot = self.index
        if self._results:
            self._pack_results(work.results)
        for s in self._ends:
            work.ends.add(
                episode=s.episode_index, total_reward=s.total_reward, steps=s.steps, status=s.status
            )
        self._ends.clear()
        if self._starts:
            for episode, (seed, agent) in self._starts.items():
                allowed = self._allowed.get(self._real(episode), NOTHING)
                start = work.starts.add(
                    episode=episode, seed=seed, agent=agent, tokens=allowed.tokens, usd=allowed.usd
                )
                if (joined := self._joined.get(episode)) is not None:
                    start.joins = joined.episode
                    if joined.told is not None:
                        start.seat.CopyFrom(seat_of(agent, joined.told))
            self._starts.clear()
        return message

    def _pack_questions(self, q: pb.Questions, batch: Sequence[Decision]) -> None:
        q.ids.extend([d.id for d in batch])
        q.episodes.extend([d.episode for d in batch])
        q.steps.extend([d.step for d in batch])
        q.seeds.extend([d.seed for d in batch])
        streams = self._streams
        shown = [d.encoded if streams is None else streams.seen(d.episode) for d in batch]
        add_columns(q.observation, self._observation_codec.join(shown))
        q.masks = _masks([d.action_mask for d in batch])
        attempts = [d.attempt for d in batch]
        if any(attempts):
            q.attempts.extend(attempts)
            q.reasons.extend([d.reason for d in batch])
        if batch[0].shown is not None:
            self._pack_shown(q, batch)

    def _pack_batch(self, q: pb.Questions, batch: DecisionBatch) -> None:
        q.ids.extend(batch.numbers)
        q.episodes.extend([episode.index for episode in batch.episodes])
        # An episode does not step while it has an open question: these are the steps of the questions.
        q.steps.extend([episode.steps for episode in batch.episodes])
        agents = zip(batch.episodes, batch.agents, strict=True)
        q.seeds.extend([episode.seeds[agent] for episode, agent in agents])
        add_columns(q.observation, self._observation_codec.join(batch.encoded))
        if batch.masked:
            q.masks = _masks(batch.masks)

    def _pack_shown(self, q: pb.Questions, batch: Sequence[Decision]) -> None:
        """Add the slot inputs that the worker requested in its ``Welcome``."""
        inputs = self.process.welcome.inputs
        shown = [d.shown or Shown() for d in batch]
        if "text" in inputs:
            q.texts.extend([each.text for each in shown])
        if "image" in inputs:
            q.images.extend([pb.Image(data=each.image, mime="image/png") for each in shown])
        if "facts" in inputs:
            q.facts.extend([pb.Facts(facts=each.facts) for each in shown])
        if "state" in inputs:
            q.states.extend([pb.State(values=each.state) for each in shown])
        if "messages" in inputs:
            q.messages.extend([pb.Messages(texts=each.messages) for each in shown])
        if any(each.choices for each in shown):
            for each in shown:
                actions, words = [c.action for c in each.choices], [c.word for c in each.choices]
                q.choices.add(actions=actions, words=words)

    def _pack_results(self, r: pb.Results) -> None:
        done, self._results = self._results, []
        r.episodes.extend([o.episode for o in done])
        r.steps.extend([o.step for o in done])
        r.rewards.extend([o.reward for o in done])
        r.terminated.extend([o.terminated for o in done])
        r.truncated.extend([o.truncated for o in done])
        add_columns(r.observation, self._observation_codec.join([o.encoded for o in done]))
        add_columns(r.action, self._action_codec.join([self._action_codec.encode(o.action) for o in done]))

    def on_replies(self, replies: pb.Replies) -> None:
        """Convert a worker's message to answers and pass them to the sink."""
        ids = list(replies.ids)
        if self._open_batches:
            if self._try_whole_batch(ids, replies):
                return
            self.unfold()
        extras, answers = self._extras(ids, replies)
        if ids:
            try:
                actions = self._action_codec.unstack(replies.action, len(ids))
            except NotInSpace as exc:
                answers += self._refuse(ids, f"its action does not fit the action space: {exc}")
            else:
                answers += self._accept(ids, actions, extras)
        for p in replies.problems:
            opened = self._close(p.id)
            if opened is not None:
                answers.append(_problem(opened, p, extras.get(p.id)))
        if answers:
            self._flush()
            self._sink(answers)

    def _try_whole_batch(self, ids: Sequence[int], replies: pb.Replies) -> bool:
        """Answer a batch if the message has a playable action for each question; else return ``False``."""
        if not ids or ids[0] not in self._open_batches:
            return False
        batch, asked = self._open_batches[ids[0]]
        if batch.numbers != ids or replies.problems or replies.extras:
            return False
        if len(replies.values) not in (0, len(ids)):
            return False  # the path with objects uses the values that are present
        try:
            actions = self._action_codec.unstack(replies.action, len(ids))
        except NotInSpace:
            return False  # the path with objects reports the error for each question
        if not self._are_legal(actions, batch):
            return False
        del self._open_batches[ids[0]]
        self._messages_in_work -= 1
        latency_ms = (time.perf_counter() - asked) * 1e3
        extras = [{"value": value} for value in replies.values] or None
        self._flush()
        batch.answer(actions, latency_ms, extras)
        return True

    def _are_legal(self, actions: Sequence[Any], batch: DecisionBatch) -> bool:
        space = self._action_codec.space
        if space.kind == "Discrete" and not batch.masked:
            return space.start <= min(actions) and max(actions) < space.start + space.n
        rows = zip(actions, batch.masks, strict=True)
        return not any(problem_with(space, action, mask, self.names) for action, mask in rows)

    def _accept(
        self, ids: Sequence[int], actions: Sequence[Any], extras: Mapping[int, dict[str, Any]]
    ) -> list[Answer]:
        now, answers = time.perf_counter(), list[Answer]()
        space, opened = self._action_codec.space, self._open
        plain = space.kind == "Discrete"
        low, high = space.start, space.start + space.n
        for i, action in zip(ids, actions, strict=True):
            entry = opened.pop(i, None)
            if entry is None:
                continue  # the answer came after its deadline or its episode
            decision, record = entry
            record[0] -= 1
            if not record[0]:
                self._messages_in_work -= 1
            mask = decision.action_mask
            is_legal = plain and mask is None and low <= action < high
            invalid = "" if is_legal else problem_with(space, action, mask, self.names)
            latency = (now - record[1]) * 1e3
            answers.append(Answer(decision, action, invalid, "", latency, extras.get(i) if extras else None))
        return answers

    def _extras(
        self, ids: Sequence[int], replies: pb.Replies
    ) -> tuple[dict[int, dict[str, Any]], list[Answer]]:
        """Return the fields to record with actions, and refusals of answers whose fields are not valid."""
        extras: dict[int, dict[str, Any]] = {}
        refused: list[Answer] = []
        if replies.values:
            extras = {i: {"value": v} for i, v in zip(ids, replies.values, strict=False)}
        for extra in replies.extras:
            try:
                extras.setdefault(extra.id, {}).update(read_extras(extra.json))
            except ProtocolError as exc:
                refused += self._refuse([extra.id], exc.message)
        return extras, refused

    def _refuse(
        self, ids: Sequence[int], reason: str, extras: Mapping[str, Any] | None = None
    ) -> list[Answer]:
        closed = [self._close(i) for i in ids]
        return [Answer(d, invalid=reason, extras=extras) for d in closed if d is not None]

    def _count_down(self, record: list[float]) -> None:
        record[0] -= 1
        if record[0] == 0:
            self._messages_in_work -= 1

    def _close(self, i: int) -> Decision | None:
        entry = self._open.pop(i, None)
        if entry is None:
            return None
        self._count_down(entry[1])
        return entry[0]

    def _arm(self, seconds: float) -> None:
        self._timer = asyncio.get_running_loop().call_later(seconds, self._expire)

    def _expire(self) -> None:
        """Refuse overdue answers; ``_open`` is in the order of asking, so its first entry is the oldest."""
        self._timer = None
        assert self._deadline_s is not None
        self.unfold()
        now, overdue = time.perf_counter(), list[int]()
        if self._with_person or self._patient_until > now:
            # The session measures a person's time. The worker waits, with all its questions.
            self._arm(self._deadline_s)
            return
        for i, (_, record) in self._open.items():
            left = record[1] + self._deadline_s - now
            if left > 0.001:
                self._arm(left)
                break
            overdue.append(i)
        if overdue:
            late = {CAUSE: UnusableCause.TIME_OUT.value}
            answers = self._refuse(overdue, f"no answer within {self._deadline_s:g} s", late)
            self._flush()
            self._sink(answers)

    def on_lost(self, outcome: ChildOutcome) -> None:
        """Handle the end of the process: episodes begun there are lost; questions of other episodes wait."""
        self.unfold()
        lost = f"worker {self.process.launch.definition.type_id} {outcome.words}"
        begun = self._begun - self._starts.keys()
        owed = [d for d, _ in self._open.values()] + [d for d in self._queue if d.episode in begun]
        self._is_lost = True
        self._tainted.update(dict.fromkeys(begun, lost))
        self._queue = [d for d in self._queue if d.episode not in self._tainted]
        self._open.clear()
        self._with_person.clear()
        self._ends.clear()
        self._results.clear()
        self._messages_in_work = 0
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if owed:
            self._sink([Answer(d, failure=lost, loss=Loss.DIED) for d in owed])

    def resume(self, process: WorkerConnection) -> None:
        """Continue with a new process, which has loaded the same slot."""
        self.process, self._is_lost = process, False
        self._flush()

    def give_up(self, reason: str) -> None:
        """Fail waiting and future questions, because no process will be started again."""
        self._given_up_reason = reason
        waiting, self._queue = self._queue, []
        if waiting:
            self._sink([Answer(d, failure=reason, loss=Loss.GIVEN_UP) for d in waiting])

    def retire(self) -> None:
        """Stop using this slot and ignore late answers."""
        self.unfold()
        self._open.clear()
        self._queue.clear()
        self._given_up_reason = "another policy plays this slot now"
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def on_human(self, request: pb.HumanRequest) -> Decision | None:
        """Return the open question that the worker wants a person to answer.

        The deadline is suspended until :meth:`answer_human`. If the session no longer waits for the answer,
        the worker is notified and the result is ``None``.
        """
        entry = self._open.get(request.id)
        if entry is None:
            self._tell_worker(request.id, None)
            return None
        self._with_person.add(request.id)
        return entry[0]

    def answer_human(self, decision: Decision, action: Any | None) -> None:
        """Send a person's action to the worker; ``None`` if the person has not chosen in time."""
        self._with_person.discard(decision.id)
        if self._deadline_s is not None:
            self._patient_until = time.perf_counter() + self._deadline_s
        self._tell_worker(decision.id, action)

    def _tell_worker(self, question: int, action: Any | None) -> None:
        human = pb.HumanAction(slot=self.index, id=question)
        if action is not None:
            add_columns(human.action, self._action_codec.join([self._action_codec.encode(action)]))
        self.process.send(pb.ToWorker(human=human))


def _masks(masks: Sequence[Mask | None]) -> bytes:
    """Return the masks of legal actions as bytes, row by row; ``b""`` if all actions are legal."""
    width = next((len(mask) for mask in masks if mask is not None), 0)
    if not width:
        return b""
    every = np.ones(width, np.bool_)
    return np.concatenate([every if mask is None else np.asarray(mask) != 0 for mask in masks]).tobytes()


def seat_of(agent: str, told: TeamContext) -> pb.Seat:
    """Return the protocol message that describes an agent's seat and team to a worker."""
    return pb.Seat(agent=agent, **vars(told))


def _problem(decision: Decision, p: pb.Problem, told: Mapping[str, Any] | None) -> Answer:
    """Return the answer for a reply without a playable action; its message to teammates is dropped."""
    extras = {name: value for name, value in (told or {}).items() if name != "said"}
    extras = extras | {"raw": p.raw} if p.raw else extras or None
    if p.fatal:
        limit = Limit(p.limit) if p.limit in tuple(Limit) else None
        return Answer(decision, failure=p.reason or "the policy failed", extras=extras, limit=limit)
    return Answer(decision, invalid=p.reason or "unusable reply", extras=extras)
