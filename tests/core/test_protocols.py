"""Any of the accepted shapes sits in a slot and is told what it expects to be told."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gym_gui.core.enums import SteppingParadigm
from gym_gui.core.errors import UsageError
from gym_gui.core.protocols import (
    Actor,
    ControllerActor,
    FunctionActor,
    Operator,
    OperatorController,
    PolicyController,
    as_actor,
)
from gym_gui.core.types import EpisodeSummary, StepSnapshot


class Parrot:
    """An operator that writes down what it is told."""

    id = "parrot"
    name = "Parrot"

    def __init__(self) -> None:
        self.heard: list[tuple[Any, ...]] = []

    def select_action(self, observation: Any, legal_actions: list[int] | None = None) -> Any:
        self.heard.append(("select", observation, legal_actions))
        return observation

    def reset(self, seed: int | None = None) -> None:
        self.heard.append(("reset", seed))

    def on_step_result(
        self, observation: Any, action: Any, reward: float, terminated: bool, truncated: bool
    ) -> None:
        self.heard.append(("result", observation, action, reward, terminated, truncated))


class Plain(Parrot):
    """The shape most people write: no legal actions."""

    def select_action(self, observation: Any) -> Any:  # type: ignore[override]
        return observation + 1


class Pair:
    """A controller of several agents, without an id."""

    def select_action(self, agent_id: str, observation: Any, info: Any = None) -> Any:
        return agent_id, observation, info

    def select_actions(self, observations: dict[str, Any]) -> dict[str, Any]:
        return observations


class Policy(Pair):
    id = "joint"
    paradigm = SteppingParadigm.SIMULTANEOUS

    def __init__(self) -> None:
        self.results: list[tuple[Any, ...]] = []

    def select_actions(
        self, observations: dict[str, Any], infos: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        return observations

    def on_step_result(self, agent_id: str, reward: float, done: bool, info: dict[str, Any]) -> None:
        self.results.append((agent_id, reward, done, info))


def test_shapes_are_recognized_structurally():
    assert isinstance(Parrot(), Operator)
    assert isinstance(Pair(), OperatorController)
    assert isinstance(Policy(), PolicyController)
    assert not isinstance(Parrot(), Actor)
    assert not isinstance(Pair(), PolicyController)


def test_operator_is_reset_once_per_episode_and_told_results():
    parrot = Parrot()
    actor = as_actor(parrot)
    mask = np.array([1, 0, 1], np.int8)
    for step in range(2):
        assert (
            actor.select_action(StepSnapshot(step, f"o{step}", seed=2**40 + 5, action_mask=mask))
            == f"o{step}"
        )
    actor.on_step(StepSnapshot(2, "end", 1.5, terminated=True))
    actor.on_episode_end(EpisodeSummary())
    actor.select_action(StepSnapshot(0, "again", seed=2**40 + 5))
    assert parrot.heard == [
        ("reset", 5),
        ("select", "o0", [0, 2]),
        ("select", "o1", [0, 2]),
        ("result", "end", "o1", 1.5, True, False),
        ("reset", 5),
        ("select", "again", None),
    ]


def test_operator_is_reset_when_the_next_episode_begins_unannounced():
    parrot = Parrot()
    actor = as_actor(parrot)
    actor.select_action(StepSnapshot(episode_index=0, seed=None))
    actor.select_action(StepSnapshot(episode_index=1, seed=None))
    assert [heard for heard in parrot.heard if heard[0] == "reset"] == [("reset", None)] * 2


def test_operator_without_legal_actions_parameter_works():
    assert as_actor(Plain()).select_action(StepSnapshot(observation=1)) == 2


def test_controller_gets_agent_and_mask():
    actor = as_actor(Pair())
    mask = np.array([0, 1], np.int8)
    agent, observation, info = actor.select_action(
        StepSnapshot(observation=3, agent_id="p1", action_mask=mask, info={"k": 1})
    )
    assert (agent, observation, info["k"]) == ("p1", 3, 1)
    assert info["action_mask"] is mask
    actor.on_step(StepSnapshot())  # has no on_step_result: nothing to be told


def test_policy_controller_is_told_results():
    policy = Policy()
    actor = as_actor(policy)
    actor.on_step(StepSnapshot(reward=2.0, truncated=True, agent_id="p0"))
    assert actor.id == "joint"
    assert policy.results == [("p0", 2.0, True, {})]


def test_functions_with_and_without_legal_actions():
    snapshot = StepSnapshot(observation=4, action_mask=np.array([0, 1], np.int8))
    assert as_actor(lambda obs: obs * 2).select_action(snapshot) == 8
    assert as_actor(lambda obs, legal: legal[0]).select_action(snapshot) == 1
    assert as_actor(lambda obs, *, legal_actions: legal_actions[0]).select_action(snapshot) == 1
    assert as_actor(lambda obs, scale=3: obs * scale).select_action(snapshot) == 12
    assert as_actor(max).select_action(StepSnapshot(observation=[1, 2])) == 2
    assert as_actor(len).select_action(StepSnapshot(observation=[1, 2])) == 2
    assert isinstance(as_actor(len), FunctionActor)


def test_whatever_selects_actions_is_a_policy():
    class Bare:
        def select_action(self, observation: object) -> object:
            return observation

    class Forgetful(Bare):
        def reset(self) -> None:
            resets.append(self)

    class Watching:
        def select_action(self, snapshot: StepSnapshot) -> int:
            return snapshot.step_index

        def on_step(self, snapshot: StepSnapshot) -> None:
            rewards.append(snapshot.reward)

    resets, rewards = list[object](), list[float]()
    for policy, chosen in ((Bare(), "seen"), (Forgetful(), "seen"), (Watching(), 7)):
        actor = as_actor(policy)
        assert actor.id == type(policy).__name__
        assert actor.select_action(StepSnapshot(7, "seen", seed=3)) == chosen
        actor.on_step(StepSnapshot(reward=2.0))
        actor.on_episode_end(EpisodeSummary())
    assert len(resets) == 1 and rewards == [2.0]


def test_actor_is_returned_as_it_is():
    actor = ControllerActor(Pair())
    assert as_actor(actor) is actor


@pytest.mark.parametrize(
    ("thing", "words"),
    [
        (Parrot, "is a class"),
        (7, "an int is not a policy"),
        (type("Half", (), {"id": "h", "reset": print, "select_action": 3})(), "select_action"),
    ],
)
def test_anything_else_is_refused_with_what_it_lacks(thing: object, words: str):
    with pytest.raises(UsageError, match=words):
        as_actor(thing)
