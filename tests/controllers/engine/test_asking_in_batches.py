"""What is asked in batches ends in the same record as what is asked by objects."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from gym_gui.controllers.engine.resolved_operator import ResolvedOperator
from gym_gui.controllers.engine.session_interface import SessionSettings
from gym_gui.controllers.sessions.local_session import LocalSession
from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.services.policy_mapping import PolicyMappingService
from tests.support.engine import arena
from tests.support.seldom import some_of
from tests.support.session_log import SessionLog
from tests.support.waiting import in_time
from tests.support.watching import plans, resolved

AT_ONCE = 1e9
"""Steps a second: a pace that holds nobody back, and has a session ask by objects."""
CHECKPOINT = Path(__file__).resolve().parents[3] / "docs" / "examples" / "checkpoints" / "ppo_cartpole"
CORRIDOR = arena("Corridor")
SEEDS = range(7)


@pytest.fixture
def batches(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Sizes of the batches that were asked since the test began."""
    asked: list[int] = []
    select_batch = PolicyMappingService.select_batch

    async def counted(self: PolicyMappingService, decisions: Any, batches: Any = ()) -> Any:
        asked.extend(map(len, batches))
        return await select_batch(self, decisions, batches)

    monkeypatch.setattr(PolicyMappingService, "select_batch", counted)
    return asked


@asynccontextmanager
async def session(
    operator: ResolvedOperator, concurrency: int = 4, *, by_objects: bool = False, observations: bool = False
) -> AsyncIterator[tuple[LocalSession, SessionLog]]:
    log = SessionLog()
    settings = SessionSettings(concurrency, operator.config.max_steps, observations)
    playing = LocalSession(operator, settings, log)
    await playing.start()
    if by_objects:
        playing.pace(AT_ONCE)
    try:
        yield playing, log
    finally:
        await playing.close()


async def played(operator: ResolvedOperator, **options: Any) -> dict[int, Any]:
    """What must be the same, of seven episodes."""
    async with session(operator, **options) as (playing, log):
        playing.play(plans(*SEEDS))
        await in_time(lambda: len(log.episodes) == len(SEEDS), "all episodes are over")
        return log.essence()


def faulty(**settings: Any) -> dict[str, Any]:
    return {"worker_id": "test_worker", "type": "baseline", "settings": settings}


def random_players(*agents: str) -> dict[str, Any]:
    return {agent: {"type": "random"} for agent in agents}


OPERATORS: dict[str, dict[str, Any]] = {
    "one agent": {"task": "CartPole-v1"},
    "numbers for actions": {"task": "Pendulum-v1", "max_steps": 20},
    "dict observations": {"task": "MiniGrid-Empty-5x5-v0", "max_steps": 20},
    "masks": {"task": CORRIDOR, "env_kwargs": {"masked": True, "length": 20}},
    "turns": {"task": "tictactoe_v3", "workers": random_players("player_1", "player_2")},
    "swapped seats": {
        "task": "leduc_holdem_v4",
        "seats": "swap",
        "workers": random_players("player_0", "player_1"),
    },
    "all at once": {
        "task": "simple_spread_v3",
        "max_steps": 9,
        "workers": random_players("agent_0", "agent_1", "agent_2"),
    },
    "agents that end one by one": {
        "task": arena("Crowd"),
        "env_kwargs": {
            "agents": ["a", "b", "c"],
            "script": [
                {"rewards": {"a": 1, "b": 2}},
                {"terminated": ["a"]},
                {"rewards": {"a": 3}, "join": ["a"]},
                {"truncated": ["b"]},
                {"terminated": ["a", "c"]},
            ],
        },
        "workers": random_players("a", "b", "c"),
    },
}


@pytest.mark.parametrize(
    "name", some_of(OPERATORS, "one agent", "masks", "swapped seats", "agents that end one by one")
)
async def test_the_record_is_the_same(name: str, batches: list[int]) -> None:
    about = OPERATORS[name]
    in_batches = await played(resolved(**about))
    assert max(batches) > 1
    batches.clear()
    assert await played(resolved(**about), by_objects=True) == in_batches
    assert not batches


