"""A session host that is watched: looks, people, rebinding, and whatever ends or hangs."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

from gym_gui.controllers.engine.resolved_operator import ResolvedOperator
from gym_gui.controllers.engine.session_events import SessionEvent
from gym_gui.controllers.engine.session_interface import LiveSettings, SessionSettings
from gym_gui.controllers.sessions.local_session import LocalSession
from gym_gui.core.errors import MosaicError, UsageError
from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.core.live import LiveView
from gym_gui.host.host_client import HostSession
from gym_gui.processes.tree import TAG
from tests.support.engine import arena
from tests.support.processes import Offspring, alive
from tests.support.runs import GATED, Gate
from tests.support.session_log import SessionLog
from tests.support.waiting import eventually, in_time
from tests.support.watching import plans, resolved

LIVE = LiveSettings()
CORRIDOR = arena("Corridor")
LONG = {"length": 10**6}
NOOP = WorkerAssignment("operators_worker", "baseline", {"behavior": "noop"})


@asynccontextmanager
async def session(
    played: ResolvedOperator | None = None, live: LiveSettings = LIVE, **options: Any
) -> AsyncIterator[tuple[HostSession, SessionLog]]:
    watcher = SessionLog()
    host = HostSession(played or resolved(), SessionSettings(1, live=live), watcher, **options)
    watcher.answer = host.answer
    try:
        await host.start()
        yield host, watcher
    finally:
        await host.close()


CALM = 100.0
"""Steps per second of an episode that goes on until the test ends it: as fast as it could, it
would take the machine from the other tests."""


def corridor(workers: Any = None, **kwargs: Any) -> ResolvedOperator:
    return resolved(workers, task=CORRIDOR, env_kwargs=kwargs or LONG)


# -- what is shown ----------------------------------------------------------------------------


async def test_pictures_and_facts_arrive_and_are_the_same_however_they_travel():
    pictures: list[bytes] = []
    for share_memory in (True, False):
        async with session(share_memory=share_memory) as (host, watcher):
            host.pause()
            host.play(plans(3))
            for k in range(4):
                await in_time(lambda k=k: len(watcher.frames) == k + 1, "a picture")
                host.step()
            pictures.append(b"".join(frame.tobytes() for _, frame in watcher.frames[:4]))
            host.pace(40)
            host.resume()
            await in_time(lambda: 0 in watcher.episodes, "it is over")
            check_what_was_shown(watcher)
            mapped = Path(f"/proc/{host.pid}/maps").read_text()
            assert ("mosaic-frames" in mapped) == share_memory
            worker = next(p for p in psutil.Process(host.pid).children() if "mosaic_worker" in p.cmdline())
            held = [str(f.readlink()) for f in Path(f"/proc/{worker.pid}/fd").iterdir()]
            assert not [name for name in held if "mosaic-frames" in name], "no business of a worker"
    assert pictures[0] == pictures[1]


def check_what_was_shown(watcher: SessionLog) -> None:
    """Facts and pictures of one episode of CartPole with seed 3."""
    assert watcher.views[0].step == 0 and watcher.views[0].seed == 3
    assert watcher.last.over == "completed" and watcher.last.step == watcher.episodes[0]["length"]
    assert watcher.last.agents[0].total == watcher.episodes[0]["total_reward"]
    assert len(watcher.frames) >= 5
    numbers = [number for number, _ in watcher.frames]
    assert numbers == sorted(set(numbers)) and set(numbers) <= {v.frame for v in watcher.views}
    assert {frame.shape for _, frame in watcher.frames} == {(400, 600, 3)}
    first, last = watcher.frames[0][1], watcher.frames[-1][1]
    assert not np.array_equal(first, last) and len(np.unique(first)) > 3


@pytest.mark.parametrize("share_memory", [True, False])
async def test_whoever_is_slow_sees_less_and_what_they_see_is_new(share_memory: bool):
    ages: list[float] = []

    watcher = SessionLog()

    def slow(event: SessionEvent) -> None:
        watcher(event)
        if isinstance(event, LiveView):
            ages.append((time.monotonic_ns() - event.sent_ns) / 1e9)
            time.sleep(0.1)  # the window is busy: it paints, or has no core

    host = HostSession(
        corridor(), SessionSettings(1, live=LiveSettings(60.0)), slow, share_memory=share_memory
    )
    try:
        await host.start()
        host.pace(60)
        host.play(plans(1))
        await in_time(lambda: len(ages) >= 30, "three seconds have passed")
    finally:
        await host.close()
    # Six looks come for each that is taken in: unheld they would be two seconds old by now.
    assert max(ages[10:]) < 1.2
    assert watcher.views[-1].step > 60 and len(watcher.views) < 45


async def test_the_beginning_is_shown_before_the_host_is_ready():
    watcher = SessionLog()
    live = LiveSettings(first=plans(8, first=3)[0])
    host = HostSession(resolved(), SessionSettings(1, live=live), watcher)
    try:
        await host.start()
        (view,), ((number, frame),) = watcher.views, watcher.frames
        assert (view.episode, view.seed, view.step, view.frame) == (3, 8, 0, number)
        host.pause()
        host.play(plans(8, first=3))
        await in_time(lambda: len(watcher.frames) == 2, "it begins")
        assert np.array_equal(watcher.frames[1][1], frame), "as was shown"
    finally:
        await host.close()


async def test_a_reader_that_is_slow_sees_the_newest():
    # Long episodes: the end of each is told in any case, however many there are.
    async with session(resolved(task="MiniGrid-Empty-16x16-v0"), LiveSettings(fps=200)) as (host, watcher):
        host.pace(200)
        host.play(plans(*range(20)))
        await in_time(lambda: len(watcher.views) > 5, "it is shown")
        time.sleep(0.5)  # the window is busy: nothing of this process runs
        woke, before = time.monotonic_ns(), len(watcher.views)
        await in_time(lambda: any(v.sent_ns > woke for v in watcher.views[before:]), "it goes on")
        missed = [v for v in watcher.views[before:] if v.sent_ns < woke and not v.over]
        assert len(missed) <= 5, "what was missed is not made up for"


async def test_a_watched_session_is_recorded_like_one_that_is_not():
    hashes: list[str] = []
    played = resolved(task="MiniGrid-DoorKey-5x5-v0")
    for open_session, live in ((HostSession, LIVE), (LocalSession, None)):
        watcher = SessionLog()
        host = open_session(played, SessionSettings(1, 50, live=live), watcher)
        await host.start()
        host.play(plans(11))
        await in_time(lambda watcher=watcher: watcher.episodes, "it is over")
        await host.close()
        hashes.append(watcher.episodes[0]["trajectory_sha256"])
        assert bool(watcher.views) == (live is not None)
    assert hashes[0] == hashes[1]


# -- commands ---------------------------------------------------------------------------------


async def test_it_is_paused_stepped_paced_and_aborted():
    async with session(corridor()) as (host, watcher):
        host.pause()
        host.play(plans(1))
        await in_time(lambda: watcher.views, "the reset is shown")
        for k in (1, 2, 3):
            (host.step if k % 2 else host.step_agent)()
            await in_time(lambda k=k: watcher.last.step == k, "one step")
        host.pace(50)
        host.resume()
        begun = time.perf_counter()
        await in_time(lambda: watcher.last.step >= 13, "ten more")
        assert time.perf_counter() - begun > 0.15
        host.abort()
        await in_time(lambda: watcher.episodes, "it is told")
        assert watcher.episodes[0]["status"] == watcher.last.over == "aborted"
        host.play(plans(2))
        await in_time(lambda: watcher.last.seed == 2, "and plays again")
        with pytest.raises(UsageError, match="above 0"):
            host.pace(-1)


async def test_a_person_plays_through_the_host():
    async with session(corridor({"agent": {"type": "human"}}, length=3, masked=True)) as (host, watcher):
        watcher.reply = lambda q: q.legal[0] if q.attempt else 99
        host.play(plans(1))
        await in_time(lambda: watcher.episodes, "it is over")
        assert watcher.column(0, "action") == [1, 0, 0]
        assert watcher.column(0, "action_source") == ["human"] * 3
        assert [q.attempt for q in watcher.questions] == [0, 1] * 3
        assert "outside 0..2" in watcher.questions[1].reason

        # And is let go when it is paused or over.
        watcher.reply, watcher.questions, watcher.withdrawn = None, [], []
        host.play(plans(2, first=1))
        await in_time(lambda: len(watcher.questions) == 1, "asked")
        host.pause()
        await in_time(lambda: len(watcher.withdrawn) == 1, "taken back")
        host.resume()
        await in_time(lambda: len(watcher.questions) == 2, "asked again")
        host.abort()
        await in_time(lambda: len(watcher.withdrawn) == 2 and 1 in watcher.episodes, "taken back")


async def test_a_slot_changes_hands_and_a_refusal_changes_nothing():
    async with session(corridor()) as (host, watcher):
        host.pace(CALM)
        host.play(plans(1))
        missing = WorkerAssignment("operators_worker", "baseline", {"token": "env:MOSAIC_NO_SUCH_KEY"})
        with pytest.raises(UsageError, match="MOSAIC_NO_SUCH_KEY"):
            await host.rebind("agent_0", missing)
        dancing = WorkerAssignment("operators_worker", "baseline", {"behavior": "dancing"})
        with pytest.raises(UsageError, match="dancing"):
            await host.rebind("agent_0", dancing)
        with pytest.raises(UsageError, match="unknown agent"):
            await host.rebind("goalkeeper", NOOP)
        player = await host.rebind("agent_0", NOOP)
        assert player["policy"] == "noop" and player["version"]
        step = watcher.last.step
        await in_time(lambda: watcher.last.step > step + 20, "it plays on")
        host.abort()
        await in_time(lambda: watcher.episodes, "it is told")
        (change,) = watcher.episodes[0]["rebound"]
        assert change["policy"] == "noop" and 0 < change["step_index"] <= watcher.episodes[0]["length"]


async def test_nobody_can_be_rebound_where_nothing_runs():
    never = HostSession(corridor(), SessionSettings(1, live=LIVE), SessionLog())
    with pytest.raises(UsageError, match="not running"):
        await never.rebind("agent_0", NOOP)


async def test_a_host_that_is_killed_is_told_of_and_leaves_nothing(offspring: Offspring):
    async with session(corridor()) as (host, watcher):
        host.pace(CALM)
        host.play(plans(1))
        await in_time(lambda: watcher.views, "it is shown")
        task = asyncio.create_task(host.rebind("agent_0", NOOP))
        await asyncio.sleep(0)
        os.kill(host.pid, signal.SIGKILL)
        with pytest.raises(UsageError, match="session"):
            await task
        await in_time(lambda: watcher.ends, "its end is told")
        assert watcher.ends == ["was killed (signal 9, SIGKILL)"]
        host.pause()
        host.answer(1, 0)
        host.abort()


# -- what hangs -------------------------------------------------------------------------------


async def test_a_worker_that_hangs_stops_nothing_but_its_own_episode(offspring: Offspring):
    async with session(corridor()) as (hung, silent), session(corridor()) as (other, watcher):
        for one in (hung, other):
            one.pace(CALM)
            one.play(plans(1))
        await in_time(lambda: silent.views and watcher.views, "both are shown")
        (worker,) = (p for p in offspring.workers("op") if psutil.Process(p).ppid() == hung.pid)
        os.kill(worker, signal.SIGSTOP)
        before = watcher.last.step
        await in_time(lambda: watcher.last.step > before + 20, "the other plays on")
        begun = time.perf_counter()
        hung.pause()
        hung.resume()
        hung.abort()
        await in_time(lambda: silent.episodes, "it ends at once")
        assert silent.episodes[0]["status"] == "aborted"
        assert time.perf_counter() - begun < 1.0
        await hung.rebind("agent_0", NOOP)
        hung.play(plans(2, first=1))
        await in_time(lambda: silent.last.episode == 1, "the other operator plays on")

        # Nor does one that hangs keep a session open.
        (worker,) = (p for p in offspring.workers("op") if psutil.Process(p).ppid() == hung.pid)
        os.kill(worker, signal.SIGSTOP)
        begun = time.perf_counter()
        await hung.close()
        assert time.perf_counter() - begun < 3.5


async def test_an_environment_that_hangs_does_not_keep_a_session_open(tmp_path: Path):
    gate = Gate(tmp_path / "gate")
    async with session(resolved(task=GATED, env_kwargs=gate.kwargs(1))) as (host, watcher):
        host.play(plans(1))
        await asyncio.to_thread(gate.reached)
        begun = time.perf_counter()
        await host.close()
        assert time.perf_counter() - begun < 6.0 and not watcher.ends


# -- what is killed ---------------------------------------------------------------------------


@pytest.mark.parametrize("moment", ["socket", "worker"])
async def test_a_host_that_is_killed_while_it_starts_is_a_reason(moment: str, offspring: Offspring):
    host = HostSession(corridor(), SessionSettings(1, live=LIVE), SessionLog())
    task = asyncio.create_task(host.start())
    (pid,) = await in_time(lambda: offspring.hosts("op"), "it is started")
    if moment == "worker":
        await in_time(lambda: offspring.workers("op"), "its worker is started")
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(MosaicError, match="session process of op"):
        await task
    await host.close()
    offspring.assert_none()


_CLIENT = """
import asyncio, sys
from pathlib import Path
from gym_gui.controllers.engine.session_interface import LiveSettings, SessionSettings
from gym_gui.host.host_client import HostSession
from tests.support.session_log import SessionLog
from tests.support.watching import plans, resolved

