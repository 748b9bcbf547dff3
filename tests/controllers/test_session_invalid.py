"""``on_invalid``: what is played, recorded and counted when an answer cannot be used."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gym_gui.envs.environment_registry import families
from gym_gui.envs.remote_env import close_servers
from gym_gui.services.actor import RandomActor
from tests.support.commands import ROOT
from tests.support.engine import arena, play_task, player
from tests.support.session_log import SessionLog

CORRIDOR = arena("Corridor")


async def with_rule(rule: Any, choose: Any, seeds: Any = (1,), **config: Any) -> tuple[SessionLog, Any]:
    made = player(choose)
    sheet = await play_task(CORRIDOR, {"agent_0": made}, seeds, rules={"agent_0": rule}, **config)
    return sheet, made


def wrong_at(*steps: int) -> Any:
    return lambda s: 99 if s.step_index in steps else 2


async def test_error_is_the_default_and_ends_the_episode() -> None:
    made = player(wrong_at(1))
    sheet = await play_task(CORRIDOR, {"agent_0": made})
    assert sheet.episodes[0]["status"] == "failed"
    assert sheet.episodes[0]["error"] == "agent_0: unusable action at step 1: action 99 is outside 0..2"
    assert sheet.column(0, "action_source") == ["policy"]


async def test_noop_plays_the_lowest_action_where_the_environment_names_none() -> None:
    sheet, _ = await with_rule("noop", wrong_at(1, 4))
    assert sheet.column(0, "action") == [2, 0, 2, 2, 0]
    assert sheet.column(0, "action_source") == ["policy", "noop", "policy", "policy", "noop"]
    episode = sheet.episodes[0]
    assert episode["status"] == "completed" and episode["invalid_actions"] == {"agent_0": 2}


async def test_noop_plays_the_environments_own() -> None:
    made = player(lambda s: -1)
    sheet = await play_task(
        "MiniGrid-Empty-5x5-v0", {"agent_0": made}, rules={"agent_0": "noop"}, options={"max_steps": 3}
    )
    assert sheet.column(0, "action") == [6, 6, 6]  # "done", which does nothing in this task
    assert sheet.episodes[0]["invalid_actions"] == {"agent_0": 3}


async def test_noop_is_replaced_where_it_is_illegal() -> None:
    sheet, _ = await with_rule("noop", lambda s: 99, env_kwargs={"masked": True})
    assert sheet.column(0, "action") == [1, 0, 0, 1, 0]


@pytest.fixture
def served_corridor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A corridor on a server of one's own, which names a default."""
    monkeypatch.setenv("MOSAIC_DATA_DIR", str(tmp_path))
    folder = tmp_path / "environment_servers" / "served"
    folder.mkdir(parents=True)
    (folder / "server.toml").write_text(
        f'path = ["{ROOT}"]\n[environments]\n"Corridor-v0" = "tests.support.served_games:Corridor"\n'
    )
    families.cache_clear()
    yield "served/Corridor-v0"
    close_servers()
    families.cache_clear()


async def test_the_environments_default_is_played_where_it_names_one(served_corridor: str) -> None:
    made = player(lambda s: 99 if s.step_index == 1 else 1)
    rule = {"agent_0": "default"}
    sheet = await play_task(served_corridor, {"agent_0": made}, rules=rule, options={"max_steps": 3})
    assert sheet.column(0, "action") == [1, 2, 1]
    assert sheet.column(0, "action_source") == ["policy", "default", "policy"]
    assert sheet.episodes[0]["invalid_actions"] == {"agent_0": 1}


async def test_a_default_that_the_environment_does_not_name_is_a_failure() -> None:
    sheet, _ = await with_rule("default", wrong_at(1))
    assert sheet.episodes[0]["status"] == "failed"
    assert sheet.episodes[0]["error"].endswith(
        "and nothing to put in its place: its environment names no default for that"
    )


@pytest.mark.parametrize("masked", [False, True])
async def test_random_legal_is_legal_and_the_same_for_any_concurrency(masked: bool) -> None:
    seeds = range(30)
    alone, _ = await with_rule("random_legal", lambda s: 99, seeds, env_kwargs={"masked": masked})
    together, _ = await with_rule(
        "random_legal", lambda s: 99, seeds, env_kwargs={"masked": masked}, options={"concurrency": 16}
    )
    assert alone.essence() == together.essence()
    drawn = {index: alone.column(index, "action") for index in alone.episodes}
    assert {a for actions in drawn.values() for a in actions} == {0, 1, 2}
    assert len({tuple(actions) for actions in drawn.values()}) > 10  # episodes do not share their luck
    if masked:
        assert all(a != step % 3 for actions in drawn.values() for step, a in enumerate(actions))
    assert set(alone.column(0, "action_source")) == {"random_legal"}


async def test_random_legal_draws_apart_from_the_policy() -> None:
    """A policy that draws from its own seed must not be handed its own draw again."""
    long = {"env_kwargs": {"length": 40}}
    drawn = await play_task(CORRIDOR, {"agent_0": RandomActor}, **long)
    substituted, _ = await with_rule("random_legal", lambda s: 99, **long)
    assert len(set(drawn.column(0, "action"))) == 3
    assert drawn.column(0, "action") != substituted.column(0, "action")


