"""One worker process, or one hired slot, to test against."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import gymnasium as gym
import numpy as np

from gym_gui.core.spaces import SpaceCodec
from gym_gui.core.types import Answer, Decision
from gym_gui.processes.outcome import ChildOutcome
from gym_gui.wire import pb
from gym_gui.workers.definition import WorkerTypeDefinition
from gym_gui.workers.process import Launch, WorkerProcess
from gym_gui.workers.slot import WorkerSlot
from gym_gui.workers.supervisor import SessionEvents, SlotRequest, Supervisor

SEES = gym.spaces.Box(-1, 1, (2,), np.float32)
DOES = gym.spaces.Discrete(3)
PATIENCE_S = 60.0


@dataclass
class Ear:
    """Hears what a worker process says (:class:`~gym_gui.workers.process.WorkerEvents`)."""

    replies: list[pb.Replies] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    logs: list[tuple[int, str, str]] = field(default_factory=list)
    outcomes: list[ChildOutcome] = field(default_factory=list)

    def on_replies(self, replies: pb.Replies) -> None:
        self.replies.append(replies)

    def on_human_request(self, request: pb.HumanRequest) -> None:
        raise AssertionError(f"no person is here to answer {request}")

    def on_call(self, json_text: str) -> None:
        self.calls.append(json_text)

    def on_announce(self, announce: pb.Announce) -> None:
        raise AssertionError(f"nothing is paid for here, as {announce} would be")

    def on_log(self, level: int, logger: str, text: str) -> None:
        self.logs.append((level, logger, text))

    def on_ended(self, outcome: ChildOutcome) -> None:
        self.outcomes.append(outcome)

    @property
    def log_text(self) -> str:
        """All log lines."""
        return "\n".join(text for _, _, text in self.logs)


@asynccontextmanager
async def running(
    definition: WorkerTypeDefinition, **options: Any
) -> AsyncIterator[tuple[WorkerProcess, Ear]]:
    """A worker process that has shaken hands; stopped at the end."""
    ear = Ear()
    process = WorkerProcess(Launch(definition, **options), ear)
    try:
        await process.start()
        yield process, ear
    finally:
        await process.stop()


async def outcome_of(process: WorkerProcess, ear: Ear) -> str:
    """How the process ended, in words, once it has."""
    async with asyncio.timeout(PATIENCE_S):
        while not ear.outcomes:
            await asyncio.sleep(0.01)
    assert ear.outcomes == [process.outcome]
    return process.outcome_words


def request(agent: str = "agent_0", **more: Any) -> SlotRequest:
    """A slot with small spaces."""
    return SlotRequest(agent, "Nothing-v0", SEES, DOES, more.pop("settings", {}), **more)


class Table:
    """A slot that a worker plays, and what it answers."""

    def __init__(self, slots: Sequence[WorkerSlot], answers: asyncio.Queue[Answer], logs: list[str]) -> None:
        self.slots, self.answers, self.logs = slots, answers, logs
        self._next = 0

    def begin(self, *episodes: int, slot: int = 0) -> None:
        """Begin episodes in a slot."""
        for episode in episodes:
            self.slots[slot].begin(episode, 1000 + episode)

    def ask(self, *episodes: int, slot: int = 0, **more: Any) -> list[Decision]:
        """Ask one question of each of these episodes."""
        codec, asked = SpaceCodec(SEES), list[Decision]()
        agent = self.slots[slot].agent_id
        for episode in episodes:
            self._next += 1
            seen = np.zeros(2, np.float32)
            asked.append(
                Decision(
                    self._next, episode, 0, agent, agent, 1000 + episode, seen, codec.encode(seen), **more
                )
            )
        self.slots[slot].ask(asked)
        return asked

    async def hear(self, count: int) -> list[Answer]:
        """The next answers, by decision id."""
        async with asyncio.timeout(PATIENCE_S):
            heard = [await self.answers.get() for _ in range(count)]
        return sorted(heard, key=lambda a: a.decision.id)


@asynccontextmanager
async def hired(
    definition: WorkerTypeDefinition, *requests: SlotRequest
) -> AsyncIterator[tuple[Table, Supervisor]]:
    """Slots filled by one worker process; dismissed at the end."""
    answers: asyncio.Queue[Answer] = asyncio.Queue()
    logs: list[str] = []
    events = SessionEvents(lambda *entry: logs.append(entry[2]), logs.append, lambda *_: None)
    supervisor = Supervisor("op", events)

    def sink(batch: list[Answer]) -> None:
        for answer in batch:
            answers.put_nowait(answer)

    try:
        slots = await supervisor.start_worker(definition, requests or (request(),), sink)
        yield Table([slot for slot, _ in slots], answers, logs), supervisor
    finally:
        await supervisor.close()
