"""Decisions that wait for another program: which of them continue, and which are canceled."""

from __future__ import annotations

import asyncio
import queue
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from mosaic_worker.concurrent import AsyncWorker, Decider
from mosaic_worker.spaces import Space
from mosaic_worker.worker import Batch, Decision, EpisodeEnd, Invalid, Slot

THREE = Space.from_json({"kind": "Discrete", "dtype": "int64", "n": 3, "start": 0})
WAIT_S = 20


class Slow(AsyncWorker):
    """Answers only later attempts at a decision; notes what becomes of each decision."""

    def __init__(self) -> None:
        self.told: queue.Queue[tuple[str, int, int]] = queue.Queue()
        self.closed = False

    async def decide(self, slot: Slot, decision: Decision) -> Any:
        place = (slot.index, decision.id)
        self.told.put(("asked", *place))
        try:
            await asyncio.sleep(0 if decision.attempt else 3600)
        except asyncio.CancelledError:
            self.told.put(("given up", *place))
            raise
        return Invalid(f"number {decision.id}")

    async def aclose(self) -> None:
        self.closed = True

    def said(self, count: int) -> set[tuple[str, int, int]]:
        """The next so many notes."""
        return {self.told.get(timeout=WAIT_S) for _ in range(count)}


Answers = "queue.Queue[tuple[int, Any]]"


@pytest.fixture
def answers() -> Answers:
    return queue.Queue()


@pytest.fixture
def worker() -> Slow:
    return Slow()


@pytest.fixture
def decider(worker: Slow, answers: Answers) -> Iterator[Decider]:
    made = Decider(worker, lambda batch, result: answers.put((batch.ids[0], result)))
    yield made
    made.close()
    assert worker.closed


def asked(*ids: int, slot: int = 0, episodes: tuple[int, ...] = (0,), attempt: int = 0) -> Batch:
    many = len(ids)
    return Batch(
        Slot(slot, f"agent_{slot}", "any", THREE, THREE, {}),
        ids,
        episodes,
        [0] * many,
        np.zeros(many, np.uint64),
        np.zeros(many, np.int64),
        attempts=[attempt] * many,
    )


def test_who_is_asked_again_gives_up_what_was_asked_before(
    worker: Slow, decider: Decider, answers: Answers
) -> None:
    decider.ask(asked(1, 2, episodes=(0, 1)))
    decider.ask(asked(3, slot=1))
    assert worker.said(3) == {("asked", 0, 1), ("asked", 0, 2), ("asked", 1, 3)}
    decider.ask(asked(4, attempt=1))
    assert worker.said(2) == {("given up", 0, 1), ("asked", 0, 4)}
    number, result = answers.get(timeout=WAIT_S)
    assert (number, result.reason) == (4, "number 4")
    decider.ask(asked(5, attempt=1))  # a decision that has been answered cannot be canceled
    assert worker.said(1) == {("asked", 0, 5)}
    assert answers.get(timeout=WAIT_S)[0] == 5
    assert worker.told.empty() and answers.empty()


def test_the_end_of_an_episode_gives_up_its_decision_alone(
    worker: Slow, decider: Decider, answers: Answers
) -> None:
    batch = asked(1, 2, episodes=(0, 1))
    decider.ask(batch)
    worker.said(2)
    decider.end(batch.slot, [EpisodeEnd(1, 0.0, 3, "aborted")])
    assert worker.said(1) == {("given up", 0, 2)}
    decider.ask(asked(3, episodes=(2,), attempt=1))
    assert answers.get(timeout=WAIT_S)[0] == 3
    assert worker.said(1) == {("asked", 0, 3)} and worker.told.empty()


def test_closing_gives_up_everything(answers: Answers) -> None:
    worker = Slow()
    decider = Decider(worker, lambda batch, result: answers.put((batch.ids[0], result)))
    decider.ask(asked(1, 2, episodes=(0, 1)))
    worker.said(2)
    decider.close()
    assert worker.said(2) == {("given up", 0, 1), ("given up", 0, 2)}
    assert worker.closed and answers.empty()
