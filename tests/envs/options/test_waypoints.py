"""Places to go to: which tasks have them, where they start and end on real observations, and the contract."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gym_gui.core.errors import UsageError
from gym_gui.core.paradigms import HierarchicalAdapter
from gym_gui.core.paradigms.check import check_environment
from gym_gui.envs import make

BOSS, AGENT = "agent_0/goal", "agent_0"
LEFT, RIGHT = range(2)


class Cart:
    """CartPole with a manager; the cart can be put somewhere, which is seen after the next step."""

    def __init__(self) -> None:
        self.environment = make("CartPole-v1").with_manager()
        assert isinstance(self.environment.adapter, HierarchicalAdapter)
        self.adapter = self.environment.adapter
        self.adapter.reset(seed=3)
        self.names = self.environment.action_meanings(BOSS)

    def choose(self, name: str) -> None:
        self.adapter.step({BOSS: self.names.index(name)})

    def move(self, action: int, place: float, speed: float = 0.0) -> str:
        """How the option has ended with a move from somewhere, ``""`` where it goes on."""
        self.environment.env.state = (place, speed, 0.0, 0.0)
        self.adapter.step({AGENT: action})
        ended = self.adapter.take_ended().get(BOSS)
        return "" if ended is None else ended.why

    @property
    def can(self) -> set[str]:
        return {option.name for _, option in self.adapter.startable(BOSS)}


def test_one_goes_where_one_is_not_yet_and_arrives_at_rest() -> None:
    cart = Cart()
    assert cart.names == ("go to(-1 m)", "go to(-0.5 m)", "go to(0 m)", "go to(0.5 m)", "go to(1 m)")
    assert cart.can == set(cart.names) - {"go to(0 m)"}
    cart.choose("go to(0.5 m)")
    assert cart.move(RIGHT, 0.2) == ""
    assert cart.move(LEFT, 0.5, speed=1.0) == ""  # it only passes by
    assert cart.move(RIGHT, 0.5, speed=-0.1) == "over"
    assert cart.can == set(cart.names) - {"go to(0.5 m)"}


def test_who_does_not_arrive_is_asked_again() -> None:
    cart = Cart()
    cart.choose("go to(1 m)")
    ends = [cart.move(LEFT, 0.0) for _ in range(200)]
    assert ends == [""] * 199 + ["budget"]


def test_a_cart_on_mujocos_track_has_places_too() -> None:
    pytest.importorskip("mujoco")
    environment = make("InvertedPendulum-v5").with_manager()
    adapter: Any = environment.adapter
    adapter.reset(seed=0)
    started = {option.name for _, option in adapter.startable(BOSS)}
    assert started == set(environment.action_meanings(BOSS)) - {"go to(0 m)"}
    assert {"go to(-0.75 m)", "go to(0.25 m)"} < started


RUNNERS = {"exclude_current_positions_from_observation": False}


@pytest.mark.parametrize("task", ["Swimmer-v5", "Ant-v5"])
def test_runners_that_see_where_they_are_have_places_on_the_ground(task: str) -> None:
    pytest.importorskip("mujoco")
    environment = make(task, env_kwargs=RUNNERS).with_manager()
    adapter: Any = environment.adapter
    adapter.reset(seed=0)
    names = environment.action_meanings(BOSS)
    assert len(names) == 4 and {option.name for _, option in adapter.startable(BOSS)} == set(names)
    library = environment.family.options(make(task, env_kwargs=RUNNERS), AGENT)
    assert library is not None
    for option in library.options:
        here = np.zeros(environment.adapter.observation_space(AGENT)["observation"].shape)
        began = library.read(here)
        here[:2] = [float(each.removesuffix(" m")) for each in option.arguments]
        there = library.read(here)
        assert option.starts(began) and not option.ends(began, began)
        assert option.ends(there, began) and not option.starts(there)


@pytest.mark.parametrize("task", ["Hopper-v5", "Swimmer-v5", "Ant-v5", "Acrobot-v1", "MountainCar-v0"])
def test_where_an_observation_does_not_say_where_one_is_there_are_none(task: str) -> None:
    if task.endswith("v5"):
        pytest.importorskip("mujoco")
    with pytest.raises(UsageError, match=f"{task} has no options of its own"):
        make(task).with_manager()


def test_conditions_are_of_the_observation_alone() -> None:
    here, there = make("CartPole-v1"), make("CartPole-v1")
    own, other = (each.family.options(each, AGENT) for each in (here, there))
    assert own is not None and other is not None
    seen = here.adapter.reset(seed=1)[AGENT]
    there.adapter.reset(seed=2)
    for step in range(8):
        before, seen = own.read(seen), here.adapter.step({AGENT: step % 2}).observations[AGENT]
        there.adapter.step({AGENT: 1})
        for mine, theirs in zip(own.options, other.options, strict=True):
            assert mine.starts(own.read(seen)) == theirs.starts(other.read(seen))
            assert mine.ends(own.read(seen), before) == theirs.ends(other.read(seen), before)


def test_with_a_manager_the_contract_is_kept() -> None:
    report = check_environment(lambda: make("CartPole-v1").with_manager().adapter, steps=80)
    assert report.ok, "\n".join(report.lines())
