"""The design documents' own examples (section 7.1 and the service's page), elisions filled in."""

from __future__ import annotations

import pytest

from gym_gui.services import PolicyMappingService
from gym_gui.services.actor import ActorService, EpisodeSummary, StepSnapshot
from gym_gui.workers.registry import WorkerTypeRegistry


class MockActor:
    """The documents' actor: answers 1 and remembers whose results it was told."""

    def __init__(self, id: str) -> None:
        self.id = id
        self.heard: list[str] = []

    def select_action(self, snapshot: StepSnapshot) -> int | None:
        return 1

    def on_step(self, snapshot: StepSnapshot) -> None:
        self.heard.append(snapshot.agent_id)

    def on_episode_end(self, summary: EpisodeSummary) -> None:
        self.heard.append("end")


def test_single_agent_fallback():
    """Single agent should delegate to ActorService."""
    actor_service = ActorService()
    actor_service.register_actor(MockActor(id="test"), activate=True)

    mapping = PolicyMappingService(actor_service)
    mapping.set_agents(["agent_0"])

    snapshot = StepSnapshot(
        step_index=0, observation=None, reward=0, terminated=False, truncated=False, seed=None, info={}
    )
    action = mapping.select_action("agent_0", snapshot)

    assert action is not None


def test_multi_agent_binding():
    """Multiple agents should use their bound policies."""
    actor_service = ActorService()
    actor_service.register_actor(MockActor(id="policy_a"), activate=True)
    actor_service.register_actor(MockActor(id="policy_b"))

    mapping = PolicyMappingService(actor_service)
    mapping.set_agents(["player_0", "player_1"])
    mapping.bind_agent_policy("player_0", "policy_a")
    mapping.bind_agent_policy("player_1", "policy_b")

    first, second = mapping.get_binding("player_0"), mapping.get_binding("player_1")
    assert first is not None and first.policy_id == "policy_a"
    assert second is not None and second.policy_id == "policy_b"
    assert mapping.is_multi_agent()


def test_unknown_policy_is_a_key_error():
    mapping = PolicyMappingService(ActorService())
    with pytest.raises(KeyError):
        mapping.bind_agent_policy("player_0", "nobody")


def test_agents_without_a_binding_get_the_active_policy():
    actor_service = ActorService()
    actor_service.register_actor(MockActor(id="only"))
    mapping = PolicyMappingService(actor_service)
    mapping.set_agents(["a", "b"])
    assert {b.policy_id for b in mapping.get_all_bindings().values()} == {"only"}


def test_service_page_example_without_an_actor_service():
    with WorkerTypeRegistry.isolated():
        service = PolicyMappingService()
        service.set_agents(["player_0", "player_1"])
        service.bind_agent_policy("player_0", "human_keyboard")
        service.bind_agent_policy("player_1", "cleanrl_ppo", config={"model_path": "runs/model"})
    binding = service.get_binding("player_1")
    assert binding is not None
    assert (binding.worker_id, binding.config["model_path"]) == ("cleanrl_worker", "runs/model")
    assert service.select_action("player_0", StepSnapshot(agent_id="player_0")) is None


def test_results_reach_the_policy_of_their_agent():
    actor_service = ActorService()
    a, b = MockActor("policy_a"), MockActor("policy_b")
    actor_service.register_actor(a)
    actor_service.register_actor(b)
    mapping = PolicyMappingService(actor_service)
    mapping.set_agents(["player_0", "player_1"])
    mapping.bind_agent_policy("player_1", "policy_b")
    snapshots = {agent: StepSnapshot(agent_id=agent) for agent in mapping.agent_ids}
    assert mapping.select_actions(dict.fromkeys(snapshots, None), snapshots) == {"player_0": 1, "player_1": 1}
    for agent, snapshot in snapshots.items():
        mapping.notify_step(agent, snapshot)
    mapping.notify_episode_end("player_1", EpisodeSummary(agent_id="player_1"))
    assert (a.heard, b.heard) == (["player_0"], ["player_1", "end"])