async def test_random_legal_of_a_box_is_inside() -> None:
    made = player(lambda s: np.array([9.0, 9.0]))
    sheet = await play_task(
        CORRIDOR,
        {"agent_0": made},
        rules={"agent_0": "random_legal"},
        env_kwargs={"box": True, "length": 30},
    )
    actions = np.array(sheet.column(0, "action"))
    assert actions.shape == (30, 2) and (np.abs(actions) <= 1).all() and actions.std() > 0.3


async def test_retry_asks_again_with_the_next_attempt() -> None:
    tries: list[tuple[int, int]] = []

    def choose(s: Any) -> int:
        tries.append((s.step_index, len([t for t in tries if t[0] == s.step_index])))
        return 99 if s.step_index == 2 and tries[-1][1] < 2 else 1

    sheet, _ = await with_rule({"retry": 2, "then": "noop"}, choose)
    assert tries == [(0, 0), (1, 0), (2, 0), (2, 1), (2, 2), (3, 0), (4, 0)]
    assert sheet.column(0, "action_source") == ["policy", "policy", "retry", "policy", "policy"]
    assert sheet.column(0, "action") == [1] * 5 and sheet.column(0, "step_index") == [0, 1, 2, 3, 4]
    assert sheet.episodes[0]["invalid_actions"] == {"agent_0": 2}
    assert sheet.episodes[0]["unusable_decisions"] == {"agent_0": 0}, "it came in the end"
    assert "unusable_causes" not in sheet.episodes[0]


@pytest.mark.parametrize(
    ("then", "source", "status"),
    [("noop", "noop", "completed"), ("random_legal", "random_legal", "completed")],
)
async def test_after_its_retries_comes_the_fallback(then: str, source: str, status: str) -> None:
    sheet, made = await with_rule({"retry": 3, "then": then}, wrong_at(2))
    assert sheet.episodes[0]["status"] == status
    assert sheet.column(0, "action_source")[2] == source
    assert sheet.episodes[0]["invalid_actions"] == {"agent_0": 4}  # the first and three retries
    assert sheet.episodes[0]["unusable_decisions"] == {"agent_0": 1}
    assert sheet.episodes[0]["unusable_causes"] == {"agent_0": {"illegal": 1}}
    assert sheet.column(0, "action_source").index(source) == 2
    assert [s.step_index for s in made.made[0].asked] == [0, 1, 2, 2, 2, 2, 3, 4]


async def test_after_its_retries_an_error_ends_the_episode() -> None:
    sheet, made = await with_rule({"retry": 1}, wrong_at(2))
    assert sheet.episodes[0]["status"] == "failed" and len(made.made[0].asked) == 4
    assert sheet.episodes[0]["invalid_actions"] == {"agent_0": 2}
    assert sheet.episodes[0]["unusable_decisions"] == {"agent_0": 1}
    assert sheet.episodes[0]["unusable_causes"] == {"agent_0": {"illegal": 1}}


async def test_a_policy_is_told_what_was_played_in_its_place() -> None:
    _, made = await with_rule("noop", wrong_at(1))
    assert [r.action for r in made.made[0].results] == [2, 0, 2, 2, 2]


async def test_each_slot_has_its_own_rule_and_its_own_count() -> None:
    agents = ["a", "b"]
    script: list[dict[str, Any]] = [{}, {}, {"terminated": agents}]
    sheet = await play_task(
        arena("Crowd"),
        {"a": player(lambda s: 7 if s.step_index == 1 else 1), "b": player(lambda s: 3)},
        env_kwargs={"agents": agents, "script": script},
        rules={"a": "noop", "b": "error"},
    )
    assert sheet.column(0, "action", "a") == [1, 0, 1] and sheet.column(0, "action", "b") == [3, 3, 3]
    assert sheet.episodes[0]["invalid_actions"] == {"a": 1, "b": 0}


@pytest.mark.parametrize(
    ("rule", "words"), [("noop", "has no action that does nothing"), ("random_legal", "Words")]
)
async def test_where_nothing_can_take_its_place_the_episode_fails(rule: str, words: str) -> None:
    made = player(lambda s: None)
    sheet = await play_task(arena("Speech"), {"agent_0": made}, rules={"agent_0": rule})
    episode = sheet.episodes[0]
    assert episode["status"] == "failed"
    assert "nothing to put in its place" in episode["error"] and words in episode["error"]


async def test_every_action_reaches_the_environment_in_the_same_type() -> None:
    """Whether chosen, substituted or drawn: what an environment computes must not depend on it."""
    for rule, choose in (("noop", lambda s: 99), ("random_legal", lambda s: 99), ("error", lambda s: 1)):
        sheet, made = await with_rule(rule, choose)
        assert {type(r.action) for r in made.made[0].results} == {np.int64}
        boxes = await play_task(
            CORRIDOR,
            {"agent_0": (other := player(lambda s, good=rule == "error": [0.5, 0.5] if good else None))},
            rules={"agent_0": rule},
            env_kwargs={"box": True},
        )
        assert {r.action.dtype for r in other.made[0].results} == {np.dtype(np.float32)}
        assert sheet.episodes[0]["status"] == boxes.episodes[0]["status"] == "completed"
