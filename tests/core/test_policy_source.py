"""A policy as episodes get at it: made for each, or held by one at a time."""

from __future__ import annotations

from typing import Any

import pytest

from gym_gui.core.errors import UsageError
from gym_gui.core.policy_source import ActorContext, PolicySource
from gym_gui.core.types import StepSnapshot


class Named:
    def __init__(self, context: ActorContext) -> None:
        self.agent = context.agent_id

    def select_action(self, observation: Any) -> tuple[str, Any]:
        return self.agent, observation


def test_a_class_is_called_for_each_episode_and_shown_its_seat() -> None:
    source = PolicySource.of(Named)
    one, other = source.make(ActorContext("blue")), source.make(ActorContext("red"))
    assert not source.exclusive and one is not other
    assert one.select_action(StepSnapshot(observation=3)) == ("blue", 3)


def test_an_object_is_the_only_one_there_is() -> None:
    source = PolicySource.of(Named(ActorContext()))
    assert source.exclusive and source.make(ActorContext()) is source.make(ActorContext())


def test_a_function_decides_itself_and_keeps_nothing() -> None:
    source = PolicySource.of(lambda observation: observation + 1)
    assert not source.exclusive
    assert source.make(ActorContext()).select_action(StepSnapshot(observation=3)) == 4


def test_what_a_factory_makes_has_to_be_a_policy() -> None:
    with pytest.raises(UsageError, match="an int is not a policy"):
        PolicySource.made_by(lambda: 7).make(ActorContext())
    with pytest.raises(UsageError, match="an int is not a policy"):
        PolicySource.of(7)
