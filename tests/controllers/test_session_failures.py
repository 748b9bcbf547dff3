"""What goes wrong in one episode is said, and stays in that episode."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support.engine import arena, play_task, player

CORRIDOR = arena("Corridor")
SEEDS = (1, 2, 3)


@pytest.mark.parametrize(
    ("fault", "length", "words"),
    [
        ("nan", 2, "agent_0: the environment gave an observation that is not a number (NaN)"),
        ("outside", 2, "the environment showed agent_0 what its observation space does not allow"),
        ("short", 2, "shape (2,) where (3,) is needed"),
        ("reward", 2, "the environment gave agent_0 a reward of nan"),
        ("step", 2, "the environment raised RuntimeError in step(): the floor gave way"),
        ("reset", 0, "the environment raised RuntimeError in reset(): the door is locked"),
    ],
)
@pytest.mark.parametrize("concurrency", [1, 3])
async def test_an_environment_that_breaks_fails_its_episode_alone(
    fault: str, length: int, words: str, concurrency: int
) -> None:
    made = player()
    sheet = await play_task(
        CORRIDOR,
        {"agent_0": made},
        SEEDS,
        env_kwargs={"fault": fault, "seed": 2, "at": 2},
        options={"concurrency": concurrency},
    )
    broken, *others = sheet.episodes[1], sheet.episodes[0], sheet.episodes[2]
    assert broken["status"] == "failed" and words in broken["error"]
    assert broken["length"] == length
    rows = len(sheet.rows[1])
    assert rows == (3 if fault == "reward" else length)  # the step that gave NaN was played
    assert all(row["reward"] is not None and row["state_sha"] for row in sheet.rows[1])
    for other in others:
        assert other["status"] == "completed" and other["error"] is None and other["length"] == 5
    statuses = {p.context.episode_index: [s.status for s in p.summaries] for p in made.made}
    assert statuses == {0: ["completed"], 1: ["failed"], 2: ["completed"]}


async def test_an_infinite_observation_is_no_failure() -> None:
    sheet = await play_task(CORRIDOR, {"agent_0": player()}, (1,), env_kwargs={"fault": "infinite"})
    assert sheet.episodes[0]["status"] == "completed"


async def test_the_rows_of_a_failed_episode_are_those_it_would_have_had() -> None:
    whole = await play_task(CORRIDOR, {"agent_0": player()}, (1,))
    broken = await play_task(CORRIDOR, {"agent_0": player()}, (1,), env_kwargs={"fault": "step", "at": 3})
    assert broken.column(0, "state_sha") == whole.column(0, "state_sha")[:3]
    assert broken.episodes[0]["total_reward"] == 3.0 and broken.episodes[0]["outcome"] is None


@pytest.mark.parametrize("concurrency", [1, 3])
async def test_a_policy_that_raises_fails_its_own_episode_only(concurrency: int) -> None:
    def choose(snapshot: Any) -> int:
        if snapshot.episode_index == 1 and snapshot.step_index == 3:
            raise ZeroDivisionError("what is 1/0")
        return 1

    sheet = await play_task(
        CORRIDOR, {"agent_0": player(choose)}, SEEDS, options={"concurrency": concurrency}
    )
    assert [sheet.episodes[i]["status"] for i in range(3)] == ["completed", "failed", "completed"]
    said, _, place = sheet.episodes[1]["error"].partition(" (")
    assert said == "agent_0: ZeroDivisionError: what is 1/0"
    line = choose.__code__.co_firstlineno + 2
    assert place == f"test_session_failures.py, line {line}, in choose)"
    assert len(sheet.rows[1]) == 3


async def test_one_of_several_agents_that_fails_ends_the_match_for_all() -> None:
    def choose(snapshot: Any) -> int:
        if snapshot.episode_index == 0:
            raise ValueError("I do not know")
        return 0

    bad, good = player(choose), player()
    agents = ["a", "b"]
    script = [{"rewards": {"a": 1}}, {"terminated": agents}]
    sheet = await play_task(
        arena("Crowd"), {"a": good, "b": bad}, (1, 2), env_kwargs={"agents": agents, "script": script}
    )
    assert [sheet.episodes[i]["status"] for i in (0, 1)] == ["failed", "completed"]
    assert sheet.episodes[0]["error"].startswith("b: ValueError: I do not know (")
    assert [s.status for p in good.made for s in p.summaries] == ["failed", "completed"]
    assert sheet.rows[0] == []  # the step was never played


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (3, "action 3 is outside 0..2"),
        (-1, "action -1 is outside 0..2"),
        (None, "the policy returned no action"),
        (1.5, "1.5 is no action number"),
        ("left", "'left' is no action number"),
        (np.array([1, 2]), "is no action number"),
        (True, "True is no action number"),
    ],
)
async def test_an_unusable_action_fails_the_episode_and_says_why(answer: Any, words: str) -> None:
    sheet = await play_task(CORRIDOR, {"agent_0": player(lambda s: answer if s.step_index == 2 else 0)})
    episode = sheet.episodes[0]
    assert episode["status"] == "failed" and words in episode["error"]
    assert "agent_0" in episode["error"] and "step 2" in episode["error"]
    assert episode["invalid_actions"] == {"agent_0": 1} and len(sheet.rows[0]) == 2


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (np.array([0.0, 2.0]), "outside the bounds"),
        (np.array([0.0, np.nan]), "NaN"),
        (np.zeros(3), "its shape is (3,), but (2,) is needed"),
        ("up", "no array of numbers"),
    ],
)
async def test_an_unusable_array_fails_the_episode_and_says_why(answer: Any, words: str) -> None:
    sheet = await play_task(CORRIDOR, {"agent_0": player(lambda s: answer)}, env_kwargs={"box": True})
    assert sheet.episodes[0]["status"] == "failed" and words in sheet.episodes[0]["error"]


async def test_a_result_the_environment_cannot_tell_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.support.engine import bind_operator, play

    bound = await bind_operator(CORRIDOR, {"agent_0": player()})
    make = bound.make_environment

    def broken() -> Any:
        environment = make()
        monkeypatch.setattr(type(environment.family), "scores", lambda *_: 1 / 0)
        return environment

    bound.make_environment = broken
    sheet = await play(bound, (1,))
    episode = sheet.episodes[0]
    assert episode["status"] == "failed" and "ZeroDivisionError" in episode["error"]
    assert len(sheet.rows[0]) == 5
