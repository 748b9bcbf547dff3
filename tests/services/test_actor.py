"""Policies by name: made per episode from a factory, or held as the one object there is."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from gym_gui.core.errors import PolicyFailure, UnknownNameError, UsageError
from gym_gui.services.actor import (
    Actor,
    ActorContext,
    ActorService,
    EpisodeSummary,
    HumanKeyboardActor,
    KeyboardQueue,
    NoopActor,
    RandomActor,
    StepSnapshot,
    default_actor_service,
)
from gym_gui.workers.capabilities import WorkerCapabilities
from gym_gui.workers.registry import WorkerTypeDefinition, WorkerTypeRegistry


class Counter:
    """Answers with how often it was asked, and keeps what it was told."""

    def __init__(self, id: str = "counter") -> None:
        self.id = id
        self.name = "Counter"
        self.asked = 0
        self.told: list[object] = []

    def select_action(self, snapshot: StepSnapshot) -> Any:
        self.asked += 1
        return self.asked

    def on_step(self, snapshot: StepSnapshot) -> None:
        self.told.append(snapshot)

    def on_episode_end(self, summary: EpisodeSummary) -> None:
        self.told.append(summary)


def test_instance_is_exclusive_and_a_factory_is_not():
    service = ActorService()
    counter = Counter()
    held = service.register_actor(counter)
    made = service.register_actor(Counter, actor_id="fresh")
    assert (held.actor_id, held.display_name, held.exclusive, made.exclusive) == (
        "counter",
        "Counter",
        True,
        False,
    )
    context = ActorContext()
    assert held.make(context) is held.make(context) is counter
    assert made.make(context) is not made.make(context)


def test_factory_with_a_required_parameter_gets_the_context():
    service = ActorService()
    service.register_actor(lambda context: Counter(context.agent_id), actor_id="named")
    assert service.registration("named").make(ActorContext("blue_1")).id == "blue_1"


def test_first_registered_is_active_until_another_is_chosen():
    service = ActorService()
    assert service.get_active_actor_id() is None
    service.register_actor(Counter("a"))
    service.register_actor(Counter("b"))
    assert service.get_active_actor_id() == "a"
    service.register_actor(Counter("c"), activate=True)
    assert service.get_active_actor_id() == "c"
    service.set_active_actor("b")
    assert service.get_active_actor_id() == "b"
    assert list(service.available_actor_ids()) == ["a", "b", "c"]
    service.unregister_actor("b")
    assert service.get_active_actor_id() == "a"


def test_active_policy_is_asked_and_told():
    service = ActorService()
    counter = Counter()
    service.register_actor(counter)
    snapshot, summary = StepSnapshot(), EpisodeSummary()
    assert service.select_action(snapshot) == 1
    service.notify_step(snapshot)
    service.notify_episode_end(summary)
    assert counter.told == [snapshot, summary]


def test_factory_makes_one_actor_per_episode_and_agent():
    service = ActorService()
    service.register_actor(Counter, actor_id="fresh")
    one, two = StepSnapshot(episode_index=1), StepSnapshot(episode_index=2)
    assert [service.select_action(s) for s in (one, one, two, one)] == [1, 2, 1, 3]
    service.notify_episode_end(EpisodeSummary(episode_index=1))
    assert [service.select_action(s) for s in (one, two)] == [1, 2]
    service.register_actor(Counter, actor_id="fresh")
    assert service.select_action(two) == 1


def test_nothing_registered_is_an_error_not_a_silent_none():
    with pytest.raises(UsageError, match="no policy is registered"):
        ActorService().select_action(StepSnapshot())


def test_unknown_policy_names_the_nearest():
    service = ActorService()
    service.register_actor(Counter("counter"))
    for call in (service.registration, service.set_active_actor, service.unregister_actor):
        with pytest.raises(UnknownNameError, match="Did you mean 'counter'"):
            call("cuonter")
    with pytest.raises(KeyError):
        service.registration("cuonter")


@pytest.mark.parametrize(
    ("thing", "words"),
    [(7, "an int is not a policy"), (Counter, "needs a name"), (lambda: Counter(), "needs a name")],
)
def test_what_is_no_policy_or_has_no_name_is_refused(thing: object, words: str):
    with pytest.raises(UsageError, match=words):
        ActorService().register_actor(thing)


def test_worker_policy_says_where_it_lives():
    service = ActorService()
    registration = service.register_worker_policy("cleanrl_ppo", "cleanrl_worker", settings={"a": 1})
    assert (registration.worker_id, registration.settings, registration.exclusive) == (
        "cleanrl_worker",
        {"a": 1},
        False,
    )
    with pytest.raises(UsageError, match="played by worker cleanrl_worker"):
        service.select_action(StepSnapshot())


def test_operator_objects_are_adapted():
    class Parrot:
        id, name = "parrot", "Polly"

        def select_action(self, observation: Any, legal_actions: list[int] | None = None) -> Any:
            return observation

        def reset(self, seed: int | None = None) -> None: ...
        def on_step_result(self, *told: object) -> None: ...

    service = ActorService()
    assert service.register_actor(Parrot()).display_name == "Polly"
    assert service.select_action(StepSnapshot(observation=5)) == 5


SPACES = [
    gym.spaces.Discrete(5, start=-2),
    gym.spaces.MultiDiscrete([2, 3]),
    gym.spaces.MultiBinary(4),
    gym.spaces.Box(-1, 1, (3,), np.float32),
    gym.spaces.Box(-np.inf, np.inf, (2,)),
    gym.spaces.Dict(a=gym.spaces.Discrete(2), b=gym.spaces.Box(1, 2, (2,))),
    gym.spaces.Tuple([gym.spaces.Discrete(2), gym.spaces.Discrete(3)]),
]


@pytest.mark.parametrize("space", SPACES, ids=str)
@pytest.mark.parametrize("policy", [RandomActor, NoopActor])
def test_builtin_policies_act_within_any_space(policy: Any, space: gym.Space[Any]):
    actor: Actor = policy(ActorContext(action_space=space, seed=3))
    for step in range(20):
        assert space.contains(actor.select_action(StepSnapshot(step, seed=3)))


def test_random_depends_on_seed_and_step_alone_and_covers_what_is_legal():
    actor = RandomActor(ActorContext(action_space=gym.spaces.Discrete(6, start=1), seed=1))
    mask = np.array([0, 1, 0, 1, 1, 0], np.int8)
    first = [actor.select_action(StepSnapshot(i, seed=9, action_mask=mask)) for i in range(200)]
    again = [actor.select_action(StepSnapshot(i, seed=9, action_mask=mask)) for i in reversed(range(200))]
    other = [actor.select_action(StepSnapshot(i, seed=10, action_mask=mask)) for i in range(200)]
    assert first == again[::-1]
    assert first != other
    assert set(first) == {2, 4, 5}
    assert all(40 < first.count(action) < 100 for action in (2, 4, 5))


def test_random_without_a_space_goes_by_the_mask_or_says_what_it_misses():
    actor = RandomActor(ActorContext())
    assert actor.select_action(StepSnapshot(action_mask=np.array([0, 0, 1]))) == 2
    with pytest.raises(PolicyFailure, match="neither the action space nor a mask"):
        actor.select_action(StepSnapshot())


def test_unseeded_random_differs_between_actors():
    draws = [
        [actor.select_action(StepSnapshot(i)) for i in range(40)]
        for actor in (RandomActor(ActorContext(action_space=gym.spaces.Discrete(9))) for _ in range(2))
    ]
    assert draws[0] != draws[1]


def test_noop_prefers_the_environments_own_and_stays_legal():
    mask = np.array([0, 0, 1, 1], np.int8)
    space = gym.spaces.Discrete(4)
    own = NoopActor(ActorContext(action_space=space, noop_action=3))
    assert own.select_action(StepSnapshot()) == 3
    assert own.select_action(StepSnapshot(action_mask=mask)) == 3
    assert NoopActor(ActorContext(action_space=space)).select_action(StepSnapshot(action_mask=mask)) == 2
    assert NoopActor(ActorContext()).select_action(StepSnapshot(action_mask=mask)) == 2
    with pytest.raises(PolicyFailure, match="does not know the action space"):
        NoopActor(ActorContext()).select_action(StepSnapshot())


def test_person_answers_when_they_have_chosen():
    queue = KeyboardQueue()
    actor = HumanKeyboardActor(queue)
    mine, other = StepSnapshot(agent_id="p0"), StepSnapshot(agent_id="p1")
    assert actor.select_action(mine) is None
    queue.feed(4, "p0")
    queue.feed(0, "p0")
    assert actor.select_action(other) is None
    assert actor.select_action(mine) == 4
    actor.on_episode_end(EpisodeSummary(agent_id="p0"))
    assert actor.select_action(mine) is None


def test_default_service_offers_builtins_and_each_workers_default():
    def worker(type_id: str, policy: str) -> WorkerTypeDefinition:
        capabilities = WorkerCapabilities(type_id)
        return WorkerTypeDefinition(type_id, type_id, "", capabilities, default_policy_id=policy)

    with WorkerTypeRegistry.isolated() as registry:
        registry.register(worker("rl_worker", "rl_ppo"))
        registry.register(worker("dice_worker", "random"))
        registry.register(worker("quiet_worker", ""))
        service = default_actor_service(registry=registry)
    assert list(service.available_actor_ids()) == ["human_keyboard", "random", "noop", "rl_ppo"]
    assert service.registration("rl_ppo").worker_id == "rl_worker"
    assert service.registration("random").worker_id == ""
    assert service.get_active_actor_id() == "human_keyboard"


def test_default_service_finds_the_bundled_workers_by_itself():
    with WorkerTypeRegistry.isolated():
        assert "cleanrl_ppo" in default_actor_service().available_actor_ids()
