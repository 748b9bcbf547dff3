"""Turns: late rewards, dead steps, agents that move twice, masks, names."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces
from mpe2 import simple_tag_v3
from pettingzoo import ParallelEnv
from pettingzoo.classic.chess.chess import env as chess
from pettingzoo.classic.connect_four.connect_four import env as connect_four
from pettingzoo.classic.rlcard_envs.leduc_holdem import env as leduc
from pettingzoo.utils import parallel_to_aec

from gym_gui.core.enums import SteppingParadigm
from gym_gui.core.errors import EnvironmentFailure
from gym_gui.core.paradigms import SequentialAdapter
from tests.support.arenas import Turns


class Scripted(Turns):
    """Plays a list of turns, and keeps who moved how."""

    def __init__(self, agents: list[Any], turns: list[tuple[Any, dict[Any, float], dict[Any, str]]]) -> None:
        super().__init__(agents, turns)
        self.played: list[tuple[Any, Any]] = []

    def step(self, action: Any) -> None:
        if action is not None:  # a dead step
            self.played.append((self.agent_selection, action))
        super().step(action)


class Field(ParallelEnv[Any, Any, Any]):
    """Natively at once (PettingZoo unwraps what was turn-based before): pays by round, agent and action.

    ``c`` ends after the fourth round, the others after the seventh.
    """

    metadata = {"name": "field"}  # noqa: RUF012
    render_mode = None
    possible_agents = ["a", "b", "c"]  # noqa: RUF012

    def observation_space(self, agent: Any) -> Any:
        return spaces.Discrete(100)

    def action_space(self, agent: Any) -> Any:
        return spaces.Discrete(5)

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        self.round, self.agents = 0, self.possible_agents[:]
        return dict.fromkeys(self.agents, 0), {agent: {} for agent in self.agents}

    def step(self, actions: dict[Any, Any]) -> Any:
        there = self.agents
        self.round += 1
        rewards = {a: 10.0 ** "abc".index(a) * self.round + actions[a] for a in there}
        self.agents = [] if self.round == 7 else [a for a in there if a != "c" or self.round < 4]
        ended = {a: a not in self.agents for a in there}
        return (
            dict.fromkeys(there, self.round),
            rewards,
            ended,
            dict.fromkeys(there, False),
            {a: {} for a in there},
        )


def played_out(adapter: SequentialAdapter) -> tuple[dict[str, float], list[Any]]:
    """Returns by agent, and every result, with action 1 throughout."""
    adapter.reset(seed=0)
    returns: dict[str, float] = defaultdict(float)
    results = []
    while not adapter.is_episode_done():
        (agent,) = adapter.get_current_agents()
        results.append(adapter.step({agent: 1}))
        for name, reward in results[-1].rewards.items():
            returns[name] += reward
    return dict(returns), results


def reference(env: Any, choose: Any, seed: int) -> dict[str, float]:
    """The loop of PettingZoo's documentation."""
    env.reset(seed=seed)
    returns: dict[str, float] = defaultdict(float)
    turn = 0
    for agent in env.agent_iter():
        observation, reward, terminated, truncated, info = env.last()
        returns[str(agent)] += reward
        if terminated or truncated:
            env.step(None)
        else:
            mask = (
                observation.get("action_mask") if isinstance(observation, dict) else info.get("action_mask")
            )
            env.step(choose(env.action_space(agent), mask, turn))
            turn += 1
    return dict(returns)


def through_adapter(env: Any, choose: Any, seed: int) -> dict[str, float]:
    adapter = SequentialAdapter(env)
    adapter.reset(seed=seed)
    returns: dict[str, float] = defaultdict(float)
    turn = 0
    while not adapter.is_episode_done():
        (agent,) = adapter.get_current_agents()
        action = choose(adapter.action_space(agent), adapter.action_mask(agent), turn)
        for name, reward in adapter.step({agent: action}).rewards.items():
            returns[name] += reward
        turn += 1
    return dict(returns)


def random_legal(seed: int) -> Any:
    def choose(space: Any, mask: Any, turn: int) -> int:
        legal = np.arange(space.n) if mask is None else np.flatnonzero(mask)
        return int(np.random.default_rng((seed, turn)).choice(legal))

    return choose


@pytest.mark.parametrize(
    "make",
    [
        connect_four,
        leduc,
        lambda: simple_tag_v3.env(max_cycles=10),
        lambda: parallel_to_aec(Field()),
    ],
    ids=["connect_four", "leduc", "simple_tag", "parallel_to_aec"],
)
@pytest.mark.parametrize("seed", range(4))
def test_returns_equal_a_plain_loop(make: Any, seed: int) -> None:
    choose = random_legal(seed)
    expected = reference(make(), choose, seed)
    got = through_adapter(make(), choose, seed)
    assert expected == {agent: got.get(agent, 0.0) for agent in expected}
    assert set(got) <= set(expected)


