"""The one mapping: who is asked, in which batches, and what happens to answers."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from gym_gui.core.enums import SteppingParadigm
from gym_gui.core.errors import UnknownNameError, UsageError
from gym_gui.core.spaces import SpaceCodec
from gym_gui.core.types import Answer, Decision, EpisodeSummary, StepOutcome, StepSnapshot
from gym_gui.services.actor import ActorService
from gym_gui.services.backends import SlotInfo
from gym_gui.services.policy_mapping import AgentPolicyBinding, PolicyMappingService

SEES = spaces.Box(-10, 10, (2,), np.float32)
CODEC = SpaceCodec(SEES)


def decision(number: int, slot: str = "a", episode: int = 0, seen: Sequence[float] = (0, 0)) -> Decision:
    value = np.array(seen, np.float32)
    return Decision(number, episode, 0, slot, slot, 7, value, CODEC.encode(value))


@dataclass
class Box:
    """A backend that keeps what it is handed."""

    sink: Any
    exclusive: bool = False
    wants_results: bool = True
    batches: list[list[Decision]] = field(default_factory=list)
    begun: list[tuple[int, int, str]] = field(default_factory=list)
    results: list[StepOutcome] = field(default_factory=list)
    ends: list[EpisodeSummary] = field(default_factory=list)
    settles: int = 0

    def begin(self, episode: int, seed: int, agent_id: str = "") -> None:
        self.begun.append((episode, seed, agent_id))

    def ask(self, decisions: Sequence[Decision]) -> None:
        self.batches.append(list(decisions))

    def result(self, outcome: StepOutcome) -> None:
        self.results.append(outcome)

    def end(self, summary: EpisodeSummary) -> None:
        self.ends.append(summary)

    def pump(self) -> None: ...

    def settle(self) -> None:
        self.settles += 1


def table(*slots: str) -> tuple[PolicyMappingService, dict[str, Box]]:
    mapping = PolicyMappingService(ActorService())
    boxes = {slot: Box(mapping.collect) for slot in slots}
    for slot, box in boxes.items():
        mapping.attach(AgentPolicyBinding(slot, "box"), box)
    return mapping, boxes


async def test_a_slot_gets_its_decisions_of_all_episodes_in_one_batch() -> None:
    mapping, boxes = table("a", "b")
    asked = [decision(1, "a", 0), decision(2, "b", 0), decision(3, "a", 1), decision(4, "b", 1)]
    task = asyncio.create_task(mapping.select_batch(asked))
    await asyncio.sleep(0)
    assert [[d.id for d in batch] for batch in boxes["a"].batches] == [[1, 3]]
    assert [[d.id for d in batch] for batch in boxes["b"].batches] == [[2, 4]]
    mapping.collect([Answer(asked[3], 1)])
    assert [a.decision.id for a in await task] == [4]
    # Those that are still owed come later, to another call, in any order.
    mapping.collect([Answer(asked[2], 1), Answer(asked[0], 1)])
    assert [a.decision.id for a in await mapping.select_batch([])] == [3, 1]
    assert not task.cancelled()


async def test_it_waits_while_anything_is_owed_and_not_otherwise() -> None:
    mapping, _ = table("a")
    assert await asyncio.wait_for(mapping.select_batch([]), 5) == []
    task = asyncio.create_task(mapping.select_batch([decision(1)]))
    for _ in range(10):
        await asyncio.sleep(0)
    assert not task.done()
    mapping.wake()
    assert await asyncio.wait_for(task, 5) == []
    mapping.wake()  # with nobody waiting, nothing happens


async def test_what_a_failed_episode_was_asked_is_no_longer_owed() -> None:
    mapping, boxes = table("a")
    mapping.begin_episode(0, {"a": (7, "a")})
    task = asyncio.create_task(mapping.select_batch([decision(1)]))
    await asyncio.sleep(0)
    mapping.wake()
    await task
    mapping.end_episode({"a": EpisodeSummary(0, agent_id="a", status="failed")})
    assert await asyncio.wait_for(mapping.select_batch([]), 5) == []
    assert [s.status for s in boxes["a"].ends] == ["failed"]


async def test_an_observation_with_nan_is_not_shown_to_a_policy() -> None:
    mapping, boxes = table("a")
    mapping.set_slot(SlotInfo("a", SEES, spaces.Discrete(2)))
    asked = [decision(1, seen=(0, 1)), decision(2, episode=1, seen=(0, np.nan)), decision(3, episode=2)]
    answers = await mapping.select_batch(asked)
    assert [(a.decision.id, "NaN" in a.failure) for a in answers] == [(2, True)]
    assert [[d.id for d in batch] for batch in boxes["a"].batches] == [[1, 3]]


async def test_infinity_is_shown() -> None:
    mapping, boxes = table("a")
    mapping.set_slot(SlotInfo("a", SEES, spaces.Discrete(2)))
    task = asyncio.create_task(mapping.select_batch([decision(1, seen=(np.inf, -np.inf))]))
    await asyncio.sleep(0)
    assert len(boxes["a"].batches[0]) == 1
    mapping.wake()
    assert await task == []


def test_news_reach_the_slot_they_are_for() -> None:
    mapping, boxes = table("a", "b")
    mapping.begin_episode(3, {"a": (11, "seat_b"), "b": (12, "seat_a")})
    assert boxes["a"].begun == [(3, 11, "seat_b")] and boxes["b"].begun == [(3, 12, "seat_a")]
    outcome = StepOutcome(3, 0, "seat_b", "a", None, (), 1, 0.5, False, False, {})
    mapping.notify_result(outcome)
    assert boxes["a"].results == [outcome] and not boxes["b"].results
    summaries = {slot: EpisodeSummary(3, agent_id=slot) for slot in "ab"}
    mapping.end_episode(summaries)
    assert boxes["a"].ends == [summaries["a"]] and boxes["b"].ends == [summaries["b"]]
    mapping.settle()
    assert (boxes["a"].settles, boxes["b"].settles) == (1, 1)


def test_a_policy_that_comes_later_is_told_of_the_episodes_that_are_on() -> None:
    mapping, boxes = table("a")
    mapping.begin_episode(3, {"a": (11, "a")})
    mapping.begin_episode(4, {"a": (12, "a")})
    mapping.end_episode({"a": EpisodeSummary(3, agent_id="a")})
    late = Box(mapping.collect)
    mapping.attach(AgentPolicyBinding("a", "late"), late)
    assert late.begun == [(4, 12, "a")]
    mapping.end_episode({"a": EpisodeSummary(4, agent_id="a")})
    assert len(late.ends) == 1 and len(boxes["a"].ends) == 1


def test_one_policy_that_holds_one_episode_makes_the_mapping_exclusive() -> None:
    mapping, boxes = table("a", "b")
    assert not mapping.exclusive
    boxes["b"].exclusive = True
    assert mapping.exclusive


# -- bindings ----------------------------------------------------------------------------


class Fixed:
    """An actor with one answer."""

    def __init__(self, answer: int, name: str = "fixed") -> None:
        self.answer, self.id = answer, name
        self.told: list[Any] = []

    def select_action(self, snapshot: StepSnapshot) -> int:
        return self.answer

    def on_step(self, snapshot: StepSnapshot) -> None:
        self.told.append(snapshot.step_index)

    def on_episode_end(self, summary: EpisodeSummary) -> None:
        self.told.append("end")


def service(*actors: Fixed) -> PolicyMappingService:
    known = ActorService()
    for actor in actors:
        known.register_actor(actor)
    return PolicyMappingService(known)


def test_unbound_agents_get_the_active_policy() -> None:
    mapping = service(Fixed(1, "one"), Fixed(2, "two"))
    mapping.bind_agent_policy("b", "two")
    mapping.set_agents(["a", "b"])
    assert {a: b.policy_id for a, b in mapping.get_all_bindings().items()} == {"a": "one", "b": "two"}
    assert mapping.select_actions({"a": None, "b": None}) == {"a": 1, "b": 2}
    assert mapping.agent_ids == ["a", "b"] and mapping.is_multi_agent()


def test_an_unknown_policy_is_a_key_error_with_the_nearest() -> None:
    mapping = service(Fixed(1, "careful"))
    with pytest.raises(KeyError) as caught:
        mapping.bind_agent_policy("a", "carefull")
    assert isinstance(caught.value, UnknownNameError) and "'careful'" in caught.value.fix
    assert mapping.get_binding("a") is None


def test_the_built_in_policies_are_there_without_a_service() -> None:
    mapping = PolicyMappingService()
    known = mapping.actor_service.available_actor_ids()
    assert {"random", "noop", "human_keyboard", "cleanrl_ppo"} <= set(known)


def test_settings_of_a_binding_are_kept() -> None:
    mapping = PolicyMappingService()
    mapping.bind_agent_policy("a", "random", config={"temperature": 2})
    mapping.bind_agent_policy("b", "cleanrl_ppo", config={"checkpoint": "x"})
    first, second = mapping.get_binding("a"), mapping.get_binding("b")
    assert first == AgentPolicyBinding("a", "random", None, {"temperature": 2})
    assert second is not None and second.worker_id == "cleanrl_worker"
    assert second.config["checkpoint"] == "x"


def test_a_policy_of_a_worker_cannot_be_asked_without_a_session() -> None:
    mapping = PolicyMappingService()
    mapping.bind_agent_policy("a", "cleanrl_ppo")
    with pytest.raises(UsageError, match=r"a is played by a worker process.*evaluate"):
        mapping.select_action("a", [0.0])


def test_nobody_bound_is_an_error_that_says_what_to_do() -> None:
    mapping = PolicyMappingService(ActorService())
    for ask in (lambda: mapping.select_action("a", 0), lambda: mapping.begin_episode(0, {"a": (1, "a")})):
        with pytest.raises(UsageError, match=r"agent 'a' has no policy\. Bind one"):
            ask()


def test_policy_objects_and_the_default_one() -> None:
    mapping = PolicyMappingService(ActorService())

    class Controller:
        id = "controller"
        paradigm = SteppingParadigm.SIMULTANEOUS

        def select_action(self, agent_id: str, observation: Any, info: Any = None) -> Any:
            return (agent_id, observation, sorted(info or {}))

        def select_actions(self, observations: Any, infos: Any = None) -> Any:
            return {agent: self.select_action(agent, seen) for agent, seen in observations.items()}

        def on_step_result(self, agent_id: str, reward: float, done: bool, info: Any) -> None:
            heard.append((agent_id, reward, done))

    heard: list[Any] = []
    own, default = Controller(), Controller()
    mapping.set_policy("a", own)
    mapping.set_default_policy(default)
    assert mapping.get_policy("a") is own and mapping.get_policy("b") is default
    assert mapping.list_agents() == ["a"] and mapping.exclusive
    assert mapping.select_action("b", 5, {"key": 1}) == ("b", 5, ["key"])
    mapping.notify_step("a", StepSnapshot(reward=2.0, terminated=True, agent_id="a"))
    assert heard == [("a", 2.0, True)]
    mapping.clear()
    assert mapping.get_policy("a") is None and mapping.list_agents() == []


def test_notifications_without_an_engine() -> None:
    actor = Fixed(1)
    mapping = service(actor)
    mapping.set_agents(["a"])
    mapping.select_action("a", StepSnapshot(agent_id="a"))
    mapping.notify_step("a", StepSnapshot(step_index=3, agent_id="a"))
    mapping.notify_episode_end("a", EpisodeSummary(agent_id="a"))
    assert actor.told == [3, "end"]


def test_the_paradigm_is_a_hint() -> None:
    mapping = PolicyMappingService(ActorService())
    assert mapping.paradigm is SteppingParadigm.SINGLE_AGENT and not mapping.is_multi_agent()
    mapping.set_paradigm_hint(SteppingParadigm.SEQUENTIAL)
    assert mapping.paradigm is SteppingParadigm.SEQUENTIAL