async def test_values_are_recorded_beside_actions() -> None:
    trained = {"agent": {"worker_id": "cleanrl_worker", "type": "rl", "checkpoint": str(CHECKPOINT)}}
    in_batches = await played(resolved(trained, max_steps=20))
    assert all("value" in row for rows in in_batches.values() for row in rows[:-1])
    assert await played(resolved(trained, max_steps=20), by_objects=True) == in_batches


async def test_observations_are_recorded_where_they_are_kept() -> None:
    in_batches = await played(resolved(max_steps=5), observations=True)
    assert all("observation" in row for rows in in_batches.values() for row in rows[:-1])
    assert await played(resolved(max_steps=5), by_objects=True, observations=True) == in_batches


@pytest.mark.parametrize(
    "fault",
    some_of(["nan", "infinite", "outside", "short", "reward", "step", "reset"], "infinite", "short", "reset"),
)
async def test_an_environment_that_breaks_fails_its_episode_alone(fault: str) -> None:
    operator = resolved(task=CORRIDOR, env_kwargs={"fault": fault, "seed": 3})
    in_batches = await played(operator)
    failed = {index for index, rows in in_batches.items() if rows[-1]["status"] == "failed"}
    assert failed == (set() if fault == "infinite" else {3})
    assert await played(operator, by_objects=True) == in_batches


@pytest.mark.parametrize(
    "rule", [{"retry": 1, "then": "random_legal"}, {"retry": 0, "then": "noop"}, {"then": "error"}], ids=str
)
@pytest.mark.parametrize("fault", some_of(["illegal", "invalid", "missing_leaf"], "illegal"))
async def test_answers_that_cannot_be_played_follow_their_rule(fault: str, rule: dict[str, Any]) -> None:
    clumsy = {**faulty(fault=fault, times=0), "on_invalid": rule}
    operator = resolved({"agent": clumsy}, task=CORRIDOR)
    in_batches = await played(operator)
    assert any(rows[-1]["invalid_actions"]["agent_0"] for rows in in_batches.values())
    assert await played(operator, by_objects=True) == in_batches


@pytest.mark.parametrize(
    "fault", some_of(["reversed", "parts", "two_in_one", "duplicate", "unknown_id"], "reversed", "parts")
)
async def test_answers_may_come_in_any_order_and_in_parts(fault: str) -> None:
    operator = resolved({"agent": faulty(fault=fault, times=0)}, task=CORRIDOR)
    plain = await played(resolved({"agent": faulty()}, task=CORRIDOR))
    assert _without_settings(await played(operator)) == _without_settings(plain)


def _without_settings(essence: dict[int, Any]) -> dict[int, Any]:
    return {index: [row.get("state_sha") for row in rows] for index, rows in essence.items()}


async def test_it_can_be_paused_stepped_and_resumed(batches: list[int]) -> None:
    operator = resolved(task=CORRIDOR, env_kwargs={"length": 40, "pause_s": 0.002})
    undisturbed = await played(operator)
    async with session(operator) as (playing, log):
        playing.play(plans(*SEEDS))
        controller = playing.controller
        await in_time(lambda: controller.total_steps > 20, "it plays")
        playing.pause()
        await playing.settled()
        batches.clear()
        before = controller.total_steps
        playing.step()
        await in_time(lambda: controller.total_steps == before + controller.live, "one step each")
        assert not batches, "a paused session asks by objects"
        playing.resume()
        await in_time(lambda: len(log.episodes) == len(SEEDS), "all episodes are over")
        assert log.essence() == undisturbed
    assert batches, "and in batches again once it goes on"


