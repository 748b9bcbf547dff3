"""Many episodes at once, each with its own clock, seed, policies and fate."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from gym_gui.controllers.engine.session_events import EpisodeFinished, EpisodeStarted, SessionEvent
from gym_gui.core.experiment.execution import ExecutionConfig
from gym_gui.core.seeding import policy_seed
from tests.support.engine import arena, bind_operator, plans, play, play_task, player
from tests.support.session_log import SessionLog

CORRIDOR = arena("Corridor")


def by_hand(seed: int, choose: Any, limit: int | None = None) -> tuple[list[int], list[float]]:
    """The loop of Gymnasium's documentation on CartPole."""
    env = gym.make("CartPole-v1")
    observation, _ = env.reset(seed=seed)
    actions, rewards = [], []
    done = False
    while not done and (limit is None or len(actions) < limit):
        actions.append(choose(observation))
        observation, reward, terminated, truncated, _ = env.step(actions[-1])
        rewards.append(float(reward))
        done = terminated or truncated
    env.close()
    return actions, rewards


def lean(observation: Any) -> int:
    return int(observation[2] > 0)


@pytest.mark.parametrize("concurrency", [1, 3, 64])
async def test_every_episode_is_what_the_plain_loop_gives(concurrency: int) -> None:
    seeds = range(100, 112)
    sheet = await play_task("CartPole-v1", {"agent_0": lean}, seeds, options={"concurrency": concurrency})
    assert sorted(sheet.order) == list(range(12))
    for index, seed in enumerate(seeds):
        actions, rewards = by_hand(seed, lean)
        assert sheet.column(index, "action") == actions
        assert sheet.column(index, "reward") == rewards
        episode = sheet.episodes[index]
        assert (episode["seed"], episode["status"], episode["length"]) == (seed, "completed", len(actions))
        assert episode["total_reward"] == sum(rewards) == episode["returns"]["agent_0"]
        assert sheet.column(index, "step_index") == list(range(len(actions)))


async def test_episodes_are_equal_for_any_concurrency() -> None:
    alone = await play_task("CartPole-v1", {"agent_0": lean}, range(20))
    together = await play_task("CartPole-v1", {"agent_0": lean}, range(20), options={"concurrency": 64})
    assert alone.essence() == together.essence()
    assert alone.order == list(range(20)) and together.order != alone.order  # shorter ones ended first


async def test_no_more_episodes_are_in_flight_than_asked_for() -> None:
    live = 0
    most = 0

    sheet = SessionLog()

    def counted(event: SessionEvent) -> None:
        nonlocal live, most
        live += isinstance(event, EpisodeStarted) - isinstance(event, EpisodeFinished)
        most = max(most, live)
        sheet(event)

    from gym_gui.controllers.engine.session import SessionController

    controller = SessionController(
        await bind_operator("CartPole-v1", {"agent_0": lean}), counted, concurrency=5, max_steps=20
    )
    controller.add(plans(range(23)))
    controller.close()
    await controller.run()
    assert most == 5 and len(sheet.episodes) == 23


async def test_each_episode_gets_a_policy_of_its_own() -> None:
    made = player()
    sheet = await play_task(CORRIDOR, {"agent_0": made}, (7, 8, 9), options={"concurrency": 3})
    assert [p.context.episode_index for p in made.made] == [0, 1, 2]
    for p in made.made:
        index = p.context.episode_index
        assert {s.episode_index for s in p.asked} == {index}
        assert [s.step_index for s in p.asked] == [0, 1, 2, 3, 4]
        seed = policy_seed(7 + index, index, "agent_0")
        assert p.context.seed == seed and {s.seed for s in p.asked} == {seed}
        assert p.context.action_space == gym.spaces.Discrete(3)
        (summary,) = p.summaries
        assert (summary.total_reward, summary.steps, summary.seed) == (10.0, 5, 7 + index)
    assert sheet.episodes[0]["agents"]["agent_0"]["policy"] == "Made"


async def test_one_object_holds_one_episode_at_a_time() -> None:
    made = player()
    from gym_gui.core.policy_source import ActorContext

    only = made(ActorContext())
    sheet = await play_task(CORRIDOR, {"agent_0": only}, range(4), options={"concurrency": 64})
    assert sheet.order == [0, 1, 2, 3]
    assert [s.episode_index for s in only.asked] == [i for i in range(4) for _ in range(5)]
    assert [s.episode_index for s in only.summaries] == [0, 1, 2, 3]


