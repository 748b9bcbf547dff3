"""Managers and controllers: whose turn, how long an option lasts, who is paid what."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from mpe2 import simple_spread_v3
from pettingzoo.classic.connect_four.connect_four import env as connect_four

from gym_gui.core.enums import SteppingParadigm
from gym_gui.core.errors import EnvironmentFailure, UsageError
from gym_gui.core.paradigms import HierarchicalAdapter, Option, OptionLibrary, adapt, manager_of
from gym_gui.core.paradigms.check import check_environment

AGENT, BOSS = "agent_0", "agent_0/goal"


class Line(gymnasium.Env[Any, Any]):
    """Walk a line of ten; every cell pays its number."""

    observation_space = spaces.Discrete(11)
    action_space = spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.at = 0
        return 0, {}

    def step(self, action: Any) -> Any:
        self.at += int(action)
        return self.at, float(self.at), self.at == 10, False, {}


def past_five(observation: int) -> bool:
    return observation >= 5


OPTIONS = (
    Option("walk", budget=3),
    Option("walk to", ("five",), is_over=lambda now, began: now >= 5),
    Option("run", budget=2, can_start=past_five),
)


def walker() -> HierarchicalAdapter:
    return HierarchicalAdapter(adapt(Line()), OPTIONS)


def test_the_manager_is_asked_first_and_the_world_waits() -> None:
    adapter = walker()
    assert adapter.paradigm is SteppingParadigm.HIERARCHICAL
    assert adapter.possible_agents == (AGENT, BOSS)
    assert adapter.reset(seed=0) == {BOSS: 0}
    assert list(adapter.get_current_agents()) == [BOSS]
    result = adapter.step({BOSS: 1})
    assert result.observations == {AGENT: {"observation": 0, "option": 1}}
    assert result.rewards == {}
    assert adapter.env.at == 0
    told = adapter.info(AGENT)
    assert (told["option"], told["option_arguments"], told["option_since"]) == ("walk to(five)", ("five",), 0)
    assert adapter.running(AGENT) == OPTIONS[1]


def test_an_option_ends_when_its_budget_is_spent() -> None:
    adapter = walker()
    adapter.reset(seed=0)
    adapter.step({BOSS: 0})
    for _ in range(2):
        assert BOSS not in adapter.step({AGENT: 1}).rewards
    last = adapter.step({AGENT: 1})
    assert last.rewards == {AGENT: 3.0, BOSS: 1.0 + 2.0 + 3.0}
    assert list(adapter.get_current_agents()) == [BOSS]
    assert last.observations[BOSS] == 3
    assert adapter.info(BOSS)["option_ended_by"] == "budget"


def test_a_manager_is_owed_what_its_option_earned_so_far() -> None:
    adapter = walker()
    adapter.reset(seed=0)
    adapter.step({BOSS: 1})
    for _ in range(3):
        adapter.step({AGENT: 1})
    assert adapter.owed() == {BOSS: 6.0}


def test_an_option_ends_at_its_own_end() -> None:
    adapter = walker()
    adapter.reset(seed=0)
    adapter.step({BOSS: 1})
    moves = 0
    while list(adapter.get_current_agents()) == [AGENT]:
        adapter.step({AGENT: 1})
        moves += 1
    assert moves == 5
    assert adapter.info(BOSS)["option_ended_by"] == "over"


def test_both_end_with_the_episode_and_earn_the_same() -> None:
    adapter = walker()
    adapter.reset(seed=0)
    earned = {AGENT: 0.0, BOSS: 0.0}
    while not adapter.is_episode_done():
        (agent,) = adapter.get_current_agents()
        result = adapter.step({agent: 0 if agent == BOSS else 1})
        for name, reward in result.rewards.items():
            earned[name] += reward
    assert earned == {AGENT: 55.0, BOSS: 55.0}
    assert result.terminated == {AGENT: True, BOSS: True}
    assert result.observations == {AGENT: {"observation": 10, "option": 0}, BOSS: 10}


def test_options_that_cannot_start_are_masked() -> None:
    adapter = walker()
    adapter.reset(seed=0)
    np.testing.assert_array_equal(adapter.action_mask(BOSS), [True, True, False])
    adapter.step({BOSS: 1})
    for _ in range(5):
        adapter.step({AGENT: 1})
    assert adapter.action_mask(BOSS) is None


def test_spaces_of_both_slots() -> None:
    adapter = walker()
    first = adapter.reset(seed=0)
    assert adapter.observation_space(BOSS).contains(first[BOSS])
    assert adapter.action_space(BOSS) == spaces.Discrete(3)
    shown = adapter.step({BOSS: 0}).observations[AGENT]
    assert adapter.observation_space(AGENT).contains(shown)
    assert adapter.action_space(AGENT) == spaces.Discrete(2)


@pytest.mark.parametrize(
    ("choice", "said"),
    [(-1, "option -1 of 3"), (3, "option 3 of 3"), (2, "agent_0/goal chose run, which cannot start now")],
)
def test_an_option_that_is_none_or_cannot_start_is_refused(choice: int, said: str) -> None:
    adapter = walker()
    adapter.reset(seed=0)
    with pytest.raises(EnvironmentFailure, match=said):
        adapter.step({BOSS: choice})


def test_how_options_ended_is_told_once() -> None:
    adapter = walker()
    adapter.reset(seed=0)
    ends: list[Any] = []
    while not adapter.is_episode_done():
        (agent,) = adapter.get_current_agents()
        adapter.step({agent: (len(ends) + 1) % 2 if agent == BOSS else 1})
        ends += adapter.take_ended().values()
    assert ends == [("over", 5), ("budget", 3), ("over", 1), ("episode", 1)]
    assert adapter.take_ended() == {}


def test_an_end_may_depend_on_what_was_seen_at_the_beginning() -> None:
    further = Option("two further", is_over=lambda now, began: now >= began + 2)
    adapter = HierarchicalAdapter(adapt(Line()), [further])
    adapter.reset(seed=0)
    ends: list[Any] = []
    while not adapter.is_episode_done():
        (agent,) = adapter.get_current_agents()
        adapter.step({agent: 0 if agent == BOSS else 1})
        ends += adapter.take_ended().values()
    assert ends == [("over", 2)] * 4 + [("episode", 2)]


def test_what_is_seen_is_read_once_for_all_options() -> None:
    read: list[int] = []

    def twice(observation: int) -> int:
        read.append(observation)
        return 2 * observation

    options = (
        Option("walk", is_over=lambda now, began: now >= 4),
        Option("run", can_start=lambda now: now > 0),
    )
    adapter = HierarchicalAdapter(adapt(Line()), {AGENT: OptionLibrary(options, twice)})
    adapter.reset(seed=0)
    np.testing.assert_array_equal(adapter.action_mask(BOSS), [True, False])
    adapter.step({BOSS: 0})
    adapter.step({AGENT: 1})
    adapter.step({AGENT: 1})
    assert (read, adapter.action_mask(BOSS)) == ([0, 1, 2], None)


def test_a_condition_that_fails_is_told_with_its_option() -> None:
    def broken(seen: Any) -> bool:
        raise ValueError("no such cell")

    adapter = HierarchicalAdapter(adapt(Line()), [Option("walk"), Option("fly", can_start=broken)])
    adapter.reset(seed=0)
    with pytest.raises(EnvironmentFailure, match="library cannot say whether fly can start: no such cell"):
        adapter.action_mask(BOSS)


def test_where_nothing_can_start_it_says_so() -> None:
    adapter = HierarchicalAdapter(adapt(Line()), [Option("run", can_start=past_five)])
    adapter.reset(seed=0)
    with pytest.raises(EnvironmentFailure, match="agent_0/goal has no option that can start"):
        adapter.action_mask(BOSS)


def test_the_controller_may_not_move_before_its_manager_chose() -> None:
    adapter = walker()
    adapter.reset(seed=0)
    with pytest.raises(EnvironmentFailure, match="no action for agent_0/goal"):
        adapter.step({AGENT: 1})


@pytest.mark.parametrize(
    ("options", "agents", "said"),
    [
        ((), None, "at least one option"),
        ((Option("a"), Option("a")), None, "same name"),
        ((Option("a", budget=0),), None, "budget of 0"),
        ((Option("a"),), ["agent_7"], "agent_7"),
        ({"agent_7": OptionLibrary((Option("a"),))}, None, "agent_7"),
        ({"agent_1": OptionLibrary((Option("a"),))}, [AGENT], "no options for agent_0"),
    ],
)
def test_what_cannot_be_managed_is_refused(options: Any, agents: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        HierarchicalAdapter(adapt(Line()), options, agents=agents)


def test_over_agents_that_act_at_once() -> None:
    inner = adapt(simple_spread_v3.parallel_env(max_cycles=9))
    adapter = HierarchicalAdapter(inner, (Option("two", budget=2), Option("four", budget=4)))
    adapter.reset(seed=0)
    assert list(adapter.get_current_agents()) == [manager_of(a) for a in inner.possible_agents]
    adapter.step({manager_of(a): i % 2 for i, a in enumerate(inner.possible_agents)})
    for _ in range(2):
        assert list(adapter.get_current_agents()) == list(inner.possible_agents)
        adapter.step(dict.fromkeys(inner.possible_agents, 0))
    assert list(adapter.get_current_agents()) == ["agent_0/goal", "agent_2/goal"]


def test_over_agents_that_take_turns_rewards_come_late() -> None:
    adapter = HierarchicalAdapter(adapt(connect_four()), (Option("one", budget=1),), agents=["player_0"])
    adapter.reset(seed=0)
    earned: dict[str, float] = {}
    asked: list[str] = []
    while not adapter.is_episode_done():
        (agent,) = adapter.get_current_agents()
        asked.append(agent)
        action = {"player_0": 0, "player_1": 1}.get(agent, 0)
        for name, reward in adapter.step({agent: action}).rewards.items():
            earned[name] = earned.get(name, 0.0) + reward
    assert asked[:6] == ["player_0/goal", "player_0", "player_1"] * 2
    assert earned == {"player_0": 1.0, "player_1": -1.0, "player_0/goal": 1.0}


@pytest.mark.parametrize(
    "make", [simple_spread_v3.env, simple_spread_v3.parallel_env], ids=["turns", "at_once"]
)
def test_managers_earn_what_their_controllers_earn(make: Any) -> None:
    adapter = HierarchicalAdapter(
        adapt(make(max_cycles=9)), (Option("two", budget=2), Option("three", budget=3))
    )
    adapter.reset(seed=4)
    earned: dict[str, float] = dict.fromkeys(adapter.possible_agents, 0.0)
    turn = 0
    while not adapter.is_episode_done():
        turn += 1
        for name, reward in adapter.step(
            dict.fromkeys(adapter.get_current_agents(), turn % 2)
        ).rewards.items():
            earned[name] += reward
    for agent in adapter.inner.possible_agents:
        assert earned[agent] < 0
        assert earned[manager_of(agent)] == pytest.approx(earned[agent])


def test_it_keeps_the_contract() -> None:
    report = check_environment(walker, steps=60)
    assert report.ok, "\n".join(report.lines())


def test_what_is_inside_is_reached_and_closed() -> None:
    adapter = walker()
    closed: list[int] = []
    adapter.env.close = lambda: closed.append(1)
    assert adapter.render() is None
    adapter.close()
    adapter.close()
    assert closed == [1]
