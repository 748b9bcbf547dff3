"""A session that is closed is freed at once, and gRPC's thread with it: nothing waits for the collector."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import threading
import weakref
from dataclasses import replace
from pathlib import Path

import pytest

from gym_gui.controllers.engine.resolved_operator import ResolvedOperator
from gym_gui.controllers.engine.session_interface import LiveSettings, SessionSettings
from gym_gui.controllers.replays.replay_reel import ReplayStore
from gym_gui.core.errors import MosaicError, UsageError
from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.host.host_client import HostSession
from gym_gui.host.replay_client import ReplaySession
from tests.host.test_replay_host import order_of
from tests.support.engine import arena
from tests.support.processes import Offspring
from tests.support.session_log import SessionLog
from tests.support.waiting import in_time
from tests.support.watching import plans, resolved

LIVE = SessionSettings(1, live=LiveSettings())
_GRPC = "_poll_wrapper"
"""In the name of the thread that gRPC keeps while there is a channel."""


_before: list[str] = []
"""gRPC's threads that were there before the test."""


def grpc_threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if _GRPC in thread.name]


@pytest.fixture(autouse=True)
def only_references_count() -> None:
    """What is freed here is freed because nothing refers to it: no garbage is collected during a test."""
    assert not gc.isenabled()
    gc.collect()
    # Channels that other tests have left in this process are not for these tests to judge.
    _before[:] = grpc_threads()


async def assert_freed(reference: weakref.ref[HostSession] | weakref.ref[ReplaySession]) -> None:
    await in_time(lambda: reference() is None, "it is freed")
    if not _before:
        await in_time(lambda: not grpc_threads(), "gRPC's thread ends")


def opened(played: ResolvedOperator | None = None, log: SessionLog | None = None) -> HostSession:
    return HostSession(played or resolved(task=arena("Corridor")), LIVE, log or SessionLog())


async def test_after_it_has_played_and_refused_a_player():
    watcher = SessionLog()
    session = opened(log=watcher)
    await session.start()
    assert grpc_threads(), "or this test could not fail"
    session.play(plans(*range(3)))
    await in_time(lambda: len(watcher.episodes) == 3, "three episodes")
    try:
        await session.rebind("nobody", WorkerAssignment("operators_worker", "baseline", {}))
    except UsageError:
        pass
    else:
        raise AssertionError("an unknown slot got a player")
    await session.close()
    reference = weakref.ref(session)
    del session
    await assert_freed(reference)


async def test_while_it_plays():
    watcher = SessionLog()
    session = opened(resolved(task=arena("Corridor"), env_kwargs={"length": 10**6}), watcher)
    await session.start()
    session.pace(100)
    session.play(plans(1))
    await in_time(lambda: watcher.views, "it is shown")
    await session.close()
    reference = weakref.ref(session)
    del session
    await assert_freed(reference)


async def test_after_its_host_was_killed():
    watcher = SessionLog()
    session = opened(log=watcher)
    await session.start()
    os.kill(session.pid, signal.SIGKILL)
    await in_time(lambda: watcher.ends, "its end")
    await session.close()
    reference = weakref.ref(session)
    del session
    await assert_freed(reference)


async def test_after_a_start_that_failed():
    played = resolved(task=arena("Corridor"))
    session = opened(replace(played, config=replace(played.config, env_kwargs={"no such": "setting"})))
    reference = weakref.ref(session)
    try:
        await session.start()
    except MosaicError:
        pass
    else:
        raise AssertionError("it started")
    del session
    await assert_freed(reference)


@pytest.mark.parametrize("moment", [1, 10, 30, 100])
async def test_after_a_start_that_was_cancelled_which_leaves_no_process(moment: int, offspring: Offspring):
    session = opened()
    task = asyncio.ensure_future(session.start())
    for _ in range(moment):
        await asyncio.sleep(0.005)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    if not task.cancelled():  # it had started by then
        await session.close()
    assert offspring.pids() == []
    reference = weakref.ref(session)
    del session, task
    await assert_freed(reference)


async def test_a_replay_that_was_seen_to_its_end(tmp_path: Path):
    reel = ReplayStore()
    session = ReplaySession(await order_of(tmp_path), reel, lambda: None)
    await session.play()
    reel.close()
    reference = weakref.ref(session)
    del session
    await assert_freed(reference)


async def test_a_replay_that_was_stopped(tmp_path: Path):
    reel, begun = ReplayStore(), asyncio.Event()
    session = ReplaySession(await order_of(tmp_path), reel, begun.set)
    task = asyncio.create_task(session.play())
    await asyncio.wait_for(begun.wait(), 60)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    reel.close()
    reference = weakref.ref(session)
    del session, task
    await assert_freed(reference)
