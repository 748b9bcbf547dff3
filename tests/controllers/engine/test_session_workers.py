"""The engine with real worker processes, where the process is the point."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gym_gui.controllers.engine.resolved_operator import resolve_operator
from gym_gui.controllers.engine.session_interface import SessionSettings
from gym_gui.controllers.sessions.local_session import LocalSession
from gym_gui.core.config import OperatorConfig
from gym_gui.core.experiment.experiment_data import experiment_from_data
from tests.support.engine import arena, plans, player
from tests.support.session_log import SessionLog
from tests.support.waiting import in_time


def faulty(**settings: Any) -> dict[str, Any]:
    return {"worker_id": "test_worker", "type": "baseline", "settings": settings}


def operator(workers: Mapping[str, Any], task: str = arena("Corridor"), **more: Any) -> OperatorConfig:
    data = {"operators": [{"id": "op", "task": task, "workers": dict(workers), **more}]}
    return experiment_from_data(data, complete=False).operators[0]


async def played(
    config: OperatorConfig, seeds: Any, concurrency: int, objects: Mapping[str, object] | None = None
) -> SessionLog:
    """All episodes, over one session."""
    listener = SessionLog()
    settings = SessionSettings(concurrency, max_steps=config.max_steps)
    session = LocalSession(resolve_operator(config, objects), settings, listener)
    try:
        await session.start()
        session.play(plans(seeds))
        await in_time(lambda: len(listener.episodes) == len(seeds), "all episodes are over")
    finally:
        await session.close()
    return listener


async def test_fast_episodes_do_not_wait_for_a_slow_answer() -> None:
    slow = faulty(fault="hold", episode=1, seconds=1.5)
    listener = await played(operator({"agent": slow}), range(6), 6)
    # The first questions go out in two messages; the answer to the one that holds episode 1 is late.
    assert set(listener.order[:3]) == {3, 4, 5} and sorted(listener.order) == list(range(6))
    assert {e["status"] for e in listener.episodes.values()} == {"completed"}
    assert max(listener.column(1, "latency_ms")) > 1000 > max(listener.column(4, "latency_ms"))


async def test_answers_in_any_order_and_in_parts_give_the_same_episodes() -> None:
    plain = await played(operator({"agent": faulty()}), range(8), 8)
    for fault in ("reversed", "parts", "two_in_one", "duplicate", "unknown_id"):
        told = await played(operator({"agent": faulty(fault=fault, times=0)}), range(8), 8)
        for index in range(8):
            assert told.column(index, "state_sha") == plain.column(index, "state_sha"), fault


async def test_an_answer_after_its_deadline_is_refused_and_the_rule_decides() -> None:
    late = {**faulty(fault="no_reply", episode=1), "deadline_s": 0.3, "on_invalid": "noop"}
    listener = await played(operator({"agent": late}), range(3), 3)
    assert {e["status"] for e in listener.episodes.values()} == {"completed"}
    assert listener.column(1, "action_source").count("noop") == 1
    assert listener.episodes[1]["invalid_actions"] == {"agent_0": 1}


async def test_a_retry_carries_its_reason_to_the_worker_and_is_recorded() -> None:
    clumsy = {
        **faulty(fault="illegal", episode=0, at=2),
        "on_invalid": {"retry": 2, "then": "error"},
    }
    listener = await played(operator({"agent": clumsy}), range(1), 1)
    assert listener.episodes[0]["status"] == "completed"
    assert listener.column(0, "action_source") == ["policy", "policy", "retry", "policy", "policy"]


async def test_a_worker_that_dies_plays_what_it_held_again(tmp_path: Path) -> None:
    mortal = faulty(fault="signal", signal="SIGKILL", at=7, once=str(tmp_path / "died"))
    listener = await played(operator({"agent": mortal}), range(12), 2)
    assert {e["status"] for e in listener.episodes.values()} == {"completed"}
    assert 1 <= len(listener.retried) <= 2
    assert all("test_worker was killed (signal 9, SIGKILL)" in reason for _, reason in listener.retried)


async def test_a_worker_and_a_policy_in_this_process_share_a_match() -> None:
    own = player(lambda s: 1)
    config = operator({"player_0": {"type": "random"}}, "rps_v2", api="parallel", max_steps=10)
    listener = await played(config, range(4), 4, {"player_1": own})
    assert {e["status"] for e in listener.episodes.values()} == {"completed"}
    agents = listener.episodes[0]["agents"]
    assert (agents["player_0"]["worker_id"], agents["player_1"]["worker_id"]) == (
        "operators_worker",
        "in_process",
    )
    assert set(listener.column(2, "action", "player_1")) == {1}
    assert len(set(listener.column(2, "action", "player_0"))) > 1


async def test_closing_in_mid_game_leaves_no_row_and_no_process(tmp_path: Path) -> None:
    listener = SessionLog()
    config = operator({"agent": faulty(fault="no_reply", times=0)})
    session = LocalSession(resolve_operator(config), SessionSettings(4), listener)
    await session.start()
    session.play(plans(range(8)))
    await in_time(lambda: len(listener.started) == 4, "four are in flight")
    await asyncio.wait_for(session.close(), 30)
    assert not listener.episodes and listener.ends == []
