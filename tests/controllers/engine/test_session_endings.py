"""Turns, late rewards, agents that end one by one, join or come back, and managers."""

from __future__ import annotations

from typing import Any

import pytest
from pettingzoo.classic.rlcard_envs.leduc_holdem import env as leduc

from gym_gui.controllers.engine import hash_chain
from gym_gui.core.spaces import SpaceCodec, sample_legal, to_space
from tests.support.engine import arena, play_task, player

TURNS, CROWD = arena("Turns"), arena("Crowd")


async def test_a_late_reward_belongs_to_the_move_that_earned_it() -> None:
    turns = [
        ["a", {}, {}],
        ["b", {"a": 5}, {}],  # b's move earns a five points
        ["a", {"b": 1}, {}],
        ["b", {"a": -2, "b": 3}, {"a": "t", "b": "t"}],
    ]
    made = {"a": player(), "b": player()}
    sheet = await play_task(TURNS, made, env_kwargs={"agents": ["a", "b"], "turns": turns})
    rows = [(r["step_index"], r["agent_id"], r["reward"], r["terminated"]) for r in sheet.rows[0]]
    assert rows == [(0, "a", 5, False), (1, "b", 1, False), (2, "a", -2, True), (3, "b", 3, True)]
    assert sheet.episodes[0]["returns"] == {"a": 3.0, "b": 4.0}
    told = {
        name: [(r.step_index, r.reward, r.terminated) for r in p.made[0].results] for name, p in made.items()
    }
    assert told == {"a": [(0, 5.0, False), (2, -2.0, True)], "b": [(1, 1.0, False), (3, 3.0, True)]}


async def test_a_reward_before_the_first_move_is_kept_for_it() -> None:
    turns = [["a", {"b": 7}, {}], ["b", {"b": 1}, {"a": "t", "b": "t"}]]
    sheet = await play_task(
        TURNS, {"a": player(), "b": player()}, env_kwargs={"agents": ["a", "b"], "turns": turns}
    )
    assert sheet.column(0, "reward", "b") == [8.0]
    assert sheet.episodes[0]["returns"] == {"a": 0.0, "b": 8.0}


async def test_an_agent_that_moves_twice_in_a_row_has_a_row_for_each() -> None:
    turns = [["a", {"a": 1}, {}], ["a", {"a": 2}, {}], ["b", {}, {"a": "t", "b": "t"}]]
    sheet = await play_task(
        TURNS, {"a": player(), "b": player()}, env_kwargs={"agents": ["a", "b"], "turns": turns}
    )
    assert [(r["step_index"], r["agent_id"], r["reward"]) for r in sheet.rows[0]] == [
        (0, "a", 1.0),
        (1, "a", 2.0),
        (2, "b", 0.0),
    ]


async def test_the_limit_pays_what_was_owed_in_a_turn_based_game() -> None:
    turns = [["a", {}, {}], ["b", {"a": 5}, {}], ["a", {}, {}], ["b", {}, {"a": "t", "b": "t"}]]
    sheet = await play_task(
        TURNS,
        {"a": player(), "b": player()},
        env_kwargs={"agents": ["a", "b"], "turns": turns},
        options={"max_steps": 2},
    )
    assert sheet.episodes[0]["truncated"] and sheet.episodes[0]["length"] == 2
    assert sheet.episodes[0]["returns"]["a"] == 5.0
    # b's turn or not: the limit cut both off.
    assert sheet.column(0, "truncated", "a") == sheet.column(0, "truncated", "b") == [True]


async def test_one_agent_terminates_while_another_is_cut_off() -> None:
    script = [{"rewards": {"a": 1, "b": 2}}, {"terminated": ["a"], "truncated": ["b"], "rewards": {"a": 9}}]
    sheet = await play_task(
        CROWD, {"a": player(), "b": player()}, env_kwargs={"agents": ["a", "b"], "script": script}
    )
    last = {r["agent_id"]: (r["terminated"], r["truncated"]) for r in sheet.rows[0][-2:]}
    assert last == {"a": (True, False), "b": (False, True)}
    episode = sheet.episodes[0]
    assert (episode["terminated"], episode["truncated"]) == (True, True)
    assert episode["returns"] == {"a": 10.0, "b": 2.0}


async def test_agents_die_and_others_play_on() -> None:
    script = [
        {},
        {"terminated": ["a"], "rewards": {"a": -1}},
        {"rewards": {"b": 1}},
        {"terminated": ["b", "c"]},
    ]
    made = {name: player() for name in "abc"}
    sheet = await play_task(CROWD, made, env_kwargs={"agents": ["a", "b", "c"], "script": script})
    assert sheet.column(0, "step_index", "a") == [0, 1] and sheet.column(0, "step_index", "b") == [0, 1, 2, 3]
    assert sheet.column(0, "terminated", "a") == [False, True]
    (told,) = [p.results for p in made["a"].made]
    assert [(r.step_index, r.reward, r.terminated) for r in told] == [(0, 0.0, False), (1, -1.0, True)]
    assert [int(r.observation[0]) for r in told] == [1, 2]
    assert [s.steps for s in made["a"].made[0].summaries] == [4]


async def test_agents_join_and_come_back() -> None:
    script = [
        {"join": ["b"]},
        {"terminated": ["a"], "rewards": {"b": 2}},
        {"join": ["a"]},
        {"terminated": ["a", "b"], "rewards": {"a": 4}},
    ]
    sheet = await play_task(
        CROWD,
        {"a": player(), "b": player()},
        env_kwargs={"agents": ["a", "b"], "script": script, "start": ["a"]},
    )
    seats = [(r["step_index"], r["agent_id"]) for r in sheet.rows[0]]
    assert seats == [(0, "a"), (1, "a"), (1, "b"), (2, "b"), (3, "b"), (3, "a")]
    assert sheet.episodes[0]["status"] == "completed" and sheet.episodes[0]["returns"] == {"a": 4.0, "b": 2.0}


