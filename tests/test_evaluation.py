"""``gym_gui.evaluate`` with policies of every sort in one environment's slots."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from gym_gui import evaluate
from gym_gui.core.errors import UsageError

DOOR = "MiniGrid-DoorKey-5x5-v0"
SKILLS = {"type": "baseline", "behavior": "minigrid_skills"}


def test_a_manager_in_a_process_of_its_own(tmp_path: Path) -> None:
    manager = {"type": "baseline", "behavior": "minigrid_manager"}
    results = evaluate(DOOR, {"agent": SKILLS, "agent/goal": manager}, seeds=4, out=tmp_path)
    assert [episode.success for episode in results.episodes] == [True] * 4
    players = results.episodes[0].agents
    assert {seat: p.worker_id for seat, p in players.items()} == dict.fromkeys(players, "operators_worker")
    assert set(players) == {"agent_0", "agent_0/goal"}


def test_a_function_as_manager(tmp_path: Path) -> None:
    asked: list[Any] = []

    def explore(seen: Any) -> int:
        asked.append(seen["direction"])
        return 0

    results = evaluate(DOOR, {"agent": SKILLS, "agent_0/goal": explore}, seeds=2, max_steps=30, out=tmp_path)
    assert results.status == "completed" and asked
    assert [episode.length for episode in results.episodes] == [30, 30]  # choices are no steps
    assert results.episodes[0].agents["agent_0/goal"].worker_id == "in_process"
    assert results.returns("agent_0/goal").tolist() == results.returns().tolist()


def test_an_environment_without_options_has_no_managers(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no options"):
        evaluate("CartPole-v1", {"agent": {"type": "random"}, "agent/goal": lambda seen: 0}, out=tmp_path)
    assert not list(tmp_path.iterdir())


def test_what_a_policy_raises_is_said_with_its_line(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    def wise(seen: Any) -> int:
        return int(1 / 0)

    results = evaluate("CartPole-v1", wise, seeds=2, out=tmp_path)
    place = f"(test_evaluation.py, line {wise.__code__.co_firstlineno + 1}, in wise)"
    for episode in results.episodes:
        assert episode.error == f"agent_0: ZeroDivisionError: division by zero {place}"
    (record,) = caplog.records
    assert place in record.message and "int(1 / 0)" in record.message


async def test_it_works_inside_a_running_loop(tmp_path: Path) -> None:
    results = evaluate("CartPole-v1", lambda seen: int(seen[2] > 0), seeds=3, out=tmp_path)
    assert [episode.status for episode in results.episodes] == ["completed"] * 3
    assert asyncio.get_running_loop().is_running()
