"""All at once: endings one by one, joining, dicts by index, names."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from mpe2 import simple_spread_v3, simple_tag_v3
from pettingzoo import ParallelEnv

from gym_gui.core.enums import SteppingParadigm
from gym_gui.core.errors import EnvironmentFailure
from gym_gui.core.paradigms import SimultaneousAdapter


class Scripted(ParallelEnv[Any, Any, Any]):
    """Per step: who is there afterwards, rewards, and who ended how (``t`` or ``c``)."""

    metadata = {"name": "scripted"}  # noqa: RUF012
    render_mode = None

    def __init__(
        self, start: list[Any], steps: list[tuple[list[Any], dict[Any, float], dict[Any, str]]]
    ) -> None:
        self.start, self.script = start, steps
        self.possible_agents = list(dict.fromkeys([*start, *(a for s in steps for a in s[0])]))
        self.asked: list[set[Any]] = []

    def observation_space(self, agent: Any) -> Any:
        return spaces.Discrete(100)

    def action_space(self, agent: Any) -> Any:
        return spaces.Discrete(2)

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        self.at = 0
        self.agents = list(self.start)
        return dict.fromkeys(self.agents, 0), {agent: {} for agent in self.agents}

    def step(self, actions: dict[Any, Any]) -> Any:
        self.asked.append(set(actions))
        after, rewards, ends = self.script[self.at]
        self.at += 1
        told = [*after, *ends]
        self.agents = list(after)
        return (
            dict.fromkeys(told, self.at),
            rewards,
            {a: ends.get(a) == "t" for a in told},
            {a: ends.get(a) == "c" for a in told},
            {a: {} for a in told},
        )


def played_out(adapter: SimultaneousAdapter, limit: int = 50) -> tuple[dict[str, float], list[Any]]:
    adapter.reset(seed=0)
    returns: dict[str, float] = defaultdict(float)
    results = []
    while not adapter.is_episode_done() and len(results) < limit:
        results.append(adapter.step(dict.fromkeys(adapter.get_current_agents(), 1)))
        for name, reward in results[-1].rewards.items():
            returns[name] += reward
    return dict(returns), results


@pytest.mark.parametrize("make", [simple_spread_v3.parallel_env, simple_tag_v3.parallel_env])
def test_the_same_results_as_the_environment_alone(make: Any) -> None:
    plain, adapter = make(max_cycles=8), SimultaneousAdapter(make(max_cycles=8))
    expected, _ = plain.reset(seed=2)
    got = adapter.reset(seed=2)
    assert adapter.paradigm is SteppingParadigm.SIMULTANEOUS
    assert adapter.possible_agents == tuple(plain.possible_agents)
    while plain.agents:
        for agent in plain.agents:
            np.testing.assert_array_equal(got[agent], expected[agent])
        actions = {a: (i + len(expected[a])) % 5 for i, a in enumerate(plain.agents)}
        expected, rewards, terminated, truncated, _ = plain.step(actions)
        result = adapter.step(actions)
        assert result.rewards == pytest.approx(rewards)
        assert (result.terminated, result.truncated) == (terminated, truncated)
        got = result.observations
    assert adapter.is_episode_done()


def test_one_is_terminated_and_another_cut_off() -> None:
    adapter = SimultaneousAdapter(Scripted(["a", "b"], [([], {"a": 1.0}, {"a": "t", "b": "c"})]))
    returns, results = played_out(adapter)
    assert returns == {"a": 1.0}
    assert results[0].terminated == {"a": True, "b": False}
    assert results[0].truncated == {"a": False, "b": True}


def test_one_dies_and_the_others_play_on() -> None:
    env = Scripted(["a", "b"], [(["b"], {}, {"a": "t"}), (["b"], {"a": -5.0}, {}), ([], {}, {"b": "t"})])
    returns, results = played_out(SimultaneousAdapter(env))
    assert env.asked == [{"a", "b"}, {"b"}, {"b"}]
    assert set(results[0].observations) == {"a", "b"}
    assert set(results[1].observations) == {"b"}
    assert returns == {"a": -5.0}, "a reward after one's end counts"


def test_one_joins_and_one_comes_back() -> None:
    env = Scripted(
        ["a"],
        [(["a", "b"], {}, {}), (["b"], {}, {"a": "t"}), (["a", "b"], {}, {}), ([], {}, {"a": "t", "b": "t"})],
    )
    _, results = played_out(SimultaneousAdapter(env))
    assert env.asked == [{"a"}, {"a", "b"}, {"b"}, {"a", "b"}]
    assert results[2].terminated == {"a": False, "b": False}


def test_one_that_is_gone_without_a_word_has_ended() -> None:
    env = Scripted(["a", "b"], [(["b"], {}, {}), ([], {}, {"b": "t"})])
    _, results = played_out(SimultaneousAdapter(env))
    assert results[0].terminated == {"a": True, "b": False}


def test_one_that_is_to_act_and_sees_nothing_is_a_failure() -> None:
    class Blind(Scripted):
        def step(self, actions: dict[Any, Any]) -> Any:
            observations, *rest = super().step(actions)
            observations.pop("b")
            return (observations, *rest)

    adapter = SimultaneousAdapter(Blind(["a", "b"], [(["a", "b"], {}, {})]))
    adapter.reset()
    with pytest.raises(EnvironmentFailure, match="no observation for b"):
        adapter.step({"a": 0, "b": 0})


class ByIndex(gymnasium.Env[Any, Any]):
    """Three agents by index, numpy flags, the dead still listed: MultiGrid's manner."""

    def __init__(self) -> None:
        self.observation_space = spaces.Dict({i: spaces.Discrete(9) for i in range(3)})
        self.action_space = spaces.Dict({i: spaces.Discrete(2) for i in range(3)})

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        self.t = 0
        return dict.fromkeys(range(3), 0), defaultdict(dict)

    def step(self, actions: dict[int, Any]) -> Any:
        assert all(type(i) is int for i in actions)
        self.t += 1
        ended = {i: np.bool_(self.t > i) for i in range(3)}
        rewards = {i: np.float32(actions.get(i, -1)) for i in range(3)}
        return dict.fromkeys(range(3), self.t), rewards, ended, dict.fromkeys(range(3), np.bool_(False)), {}