async def test_leduc_holdem_pays_what_the_plain_loop_pays() -> None:
    def choose(s: Any) -> int:
        return int(
            sample_legal(to_space(leduc().action_space("player_0")), s.action_mask, s.step_index * 7919)
        )

    seeds = range(12)
    sheet = await play_task(
        "leduc_holdem_v4",
        {"player_0": player(choose), "player_1": player(choose)},
        seeds,
        options={"concurrency": 12},
    )
    env = leduc()
    for index, seed in enumerate(seeds):
        returns, actions, turn = dict.fromkeys(env.possible_agents, 0.0), [], 0
        env.reset(seed=seed)
        for agent in env.agent_iter():
            observation, reward, terminated, truncated, _ = env.last()
            returns[agent] += reward
            if terminated or truncated:
                env.step(None)
                continue
            space, mask = to_space(env.action_space(agent)), observation["action_mask"]
            actions.append(int(sample_legal(space, mask, turn * 7919)))
            turn += 1
            env.step(actions[-1])
        assert sheet.column(index, "action") == actions
        assert sheet.episodes[index]["returns"] == returns
        paid = {a: sum(sheet.column(index, "reward", a)) for a in returns}
        # Who never got to move has no row that could hold it.
        assert paid == {a: r if sheet.column(index, "reward", a) else 0 for a, r in returns.items()}
    env.close()


async def test_a_manager_is_asked_and_recorded_like_any_agent() -> None:
    controller, manager = player(lambda s: 2), player(lambda s: (s.legal_actions or [0])[0])
    sheet = await play_task(
        "MiniGrid-Empty-5x5-v0",
        {"agent_0": controller, "agent_0/goal": manager},
        (3,),
        options={"max_steps": 25},
        manager=["agent_0"],
    )
    rows = sheet.rows[0]
    assert rows[0]["agent_id"] == "agent_0/goal" and rows[1]["agent_id"] == "agent_0"
    assert {r["agent_id"] for r in rows} == {"agent_0", "agent_0/goal"}
    # A choice comes before the step it is made for, and is none itself: the limit is the environment's.
    moves, choices = sheet.column(0, "step_index", "agent_0"), sheet.column(0, "step_index", "agent_0/goal")
    assert moves == list(range(25)) and sheet.episodes[0]["length"] == 25
    assert choices == sorted(set(choices)) and set(choices) <= set(moves)
    assert [r["step_index"] for r in rows] == sorted(moves + choices)
    assert rows[-1]["truncated"]
    assert all(isinstance(r["option"], str) for r in rows if r["agent_id"] == "agent_0")
    # Both levels say what is asked for; the choice also how it went.
    asked = [r for r in rows if r["agent_id"] == "agent_0/goal"]
    for row in asked:
        lasted = [r for r in rows if r["agent_id"] == "agent_0" and r["option_since"] == row["step_index"]]
        assert {r["option"] for r in lasted} == {row["option"]} and len(lasted) == row["option_moves"]
    assert {r["option_ended_by"] for r in asked[:-1]} <= {"over", "budget"}
    assert asked[-1]["option_ended_by"] == "episode"
    chosen = sheet.column(0, "action", "agent_0/goal")
    shown = [s.observation["option"] for s in controller.made[0].asked]
    assert int(shown[0]) == chosen[0]
    assert set(sheet.episodes[0]["agents"]) == {"agent_0", "agent_0/goal"}
    earned = sum(sheet.column(0, "reward", "agent_0"))
    assert sheet.episodes[0]["returns"]["agent_0"] == earned
    assert len(manager.made) == 1 and len(manager.made[0].results) > 0


async def test_the_digest_is_chained_over_what_the_rows_say() -> None:
    sheet = await play_task(
        arena("Corridor"), {"agent_0": player(lambda s: 1)}, (4,), options={"keep_observations": True}
    )
    import gymnasium as gym
    import numpy as np

    observation_codec, action_codec = (
        SpaceCodec(gym.spaces.Box(0, 1000, (3,), np.float32)),
        SpaceCodec(gym.spaces.Discrete(3)),
    )
    digest = hash_chain.START
    for row in sheet.rows[0]:
        seen = hash_chain.condensed(
            hash_chain.blob_of(observation_codec)(
                observation_codec.encode(np.array(row["observation"], np.float32))
            )
        )
        done = hash_chain.blob_of(action_codec)(action_codec.encode(row["action"]))
        digest = hash_chain.link(
            digest, b"agent_0\0", seen, done, row["reward"], row["terminated"], row["truncated"]
        )
        assert row["state_sha"] == digest.hex()[:16]
    assert sheet.episodes[0]["trajectory_sha256"] == digest.hex()


@pytest.mark.parametrize("api", ["aec", "parallel"])
async def test_the_same_game_in_both_interfaces(api: str) -> None:
    sheet = await play_task(
        "rps_v2",
        {f"player_{i}": player(lambda s, i=i: i) for i in (0, 1)},
        (1,),
        api=api,
        options={"max_steps": 8},
    )
    returns = sheet.episodes[0]["returns"]
    assert returns["player_1"] > 0 > returns["player_0"]  # paper beats rock
    assert sheet.episodes[0]["length"] == 8
    assert len(sheet.rows[0]) == (8 if api == "aec" else 16)
