"""The design documents' service: agents bound to names and objects, asked with and without an engine."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gym_gui.core.enums import SteppingParadigm
from gym_gui.core.errors import UnknownNameError, UsageError
from gym_gui.core.types import EpisodeSummary, StepSnapshot
from gym_gui.services.actor import ActorContext, ActorService
from gym_gui.services.policy_mapping import AgentPolicyBinding, PolicyMappingService
from tests.support.engine import bind_operator, play, player


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
        with pytest.raises(UsageError, match=r"agent 'a' has no policy\. Bind a policy first"):
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


async def test_a_session_plays_what_is_bound_here() -> None:
    mapping = service(Fixed(0, "rock"), Fixed(1, "paper"))
    mapping.set_agents(["player_0", "player_1"])
    mapping.bind_agent_policy("player_1", "paper")
    bound = await bind_operator("rps_v2", {a: player() for a in mapping.agent_ids}, api="parallel")
    for slot in bound.slots.values():
        mapping.set_slot(slot)
    sheet = await play(replace(bound, policies=mapping), [5], max_steps=2)
    assert sheet.column(0, "action") == [0, 1, 0, 1]


async def test_agents_without_a_policy_of_their_own_are_played_by_the_default_one() -> None:
    mapping = PolicyMappingService(ActorService())
    mapping.set_default_policy(Fixed(2))  # pyright: ignore[reportArgumentType]  # any policy will do
    bound = await bind_operator("rps_v2", {a: player() for a in ("player_0", "player_1")}, api="parallel")
    for slot in bound.slots.values():
        mapping.set_slot(slot)
    sheet = await play(replace(bound, policies=mapping), [5], max_steps=1)
    assert sheet.column(0, "action") == [2, 2]


def test_an_agent_that_nobody_bound_is_told_as_it_is_asked() -> None:
    actor = Fixed(1)
    mapping = service(actor)
    assert mapping.select_action("b", StepSnapshot(agent_id="b")) == 1
    mapping.notify_step("b", StepSnapshot(step_index=4, agent_id="b"))
    mapping.notify_episode_end("b", EpisodeSummary(agent_id="b"))
    assert actor.told == [4, "end"]


def test_the_default_policy_is_told_of_each_of_its_agents() -> None:
    mapping, default = PolicyMappingService(ActorService()), Fixed(1)
    mapping.set_default_policy(default)
    for agent in ("a", "b"):
        mapping.select_action(agent, StepSnapshot(agent_id=agent))
    for agent in ("a", "b"):
        mapping.notify_episode_end(agent, EpisodeSummary(agent_id=agent))
    assert default.told == ["end", "end"]


async def test_what_the_default_policy_does_is_held_against_the_rules() -> None:
    mapping = PolicyMappingService(ActorService())
    mapping.set_default_policy(Fixed(9))  # pyright: ignore[reportArgumentType]  # any policy will do
    bound = await bind_operator("rps_v2", {a: player() for a in ("player_0", "player_1")}, api="parallel")
    for slot in bound.slots.values():
        mapping.set_slot(slot)
    sheet = await play(replace(bound, policies=mapping), [5], max_steps=1)
    assert "action 9 is outside 0..2" in sheet.episodes[0]["error"]


def test_the_default_policy_does_not_play_for_an_agent_that_a_worker_plays() -> None:
    mapping = PolicyMappingService()
    mapping.set_default_policy(Fixed(1))  # pyright: ignore[reportArgumentType]  # any policy will do
    mapping.bind_agent_policy("a", "cleanrl_ppo")
    with pytest.raises(UsageError, match="played by a worker process"):
        mapping.select_action("a", 0)
    with pytest.raises(UsageError, match="played by a worker process"):
        mapping.begin_episode(0, {"a": (1, "a")})
    assert mapping.get_policy("a") is None


@pytest.mark.parametrize("agents_first", [True, False])
def test_the_default_policy_takes_the_place_of_the_active_one(agents_first: bool) -> None:
    mapping, default = service(Fixed(1, "active")), Fixed(2, "default")
    if agents_first:
        mapping.set_agents(["a", "b"])
    mapping.bind_agent_policy("b", "active")
    mapping.set_default_policy(default)  # pyright: ignore[reportArgumentType]  # any policy will do
    mapping.set_agents(["a", "b"])
    assert mapping.select_actions({"a": 0, "b": 0}) == {"a": 2, "b": 1}
    assert mapping.get_policy("a") is default and mapping.get_policy("b") is None


def test_what_answers_batches_is_not_said_to_be_a_worker() -> None:
    mapping = PolicyMappingService(ActorService())
    batched: Any = type("Batched", (), {"exclusive": True})()
    known = mapping.actor_service.register_policy("replay", batched)
    mapping.bind_agent_policy("a", "replay")
    assert known.exclusive and mapping.exclusive
    with pytest.raises(UsageError, match="a is played by 'replay', which answers batches: only a session"):
        mapping.select_action("a", 0)


@pytest.mark.parametrize("bound", [True, False])
def test_a_policy_is_made_with_the_seed_it_is_asked_with(bound: bool) -> None:
    seeds: list[Any] = []

    class Seeded(Fixed):
        def __init__(self, context: ActorContext) -> None:
            super().__init__(0)
            seeds.append(context.seed)

    known = ActorService()
    known.register_actor(Seeded, actor_id="seeded")
    mapping = PolicyMappingService(known)
    if bound:
        mapping.bind_agent_policy("a", "seeded")
    mapping.select_action("a", StepSnapshot(agent_id="a", seed=5))
    assert seeds == [5]