async def test_results_are_told_before_the_next_question() -> None:
    told: list[tuple[str, int]] = []

    def choose(snapshot: Any) -> int:
        told.append(("asked", snapshot.step_index))
        return snapshot.step_index % 3

    made = player(choose)
    plain_on_step = made.on_step

    def on_step(self: Any, snapshot: Any) -> None:
        told.append(("told", snapshot.step_index))
        plain_on_step(self, snapshot)

    made.on_step = on_step  # type: ignore[method-assign]
    await play_task(CORRIDOR, {"agent_0": made}, (5,))
    assert told == [(word, step) for step in range(5) for word in ("asked", "told")]
    results = made.made[0].results
    assert [r.reward for r in results] == pytest.approx([0.0, 1.1, 2.2, 3.0, 4.1])
    assert [r.action for r in results] == [0, 1, 2, 0, 1]
    assert [r.terminated for r in results] == [False] * 4 + [True]
    assert [int(r.observation[0]) for r in results] == [1, 2, 3, 4, 5]  # what followed the action


async def test_the_limit_of_the_session_truncates() -> None:
    made = player()
    sheet = await play_task(CORRIDOR, {"agent_0": made}, (1,), options={"max_steps": 3})
    episode = sheet.episodes[0]
    assert (episode["length"], episode["terminated"], episode["truncated"]) == (3, False, True)
    assert sheet.column(0, "truncated") == [False, False, True]
    assert [r.truncated for r in made.made[0].results] == [False, False, True]
    assert int(made.made[0].results[-1].observation[0]) == 3  # the last observation is told too


async def test_an_episode_that_ends_at_its_limit_is_not_cut_off() -> None:
    sheet = await play_task(CORRIDOR, {"agent_0": player()}, (1,), options={"max_steps": 5})
    assert (sheet.episodes[0]["terminated"], sheet.episodes[0]["truncated"]) == (True, False)


async def test_fixed_seeds_repeat_the_environment_and_not_the_luck() -> None:
    seeds = [plan.seed for plan in ExecutionConfig(4, 77, "fixed").schedule()]
    assert seeds == [77] * 4
    made = player(lambda s: (s.seed >> s.step_index) & 1)
    sheet = await play_task("CartPole-v1", {"agent_0": made}, seeds, options={"concurrency": 4})
    first = [p.asked[0].observation.tolist() for p in made.made]
    assert all(seen == first[0] for seen in first)
    assert len({p.context.seed for p in made.made}) == 4
    assert len({e["trajectory_sha256"] for e in sheet.episodes.values()}) == 4


async def test_an_environment_is_made_again_only_after_a_failure() -> None:
    bound = await bind_operator(CORRIDOR, {"agent_0": player()}, env_kwargs={"fault": "step", "seed": 2})
    made: list[Any] = []
    make = bound.make_environment

    def counted() -> Any:
        made.append(make())
        return made[-1]

    bound.make_environment = counted
    sheet = await play(bound, (1, 2, 3, 4))
    assert [sheet.episodes[i]["status"] for i in range(4)] == [
        "completed",
        "failed",
        "completed",
        "completed",
    ]
    assert len(made) == 2


async def test_episodes_can_be_added_while_it_plays() -> None:
    import asyncio

    from gym_gui.controllers.engine.session import SessionController

    sheet = SessionLog()
    controller = SessionController(await bind_operator(CORRIDOR, {"agent_0": player()}), sheet)
    task = asyncio.create_task(controller.run())
    every = plans(range(6))
    for plan in every:
        controller.add([plan])
        while plan.index not in sheet.episodes:
            await asyncio.sleep(0)
        assert not task.done()
    controller.close()
    await asyncio.wait_for(task, 10)
    assert sheet.order == [0, 1, 2, 3, 4, 5] and controller.total_steps == 30


async def test_nothing_to_play_ends_at_once() -> None:
    sheet = await play_task(CORRIDOR, {"agent_0": player()}, ())
    assert not sheet.episodes


async def test_observations_are_recorded_when_asked_for() -> None:
    sheet = await play_task(CORRIDOR, {"agent_0": player()}, (3,), options={"keep_observations": True})
    assert sheet.column(0, "observation") == [[float(k), 3.0, 0.0] for k in range(5)]
    without = await play_task(CORRIDOR, {"agent_0": player()}, (3,))
    assert "observation" not in without.rows[0][0]
    assert without.column(0, "state_sha") == sheet.column(0, "state_sha")


async def test_array_actions_are_recorded_as_lists() -> None:
    made = player(lambda s: np.array([0.5, -1], np.float32))
    sheet = await play_task(CORRIDOR, {"agent_0": made}, (3,), env_kwargs={"box": True})
    assert sheet.column(0, "action") == [[0.5, -1.0]] * 5
    assert sheet.column(0, "reward") == pytest.approx([k - 0.05 for k in range(5)])