async def main():
    watcher = SessionLog()
    host = HostSession(resolved(task="CartPole-v1"), SessionSettings(1, live=LiveSettings()), watcher)
    print("starting", flush=True)
    await host.start()
    print("ready", flush=True)
    host.pace(100)
    host.play(plans(*range(100_000)))
    while not watcher.frames:
        await asyncio.sleep(0.01)
    print("shown", flush=True)
    await asyncio.sleep(600)

asyncio.run(main())
"""


SELDOM = [pytest.param(moment, marks=pytest.mark.full) for moment in ("starting", "ready")]


@pytest.mark.parametrize("moment", ["host", "worker", "shown", *SELDOM])
def test_a_client_that_is_killed_leaves_nothing(moment: str, offspring: Offspring):
    """No process, no socket folder, no shared memory: the fixture looks for them, too."""
    inherited = {key: value for key, value in os.environ.items() if key != TAG}
    client = subprocess.Popen(
        [sys.executable, "-c", _CLIENT],
        env={**inherited, **offspring.variables},
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert client.stdout is not None
    try:
        if moment == "host":
            eventually(lambda: offspring.hosts("op"), "the host is started")
        elif moment == "worker":
            eventually(lambda: offspring.workers("op"), "the worker is started")
        else:
            while client.stdout.readline().strip() != moment:
                assert client.poll() is None
        hosts = offspring.hosts("op")
    finally:
        client.kill()
        client.wait()
        client.stdout.close()
    offspring.assert_none()
    assert not any(alive(pid) for pid in hosts)