async def test_it_can_be_aborted_and_play_others() -> None:
    operator = resolved(task=CORRIDOR, env_kwargs={"length": 10**6})
    async with session(operator) as (playing, log):
        playing.play(plans(*SEEDS))
        await in_time(lambda: playing.controller.total_steps > 50, "it plays")
        playing.abort()
        await in_time(lambda: len(log.episodes) == 4, "those in flight have ended")
        assert {each["status"] for each in log.episodes.values()} == {"aborted"}
        assert all(log.rows[index] for index in log.episodes)
        before = playing.controller.total_steps
        playing.play(plans(70, 71, first=50))
        await in_time(lambda: playing.controller.total_steps > before + 50, "others are played")


async def test_a_slot_can_change_its_player_in_mid_game() -> None:
    operator = resolved(task=CORRIDOR, env_kwargs={"length": 200, "pause_s": 0.001})
    async with session(operator) as (playing, log):
        playing.play(plans(*SEEDS))
        await in_time(lambda: playing.controller.total_steps > 50, "it plays")
        passive = WorkerAssignment("operators_worker", "baseline", {"behavior": "noop"})
        await playing.rebind("agent_0", passive)
        await in_time(lambda: len(log.episodes) == len(SEEDS), "all episodes are over", 60)
    changed = [log.episodes[index]["rebound"][0]["step_index"] for index in range(4)]
    assert all(0 < step < 200 for step in changed)
    for index, step in enumerate(changed):
        assert set(log.column(index, "action")[step:]) == {0}
        assert set(log.column(index, "action")[:step]) == {0, 1, 2}


async def test_a_worker_that_dies_loses_no_episode(tmp_path: Any) -> None:
    mortal = faulty(fault="signal", signal="SIGKILL", at=4, once=str(tmp_path / "died"))
    async with session(resolved({"agent": mortal}, task=CORRIDOR)) as (playing, log):
        playing.play(plans(*SEEDS))
        await in_time(lambda: len(log.episodes) == len(SEEDS), "all episodes are over")
    assert {each["status"] for each in log.episodes.values()} == {"completed"}
    assert log.retried


async def test_an_agent_without_a_slot_fails_its_episode_alone() -> None:
    script = [{}, {"join": ["stranger"]}, {"terminated": ["a", "b", "stranger"]}]
    env_kwargs = {"agents": ["a", "b"], "script": script}
    operator = resolved(task=arena("Crowd"), env_kwargs=env_kwargs, workers=random_players("a", "b"))
    in_batches = await played(operator)
    assert len(in_batches) == len(SEEDS)
    assert all("no slot is named for it" in rows[-1]["error"] for rows in in_batches.values())
    assert await played(operator, by_objects=True) == in_batches


async def test_an_answer_that_was_on_its_way_is_the_old_players(monkeypatch: pytest.MonkeyPatch) -> None:
    """The session is paused, and another player takes the slot, between an answer's arrival and its step."""
    operator = resolved(task=CORRIDOR, env_kwargs={"length": 200, "pause_s": 0.001})
    on_answered, arrived = PolicyMappingService.on_answered, list[Any]()
    async with session(operator) as (playing, log):

        def paused_at_the_tenth(self: PolicyMappingService, answered: Any) -> None:
            on_answered(self, answered)
            arrived.append(answered)
            if len(arrived) == 10:
                playing.pause()

        monkeypatch.setattr(PolicyMappingService, "on_answered", paused_at_the_tenth)
        playing.play(plans(*SEEDS))
        await in_time(lambda: len(arrived) >= 10, "ten batches are answered")
        await playing.settled()
        passive = WorkerAssignment("operators_worker", "baseline", {"behavior": "noop"})
        await playing.rebind("agent_0", passive)
        playing.resume()
        await in_time(lambda: len(log.episodes) == len(SEEDS), "all episodes are over", 60)
    for index in range(4):
        step = log.episodes[index]["rebound"][0]["step_index"]
        assert 0 < step < 200
        assert set(log.column(index, "action")[step:]) == {0}
