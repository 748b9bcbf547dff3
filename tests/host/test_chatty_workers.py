"""A worker that never stops talking fills no memory, delays no other process, and ends when it is told to."""

from __future__ import annotations

import asyncio
from typing import Any

import psutil
import pytest

from gym_gui.controllers.engine.resolved_operator import resolve_operator
from gym_gui.controllers.engine.session_interface import SessionSettings
from gym_gui.host.host_client import HostSession
from tests.controllers.engine.test_session_workers import faulty
from tests.controllers.engine.test_session_workers import operator as configured
from tests.support.engine import plans
from tests.support.seldom import some_of
from tests.support.session_log import SessionLog
from tests.support.waiting import in_time

CALLS = 8_000
FLOODS: dict[str, dict[str, Any]] = {
    "log": {"fault": "log_flood", "count": 50_000},
    "stderr": {"fault": "stderr_flood", "count": 500_000},
    "long": {"fault": "long_lines", "count": 12, "mb": 15},
    "calls": {"fault": "call_flood", "count": CALLS},
}
MOST_MB = 200.0
"""What a host may grow by; the floods above are larger, or were held several times over."""


@pytest.mark.parametrize("flood", some_of(FLOODS, "log", "stderr"))
async def test_a_flood_is_bounded_and_its_episodes_are_played(flood: str) -> None:
    ear = SessionLog()
    session = HostSession(
        resolve_operator(configured({"agent": faulty(**FLOODS[flood])})), SessionSettings(4), ear
    )
    try:
        await session.start()
        host = psutil.Process(session.pid)
        before, most = host.memory_info().rss, 0
        session.play(plans(range(6)))

        def over() -> bool:
            nonlocal most
            most = max(most, host.memory_info().rss)
            return len(ear.episodes) == 6

        await in_time(over, "all episodes are over")
    finally:
        await session.close()
    assert (most - before) / 2**20 < MOST_MB
    if flood == "calls":
        assert len(ear.calls) == CALLS, "a paid call is never left out"
        return
    assert len(ear.logs) < 2000 and max(map(len, ear.logs)) < 20_000
    if flood != "long":
        assert any("further lines of the worker test_worker were left out" in line for line in ear.logs)


async def test_one_that_babbles_for_ever_is_ended_in_haste() -> None:
    ear = SessionLog()
    endless = faulty(fault="log_flood", count=1_000_000_000)
    session = HostSession(resolve_operator(configured({"agent": endless})), SessionSettings(4), ear)
    await session.start()
    session.play(plans(range(6)))
    await in_time(lambda: len(ear.logs) > 100, "it babbles")
    await asyncio.wait_for(session.close(in_haste=True), 20)
    assert len(ear.episodes) == 0