def test_a_dict_by_index_environment() -> None:
    adapter = SimultaneousAdapter(ByIndex())
    assert adapter.possible_agents == ("agent_0", "agent_1", "agent_2")
    returns, results = played_out(adapter)
    assert [set(r.observations) for r in results] == [
        {"agent_0", "agent_1", "agent_2"},
        {"agent_1", "agent_2"},
        {"agent_2"},
    ]
    assert [sum(r.terminated.values()) for r in results] == [1, 1, 1]
    assert returns == {"agent_0": 1.0 - 1 - 1, "agent_1": 2.0 - 1, "agent_2": 3.0}
    assert type(results[0].terminated["agent_0"]) is bool


def test_names_of_ones_own_choosing() -> None:
    adapter = SimultaneousAdapter(ByIndex(), rename=lambda i: "xyz"[i])
    adapter.reset()
    assert list(adapter.get_current_agents()) == ["x", "y", "z"]
    assert adapter.step({"x": 0, "y": 1, "z": 1}).rewards == {"x": 0.0, "y": 1.0, "z": 1.0}


def test_two_agents_of_one_name_are_refused() -> None:
    with pytest.raises(EnvironmentFailure, match="two agents would be named 'x'"):
        SimultaneousAdapter(ByIndex(), rename=lambda i: "x")


def test_everybody_ends_at_the_word_of_rllib() -> None:
    class Rllib(ByIndex):
        def step(self, actions: dict[int, Any]) -> Any:
            return {0: 1, 1: 1, 2: 1}, {0: 1.0}, {"__all__": True}, {"__all__": False}, {}

    _, results = played_out(SimultaneousAdapter(Rllib()))
    assert results[0].terminated == {"agent_0": True, "agent_1": True, "agent_2": True}


def test_who_is_not_shown_anything_waits_in_a_dict_environment() -> None:
    class Turns(ByIndex):
        def step(self, actions: dict[int, Any]) -> Any:
            self.t += 1
            return {self.t % 3: self.t}, {}, {"__all__": self.t == 4}, {}, {}

    adapter = SimultaneousAdapter(Turns())
    adapter.reset()
    adapter.step(dict.fromkeys(adapter.get_current_agents(), 0))
    assert list(adapter.get_current_agents()) == ["agent_1"]
    assert adapter.step({"agent_1": 0}).terminated == {"agent_2": False}


def test_masks_in_observation_and_info() -> None:
    class Masked(Scripted):
        def observation_space(self, agent: Any) -> Any:
            inner = spaces.Discrete(100)
            return (
                spaces.Dict(observation=inner, action_mask=spaces.MultiBinary(2)) if agent == "a" else inner
            )

        def reset(self, seed: int | None = None, options: Any = None) -> Any:
            super().reset()
            return {"a": {"observation": 7, "action_mask": np.array([1, 0], np.int8)}, "b": 3}, {
                "a": {},
                "b": {"action_mask": np.array([0, 1], np.int8)},
            }

    adapter = SimultaneousAdapter(Masked(["a", "b"], [([], {}, {"a": "t", "b": "t"})]))
    assert adapter.reset() == {"a": 7, "b": 3}
    np.testing.assert_array_equal(adapter.action_mask("a"), [1, 0])
    np.testing.assert_array_equal(adapter.action_mask("b"), [0, 1])
    assert adapter.observation_space("a") == spaces.Discrete(100)


def test_what_the_environment_raises_is_said_and_kept() -> None:
    class Broken(ByIndex):
        def step(self, actions: dict[int, Any]) -> Any:
            raise ZeroDivisionError("the ball is everywhere")

    adapter = SimultaneousAdapter(Broken())
    adapter.reset()
    with pytest.raises(EnvironmentFailure, match=r"ZeroDivisionError.*the ball is everywhere") as caught:
        adapter.step(dict.fromkeys(adapter.get_current_agents(), 0))
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert adapter.is_episode_done()


def test_everybody_has_to_act() -> None:
    adapter = SimultaneousAdapter(ByIndex())
    adapter.reset()
    with pytest.raises(EnvironmentFailure, match="no action for agent_1, agent_2"):
        adapter.step({"agent_0": 0})
