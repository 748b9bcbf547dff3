"""Worker process that is sent single questions in the contract test."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from gym_gui.core.experiment.legality import problem_with
from gym_gui.core.spaces import NotInSpace, SpaceCodec, sample_legal
from gym_gui.core.types import Mask, Shown
from gym_gui.processes.outcome import ChildOutcome
from gym_gui.wire import add_columns, columns_of, pb
from gym_gui.workers.connection import WorkerEvents
from gym_gui.workers.definition import WorkerTypeDefinition
from gym_gui.workers.launch import Launch
from gym_gui.workers.process import WorkerProcess
from gym_gui.workers.supervisor import SlotRequest
from mosaic_worker.rng import bits

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de"
    "0000000c49444154789c63f8cfc0000003010100c9fe92ef0000000049454e44ae426082"
)
"""PNG file of one red pixel, for workers that request an image."""

BEAT_S = 0.2
"""Interval of heartbeats in seconds that the contract test requests from the worker."""


SHOWN = Shown(facts=("looking(east)", "facing(wall)"))
"""Slot inputs besides the observation that the contract test sends if it has no environment."""


class Question(NamedTuple):
    """Question to a worker in the contract test: one decision.

    Attributes:
        episode: Index of the episode.
        step: Step of the decision.
        seed: Policy seed of the episode.
        observation: A value of the observation space.
        mask: Mask of the legal actions, or ``None``.
        attempt: 0, or the number of the retry.
        reason: Why the previous attempt was refused.
        shown: Inputs of the slot besides the observation.
    """

    episode: int
    step: int
    seed: int
    observation: Any
    mask: Mask | None = None
    attempt: int = 0
    reason: str = ""
    shown: Shown = SHOWN


class Reply(NamedTuple):
    """A worker's answer to one question of the contract test.

    Attributes:
        parts: Encoded action, one byte string per leaf of its space.
        action: The action.
        problem: Why the action is missing or cannot be played; ``""`` if it can.
    """

    parts: tuple[bytes, ...] = ()
    action: Any = None
    problem: str = ""


class _BeatingProcess(WorkerProcess):
    """Worker process that is asked for frequent heartbeats; sets ``alive`` when the first one arrives."""

    def __init__(self, launch: Launch, events: WorkerEvents) -> None:
        super().__init__(launch, events)
        self.alive = asyncio.Event()

    def _hello(self) -> pb.Hello:
        hello = super()._hello()
        hello.heartbeat_s = BEAT_S
        return hello

    def _on_message(self, message: pb.FromWorker) -> None:
        if message.WhichOneof("body") == "alive":
            self.alive.set()
        super()._on_message(message)


class ProbeLost(Exception):
    """Error: the tested worker process has ended or does not answer; the message gives the reason."""


class Probe:
    """Worker process with one slot, to which the contract test sends single questions.

    Args:
        definition: The worker.
        request: The slot.
        patience_s: Longest wait for an answer.
        start_s: Longest wait for the process to be ready.

    Attributes:
        strays: Descriptions of received answers that belong to no open question.
    """

    def __init__(
        self, definition: WorkerTypeDefinition, request: SlotRequest, patience_s: float, start_s: float
    ) -> None:
        self.request, self.patience_s = request, patience_s
        self.observation_codec, self.action_codec = (
            SpaceCodec(request.observation_space),
            SpaceCodec(request.action_space),
        )
        self.process = _BeatingProcess(
            Launch(definition, "check", [request.agent_id], start_timeout_s=start_s), self
        )
        self.strays: list[str] = []
        self.ended = asyncio.Event()
        self._next = 1
        self._open: dict[int, Question] = {}
        self._replies: dict[int, Reply] = {}
        self._news = asyncio.Event()

    # --- messages from the process ----------------------------------------------------------

    def on_replies(self, replies: pb.Replies) -> None:
        """Check received answers and store them."""
        ids = list(replies.ids)
        if replies.slot != 0:
            self.strays.append(f"it answered for slot {replies.slot}, which it does not fill")
            return
        try:
            rows = self.action_codec.split(columns_of(replies.action), len(ids)) if ids else []
            for i, parts in zip(ids, rows, strict=True):
                self._keep(i, self._checked_reply(i, parts))
        except NotInSpace as exc:
            for i in ids:
                self._keep(i, Reply(problem=f"its action does not fit the action space: {exc}"))
        for p in replies.problems:
            self._keep(p.id, Reply(problem=f"it gave no action: {p.reason or 'without a reason'}"))
        self._news.set()

    def _checked_reply(self, i: int, parts: tuple[bytes, ...]) -> Reply:
        question = self._open.get(i)
        action = self.action_codec.decode(parts)
        if self.action_codec.space.kind == "Discrete":
            action = int(action)
        mask = question.mask if question is not None else None
        return Reply(parts, action, problem_with(self.action_codec.space, action, mask))

    def _keep(self, i: int, reply: Reply) -> None:
        if self._open.pop(i, None) is None:
            known = "twice" if i < self._next else "which was never asked"
            self.strays.append(f"it answered decision {i}, {known}")
        else:
            self._replies[i] = reply

    def on_human_request(self, request: pb.HumanRequest) -> None:
        """Answer in place of a person with a random legal action, the same in every test."""
        question = self._open.get(request.id)
        human = pb.HumanAction(slot=request.slot, id=request.id)
        if question is not None:
            key = int(bits(question.seed, question.step)[0])
            action = sample_legal(self.action_codec.space, question.mask, key)
            add_columns(human.action, self.action_codec.join([self.action_codec.encode(action)]))
        self.process.send(pb.ToWorker(human=human))

    def on_call(self, json_text: str) -> None:
        """Ignore a paid call, which the contract test does not check."""

    def on_announce(self, announce: pb.Announce) -> None:
        """Confirm the announcement of a paid call, because the contract test has no budget."""
        self.process.send(pb.ToWorker(noted=pb.Noted(number=announce.number)))

    def on_log(self, level: int, logger: str, text: str) -> None:
        """Ignore printed and logged lines, which the connection counts."""

    def on_ended(self, outcome: ChildOutcome) -> None:
        """Wake all waiting methods, because the process has ended."""
        self.ended.set()
        self._news.set()

    # --- messages to the process ------------------------------------------------------------

    async def start(self) -> float:
        """Start the worker process and exchange ``Hello`` and ``Welcome``.

        Returns:
            Seconds until the worker's ``Welcome``.
        """
        begin = time.perf_counter()
        await self.process.start()
        return time.perf_counter() - begin

    async def load(self) -> tuple[str, float]:
        """Load the tested slot, whose index is 0.

        Returns:
            The policy's name, and the seconds that loading took.
        """
        begin = time.perf_counter()
        policy = await self.process.load(self.request.message(0))
        return policy, time.perf_counter() - begin

    def send_results(
        self,
        *,
        starts: Mapping[int, int] | None = None,
        ends: Sequence[int] = (),
        results: pb.Results | None = None,
    ) -> None:
        """Send starts, ends and results of episodes without a question.

        Args:
            starts: Episodes that begin, with their policy seeds.
            ends: Episodes that have ended.
            results: Results of earlier actions, or ``None``.
        """
        work = pb.Work(slot=0, results=results)
        for k, episode in enumerate(ends):
            status = ("completed", "aborted", "failed")[k % 3]
            work.ends.add(episode=episode, total_reward=1.5, steps=3, status=status)
        for episode, seed in (starts or {}).items():
            work.starts.add(episode=episode, seed=seed)
        self.process.send(pb.ToWorker(work=work))

    async def ask(self, questions: Sequence[Question], *, batch: int = 256) -> list[Reply]:
        """Send questions in batches of at most ``batch``, and return all answers.

        Raises:
            ProbeLost: The process ended, or an answer did not arrive in time.
        """
        size = min(batch, self.process.welcome.in_flight or batch)
        replies: list[Reply] = []
        for at in range(0, len(questions), size):
            replies += await self._ask_batch(questions[at : at + size])
        return replies

    def post(self, questions: Sequence[Question]) -> list[int]:
        """Send questions without waiting for answers, and return the ids of the decisions."""
        ids = list(range(self._next, self._next + len(questions)))
        self._next += len(questions)
        self._open.update(zip(ids, questions, strict=True))
        work = pb.Work(slot=0)
        self._pack(work.questions, ids, questions)
        self.process.send(pb.ToWorker(work=work))
        return ids

    async def _ask_batch(self, questions: Sequence[Question]) -> list[Reply]:
        ids = self.post(questions)
        deadline = time.monotonic() + self.patience_s
        while any(i in self._open for i in ids):
            left = deadline - time.monotonic()
            if self.process.outcome is not None:
                raise ProbeLost(f"it {self.process.outcome.words}")
            if left <= 0:
                missing = sum(i in self._open for i in ids)
                for i in ids:
                    self._open.pop(i, None)
                raise ProbeLost(
                    f"{missing} of {len(ids)} decisions were not answered in {self.patience_s:g} s"
                )
            self._news.clear()
            try:
                await asyncio.wait_for(self._news.wait(), left)
            except TimeoutError:
                continue
        return [self._replies.pop(i) for i in ids]

    def _pack(self, q: pb.Questions, ids: Sequence[int], questions: Sequence[Question]) -> None:
        q.ids.extend(ids)
        q.episodes.extend(x.episode for x in questions)
        q.steps.extend(x.step for x in questions)
        q.seeds.extend(x.seed for x in questions)
        add_columns(
            q.observation,
            self.observation_codec.join([self.observation_codec.encode(x.observation) for x in questions]),
        )
        masks = [x.mask for x in questions]
        if any(m is not None for m in masks):
            width = next(len(m) for m in masks if m is not None)
            every = np.ones(width, np.bool_)
            q.masks = np.concatenate([every if m is None else m != 0 for m in masks]).tobytes()
        if any(x.attempt for x in questions):
            q.attempts.extend(x.attempt for x in questions)
            q.reasons.extend(x.reason for x in questions)
        inputs = self.process.welcome.inputs
        if "text" in inputs:
            q.texts.extend(x.shown.text or f"You see {x.observation}." for x in questions)
        if any(x.shown.choices for x in questions):
            for x in questions:
                q.choices.add(
                    actions=[c.action for c in x.shown.choices], words=[c.word for c in x.shown.choices]
                )
        if "image" in inputs:
            q.images.extend(pb.Image(data=PNG, mime="image/png") for _ in questions)
        if "facts" in inputs:
            q.facts.extend(pb.Facts(facts=x.shown.facts) for x in questions)
        if "state" in inputs:
            q.states.extend(pb.State(values=x.shown.state) for x in questions)
        if "messages" in inputs:
            q.messages.extend(pb.Messages(texts=["Hello"]) for _ in questions)