def test_returns_of_a_converted_parallel_environment_equal_the_parallel_ones() -> None:
    def action(agent: str, cycle: int) -> int:
        return (ord(agent) + 3 * cycle) % 5

    plain = Field()
    plain.reset()
    expected: dict[str, float] = defaultdict(float)
    while plain.agents:
        for agent, reward in plain.step({a: action(a, plain.round) for a in plain.agents})[1].items():
            expected[agent] += reward
    env = Field()
    adapter = SequentialAdapter(parallel_to_aec(env))
    adapter.reset()
    got: dict[str, float] = defaultdict(float)
    while not adapter.is_episode_done():
        (agent,) = adapter.get_current_agents()
        for name, reward in adapter.step({agent: action(agent, env.round)}).rewards.items():
            got[name] += reward
    assert env.round == 7
    assert got == expected


@pytest.mark.parametrize("cut", range(1, 12))
@pytest.mark.parametrize("converted", [False, True], ids=["turns", "parallel_to_aec"])
def test_what_is_owed_when_an_episode_is_cut_off(cut: int, converted: bool) -> None:
    """Told and owed rewards together are all the environment has given in whole rounds."""

    class Paying(Scripted):
        """Each agent earns 1, 2, 4, … at each move of any agent."""

        def step(self, action: Any) -> None:
            alive = list(self.agents)
            self._turns[self._turn] = (self._turns[self._turn][0], dict.fromkeys(alive, 2.0**self._turn), {})
            super().step(action)

    if converted:
        env: Any = parallel_to_aec(Field())
        plain = Field()
        plain.reset()
        given: dict[str, float] = defaultdict(float)
        for _ in range(cut // 3):
            for agent, reward in plain.step(dict.fromkeys(plain.agents, 1))[1].items():
                given[agent] += reward
    else:
        env = Paying(["a", "b", "c"], [("abc"[i % 3], {}, {}) for i in range(20)])
        given = dict.fromkeys("abc", 2.0**cut - 1)
    adapter = SequentialAdapter(env)
    adapter.reset(seed=3)
    told: dict[str, float] = defaultdict(float)
    for _ in range(cut):
        (agent,) = adapter.get_current_agents()
        for name, reward in adapter.step({agent: 1}).rewards.items():
            told[name] += reward
    owed = adapter.owed()
    for name in adapter.possible_agents:
        assert told[name] + owed.get(name, 0.0) == pytest.approx(given.get(name, 0.0))


def test_nothing_is_owed_at_the_end() -> None:
    adapter = SequentialAdapter(connect_four())
    through = random_legal(0)
    adapter.reset(seed=0)
    turn = 0
    while not adapter.is_episode_done():
        (agent,) = adapter.get_current_agents()
        adapter.step({agent: through(adapter.action_space(agent), adapter.action_mask(agent), turn)})
        turn += 1
    assert adapter.owed() == {}


def test_a_reward_after_ones_last_move_is_paid() -> None:
    turns = [("a", {}, {}), ("b", {"a": -1.0, "b": 1.0}, {"a": "t", "b": "t"})]
    returns, results = played_out(SequentialAdapter(Scripted(["a", "b"], turns)))
    assert returns == {"a": -1.0, "b": 1.0}
    assert results[-1].terminated == {"a": True, "b": True}
    assert set(results[-1].observations) == {"a", "b"}


def test_rewards_wait_for_the_turn_of_their_agent() -> None:
    turns = [("a", {"a": 1.0, "b": 5.0}, {}), ("b", {"a": 2.0}, {}), ("a", {}, {"a": "t", "b": "t"})]
    _, results = played_out(SequentialAdapter(Scripted(["a", "b"], turns)))
    assert results[0].rewards == {"b": 5.0}
    assert results[1].rewards == {"a": 3.0}


def test_one_is_terminated_and_another_cut_off() -> None:
    turns = [("a", {}, {}), ("b", {}, {"a": "t", "b": "c"})]
    _, results = played_out(SequentialAdapter(Scripted(["a", "b"], turns)))
    assert results[-1].terminated == {"a": True, "b": False}
    assert results[-1].truncated == {"a": False, "b": True}
    assert results[-1].dones == {"a": True, "b": True}


def test_one_dies_in_mid_episode_and_the_others_play_on() -> None:
    turns = [
        ("a", {}, {}),
        ("b", {"a": -3.0}, {"a": "t"}),
        ("c", {}, {}),
        ("b", {"c": 2.0}, {"b": "t", "c": "t"}),
    ]
    env = Scripted(["a", "b", "c"], turns)
    returns, results = played_out(SequentialAdapter(env))
    assert [who for who, _ in env.played] == ["a", "b", "c", "b"]
    assert results[1].terminated == {"a": True, "c": False}
    assert "a" not in results[2].observations
    assert returns == {"a": -3.0, "b": 0.0, "c": 2.0}


def test_one_acts_twice_running() -> None:
    turns = [("a", {"a": 1.0}, {}), ("a", {"a": 2.0}, {}), ("b", {}, {"a": "t", "b": "t"})]
    env = Scripted(["a", "b"], turns)
    returns, results = played_out(SequentialAdapter(env))
    assert [who for who, _ in env.played] == ["a", "a", "b"]
    assert results[0].rewards == {"a": 1.0}
    assert returns == {"a": 3.0, "b": 0.0}


def test_agents_named_by_integers() -> None:
    env = Scripted([0, 1], [(0, {1: 4.0}, {}), (1, {}, {0: "t", 1: "t"})])
    adapter = SequentialAdapter(env)
    assert adapter.possible_agents == ("agent_0", "agent_1")
    returns, _ = played_out(adapter)
    assert returns == {"agent_0": 0.0, "agent_1": 4.0}
    assert [who for who, _ in env.played] == [0, 1]
    assert adapter.action_space("agent_1").n == 2


def test_an_agent_nobody_announced_may_join() -> None:
    class Joining(Scripted):
        def step(self, action: Any) -> None:
            if self._turn == 0:
                self.agents.append("late")
                for table, value in (
                    (self.rewards, 0.0),
                    (self._cumulative_rewards, 0.0),
                    (self.terminations, False),
                    (self.truncations, False),
                    (self.infos, {}),
                ):
                    table["late"] = value
            super().step(action)

    adapter = SequentialAdapter(
        Joining(["a"], [("a", {}, {}), ("late", {"late": 1.0}, {"a": "t", "late": "t"})])
    )
    assert adapter.possible_agents == ("a",)
    returns, _ = played_out(adapter)
    assert adapter.possible_agents == ("a", "late")
    assert returns == {"a": 0.0, "late": 1.0}


def test_the_mask_is_taken_out_of_a_chess_observation() -> None:
    adapter = SequentialAdapter(chess())
    first = adapter.reset(seed=0)["player_0"]
    assert adapter.paradigm is SteppingParadigm.SEQUENTIAL
    assert first.shape == (8, 8, 111)
    assert adapter.observation_space("player_0").contains(first)
    assert int(np.sum(adapter.action_mask("player_0"))) == 20
    assert adapter.action_mask("player_1") is None


def test_the_mask_in_an_info_is_found() -> None:
    class Masked(Scripted):
        def reset(self, seed: int | None = None, options: Any = None) -> None:
            super().reset(seed, options)
            self.infos["a"] = {"action_mask": np.array([0, 1], np.int8)}

    adapter = SequentialAdapter(Masked(["a"], [("a", {}, {"a": "t"})]))
    adapter.reset()
    np.testing.assert_array_equal(adapter.action_mask("a"), [0, 1])


@pytest.mark.parametrize("where", ["reset", "step", "last"])
def test_what_the_environment_raises_is_said_and_kept(where: str) -> None:
    env = Scripted(["a"], [("a", {}, {"a": "t"})])

    def broken(*args: Any, **kwargs: Any) -> Any:
        raise LookupError("the board is gone")

    adapter = SequentialAdapter(env)
    if where == "step":
        adapter.reset()
    setattr(env, where, broken)
    doing = "step" if where == "step" else "reset"
    with pytest.raises(EnvironmentFailure, match=rf"LookupError in {doing}\(\): the board is gone") as caught:
        adapter.step({"a": 0}) if where == "step" else adapter.reset()
    assert isinstance(caught.value.__cause__, LookupError)
    assert adapter.is_episode_done()


def test_only_the_one_whose_turn_it_is_may_act() -> None:
    adapter = SequentialAdapter(Scripted(["a", "b"], [("a", {}, {}), ("b", {}, {"a": "t", "b": "t"})]))
    adapter.reset()
    with pytest.raises(EnvironmentFailure, match="no action for a; unexpected action for b"):
        adapter.step({"b": 0})


def test_two_instances_in_turn_do_not_disturb_each_other() -> None:
    alone = [through_adapter(connect_four(), random_legal(s), s) for s in (0, 1)]
    adapters = [SequentialAdapter(connect_four()) for _ in range(2)]
    returns: list[dict[str, float]] = [defaultdict(float), defaultdict(float)]
    for seed, adapter in enumerate(adapters):
        adapter.reset(seed=seed)
    for turn in range(42):
        for seed, adapter in enumerate(adapters):
            if not adapter.is_episode_done():
                (agent,) = adapter.get_current_agents()
                action = random_legal(seed)(adapter.action_space(agent), adapter.action_mask(agent), turn)
                for name, reward in adapter.step({agent: action}).rewards.items():
                    returns[seed][name] += reward
    assert [dict(r) for r in returns] == alone


def test_the_last_move_is_known_until_the_next_game() -> None:
    adapter = SequentialAdapter(Scripted(["a", "b"], [("a", {}, {}), ("b", {}, {"a": "t", "b": "t"})]))
    assert adapter.last_move is None
    adapter.reset(seed=0)
    assert adapter.last_move is None
    adapter.step({"a": 1})
    assert adapter.last_move == ("a", 1)
    adapter.step({"b": 0})
    assert adapter.last_move == ("b", 0), "of a game that is over too"
    adapter.reset(seed=0)
    assert adapter.last_move is None
