"""Who is asked, in which batches, and what happens to answers."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from gym_gui.core.errors import UsageError
from gym_gui.core.spaces import SpaceCodec
from gym_gui.core.types import Answer, Decision, EpisodeSummary, StepOutcome
from gym_gui.services.actor import ActorService
from gym_gui.services.backends import SlotInfo
from gym_gui.services.policy_mapping import AgentPolicyBinding, PolicyMappingService
from gym_gui.workers.team_context import JoinedAgent

SEES = spaces.Box(-10, 10, (2,), np.float32)
CODEC = SpaceCodec(SEES)


def decision(number: int, slot: str = "a", episode: int = 0, seen: Sequence[float] = (0, 0)) -> Decision:
    value = np.array(seen, np.float32)
    return Decision(number, episode, 0, slot, slot, 7, value, CODEC.encode(value))


@dataclass
class Box:
    """A backend that keeps what it is handed."""

    sink: Any
    carrier: Any = None
    exclusive: bool = False
    wants_results: bool = True
    batches: list[list[Decision]] = field(default_factory=list)
    begun: list[tuple[int, int, str]] = field(default_factory=list)
    results: list[StepOutcome] = field(default_factory=list)
    ends: list[EpisodeSummary] = field(default_factory=list)
    settles: int = 0

    def begin(self, episode: int, seed: int, agent_id: str = "", joined: JoinedAgent | None = None) -> None:
        self.begun.append((episode, seed, agent_id))

    def ask(self, decisions: Sequence[Decision]) -> None:
        self.batches.append(list(decisions))

    def result(self, outcome: StepOutcome) -> None:
        self.results.append(outcome)

    def end(self, summary: EpisodeSummary) -> None:
        self.ends.append(summary)

    def settle(self) -> None:
        self.settles += 1


def table(*slots: str) -> tuple[PolicyMappingService, dict[str, Box]]:
    policies = PolicyMappingService(ActorService())
    boxes = {slot: Box(policies.collect) for slot in slots}
    for slot, box in boxes.items():
        policies.attach(AgentPolicyBinding(slot, "box"), box)
    return policies, boxes


async def answered(policies: PolicyMappingService, decisions: Sequence[Decision]) -> list[Answer]:
    """Answers to questions that are asked as objects, and so answered."""
    answers = await policies.select_batch(decisions)
    return [answer for answer in answers if isinstance(answer, Answer)]


async def test_a_slot_gets_its_decisions_of_all_episodes_in_one_batch() -> None:
    policies, boxes = table("a", "b")
    asked = [decision(1, "a", 0), decision(2, "b", 0), decision(3, "a", 1), decision(4, "b", 1)]
    task = asyncio.create_task(answered(policies, asked))
    await asyncio.sleep(0)
    assert [[d.id for d in batch] for batch in boxes["a"].batches] == [[1, 3]]
    assert [[d.id for d in batch] for batch in boxes["b"].batches] == [[2, 4]]
    policies.collect([Answer(asked[3], 1)])
    assert [a.decision.id for a in await task] == [4]
    # Those that are still owed come later, to another call, in any order.
    policies.collect([Answer(asked[2], 1), Answer(asked[0], 1)])
    assert [a.decision.id for a in await answered(policies, [])] == [3, 1]
    assert not task.cancelled()


class Wire:
    """A carrier that counts how often it is asked to send."""

    def __init__(self, boxes: dict[str, Box], *carried: str) -> None:
        self._boxes, self.log = [boxes[slot] for slot in carried], list[str]()

    def flush(self) -> None:
        self.log.append(f"flush {sum(len(box.batches) for box in self._boxes)}")

    def pump(self) -> None:
        self.log.append("pump")
        for box in self._boxes:
            box.sink([Answer(d, 1) for batch in box.batches for d in batch])
            box.batches.clear()


async def test_questions_of_slots_that_share_a_process_leave_together() -> None:
    policies, boxes = table("a", "b", "c")
    wire, other = Wire(boxes, "a", "b"), Wire(boxes, "c")
    boxes["a"].carrier = boxes["b"].carrier = wire
    boxes["c"].carrier = other
    answers = await answered(policies, [decision(n, slot) for n, slot in enumerate("abc")])
    assert sorted(answer.decision.slot for answer in answers) == ["a", "b", "c"]
    assert (wire.log, other.log) == (["flush 2", "pump"], ["flush 1", "pump"])


async def test_it_waits_while_anything_is_owed_and_not_otherwise() -> None:
    policies, _ = table("a")
    assert await asyncio.wait_for(answered(policies, []), 5) == []
    task = asyncio.create_task(answered(policies, [decision(1)]))
    for _ in range(10):
        await asyncio.sleep(0)
    assert not task.done()
    policies.wake()
    assert await asyncio.wait_for(task, 5) == []
    policies.wake()  # where no task waits, nothing happens


async def test_what_a_failed_episode_was_asked_is_no_longer_owed() -> None:
    policies, boxes = table("a")
    policies.begin_episode(0, {"a": (7, "a")})
    task = asyncio.create_task(answered(policies, [decision(1)]))
    await asyncio.sleep(0)
    policies.wake()
    await task
    policies.end_episode(0, {"a": EpisodeSummary(0, agent_id="a", status="failed")})
    assert await asyncio.wait_for(answered(policies, []), 5) == []
    assert [s.status for s in boxes["a"].ends] == ["failed"]


async def test_an_observation_with_nan_is_not_shown_to_a_policy() -> None:
    policies, boxes = table("a")
    policies.set_slot(SlotInfo("a", SEES, spaces.Discrete(2)))
    asked = [decision(1, seen=(0, 1)), decision(2, episode=1, seen=(0, np.nan)), decision(3, episode=2)]
    answers = await answered(policies, asked)
    assert [(a.decision.id, "NaN" in a.failure) for a in answers] == [(2, True)]
    assert [[d.id for d in batch] for batch in boxes["a"].batches] == [[1, 3]]


async def test_infinity_is_shown() -> None:
    policies, boxes = table("a")
    policies.set_slot(SlotInfo("a", SEES, spaces.Discrete(2)))
    task = asyncio.create_task(answered(policies, [decision(1, seen=(np.inf, -np.inf))]))
    await asyncio.sleep(0)
    assert len(boxes["a"].batches[0]) == 1
    policies.wake()
    assert await task == []


def test_news_reach_the_slot_they_are_for() -> None:
    policies, boxes = table("a", "b")
    policies.begin_episode(3, {"a": (11, "seat_b"), "b": (12, "seat_a")})
    assert boxes["a"].begun == [(3, 11, "seat_b")] and boxes["b"].begun == [(3, 12, "seat_a")]
    outcome = StepOutcome(3, 0, "seat_b", "a", None, (), 1, 0.5, False, False, {})
    policies.notify_result(outcome)
    assert boxes["a"].results == [outcome] and not boxes["b"].results
    summaries = {slot: EpisodeSummary(3, agent_id=slot) for slot in "ab"}
    policies.end_episode(3, summaries)
    assert boxes["a"].ends == [summaries["a"]] and boxes["b"].ends == [summaries["b"]]
    policies.settle()
    assert (boxes["a"].settles, boxes["b"].settles) == (1, 1)


def test_a_policy_that_comes_later_is_told_of_the_episodes_that_are_on() -> None:
    policies, boxes = table("a")
    policies.begin_episode(3, {"a": (11, "a")})
    policies.begin_episode(4, {"a": (12, "a")})
    policies.end_episode(3, {"a": EpisodeSummary(3, agent_id="a")})
    late = Box(policies.collect)
    policies.attach(AgentPolicyBinding("a", "late"), late)
    assert late.begun == [(4, 12, "a")]
    policies.end_episode(4, {"a": EpisodeSummary(4, agent_id="a")})
    assert len(late.ends) == 1 and len(boxes["a"].ends) == 1


def test_one_policy_that_holds_one_episode_makes_the_mapping_exclusive() -> None:
    policies, boxes = table("a", "b")
    assert not policies.exclusive
    boxes["b"].exclusive = True
    assert policies.exclusive


def test_a_slot_that_nobody_plays_is_named() -> None:
    with pytest.raises(UsageError, match="agent 'a' has no policy"):
        PolicyMappingService(ActorService()).begin_episode(0, {"a": (1, "a")})
