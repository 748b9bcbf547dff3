"""A session host process and its client: however one of them ends, nothing is left."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import stat
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from gym_gui.controllers.engine.resolved_operator import (
    ResolvedOperator,
    checked_permissions,
    resolve_operator,
)
from gym_gui.controllers.engine.session_events import EpisodeFinished, SessionEvent
from gym_gui.controllers.engine.session_interface import LiveSettings, SessionSettings
from gym_gui.core.config import OperatorConfig
from gym_gui.core.errors import MosaicError, UsageError
from gym_gui.core.experiment.execution import EpisodePlan
from gym_gui.core.experiment.experiment_data import experiment_from_data
from gym_gui.core.trusted.subjects import Subject
from gym_gui.host.host_client import HostSession
from gym_gui.host.pb.session_pb2_grpc import SessionStub
from gym_gui.host.request_messages import episode_message, launch_message
from gym_gui.host.service_names import greeting, pb
from gym_gui.host.session_process import HostLostError
from gym_gui.services.rpc.address import UnixAddress
from gym_gui.services.rpc.calling import Connection, Requests
from gym_gui.services.store import Store
from tests.support.little_workers import RANDOM, little_worker
from tests.support.processes import Offspring, alive
from tests.support.runs import GATED, Gate, operator, slot
from tests.support.session_log import SessionLog
from tests.support.waiting import in_time


def resolved(**more: Any) -> ResolvedOperator:
    return resolve_operator(experiment_from_data({"operators": [operator("op", **more)]}).operators[0])


@asynccontextmanager
async def session(
    played: ResolvedOperator | None = None, concurrency: int = 1, **options: Any
) -> AsyncIterator[tuple[HostSession, SessionLog]]:
    notes = SessionLog()
    host = HostSession(played or resolved(), SessionSettings(concurrency), notes, **options)
    try:
        await host.start()
        yield host, notes
    finally:
        await host.close()


def plans(*indices: int) -> list[EpisodePlan]:
    return [EpisodePlan(i, 100 + i, 0) for i in indices]


async def test_it_plays_what_it_is_given_and_then_more(offspring: Offspring):
    notes = SessionLog()
    folder = Path("/tmp") / f"m{os.getpid()}"
    host = HostSession(resolved(), SessionSettings(3), notes, store=Store(runtime=folder))
    ready = await host.start()
    try:
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert list(folder.iterdir()) == [], "its socket is gone once both are connected"
    finally:
        folder.rmdir()
    check_what_everybody_sees(host, offspring)
    assert ready.pid == host.pid and ready.concurrency == 3
    assert ready.players["agent_0"]["worker_id"] == "operators_worker"
    assert "mosaic" in ready.versions
    host.play(plans(0, 1, 2, 3))
    await in_time(lambda: len(notes.episodes) == 4, "four episodes")
    host.play(plans(7))
    await in_time(lambda: 7 in notes.episodes, "another")
    assert sorted(notes.started) == [0, 1, 2, 3, 7]
    assert {i: e["seed"] for i, e in notes.episodes.items()} == {i: 100 + i for i in (0, 1, 2, 3, 7)}
    assert notes.steps == sum(e["length"] for e in notes.episodes.values())
    await host.close()
    assert offspring.pids() == [] and notes.ends == [], "it was asked to end"


def check_what_everybody_sees(host: HostSession, offspring: Offspring) -> None:
    """``ps`` names the operator, no argument is secret, and nothing is open to the network."""
    line = psutil.Process(host.pid).cmdline()
    assert line[line.index("--operator") + 1] == "op" and psutil.Process(host.pid).name() == "op"
    assert not {"--token", "--secret"} & set(line)
    addresses = {c.laddr for c in psutil.Process(host.pid).net_connections("unix") if c.laddr}
    assert [a.endswith("/h") for a in addresses] == [True]  # pyright: ignore[reportAttributeAccessIssue]
    assert not [c for p in offspring.pids() for c in psutil.Process(p).net_connections("inet")]


async def test_what_an_environment_raises_is_logged_with_the_line_of_its_author():
    mean = resolved(task="tests.support.arenas:Corridor", env_kwargs={"fault": "step", "at": 2, "seed": 100})
    async with session(mean) as (host, notes):
        host.play(plans(0, 1))
        await in_time(lambda: len(notes.episodes) == 2, "both episodes")
        await in_time(lambda: any("Traceback" in text for text in notes.logs), "the traceback")
    error = notes.episodes[0]["error"]
    assert "RuntimeError in step(): the floor gave way (arenas.py, line " in error and ", in step)" in error
    (told,) = [text for text in notes.logs if "Traceback" in text]
    assert "arenas.py" in told and "the floor gave way" in told


# -- who may speak to it --------------------------------------------------------------------


@asynccontextmanager
async def bare_host() -> AsyncIterator[tuple[asyncio.subprocess.Process, str]]:
    """A host with the token ``right`` that no client speaks to yet."""
    import sys
    import tempfile

    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        path = Path(folder, "h")
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "gym_gui.host", "--parent", str(os.getpid())),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        assert process.stdin is not None
        orders = {"socket": str(path), "token": "right", "operator": "op", "environment": dict(os.environ)}
        orders["keys"] = None
        process.stdin.write(json.dumps(orders).encode() + b"\n")
        try:
            assert process.stdout is not None
            assert await process.stdout.readline() == b"listening\n"
            yield process, str(path)
        finally:
            if process.returncode is None:
                process.kill()
            await process.communicate()


@asynccontextmanager
async def spoken_to(address: str, token: str = "right") -> AsyncIterator[tuple[Connection, Any]]:
    connection = Connection(UnixAddress(Path(address)), token, "host", HostLostError)
    try:
        yield connection, SessionStub(connection.channel)
    finally:
        await connection.close()


async def launched(connection: Connection, stub: Any) -> asyncio.Task[list[pb.Event]]:
    """Have a session ready to play; returns the task that follows its events."""
    assert await connection.ask(stub.Greet, greeting()) == greeting()

    async def follow() -> list[pb.Event]:
        return [event async for event in connection.stream(stub.Follow, Requests())]

    task = asyncio.ensure_future(follow())
    await connection.ask(stub.Launch, launch_message(resolved(), SessionSettings(1)))
    return task


async def test_one_client_with_the_token_and_no_second():
    async with bare_host() as (process, address):
        for token in ("wrong", "", "right "):
            async with spoken_to(address, token) as (connection, stub):
                for method in (stub.Greet, stub.Launch, stub.Step):
                    with pytest.raises(UsageError, match="the token is wrong"):
                        await connection.ask(method, pb.Greeting())
                with pytest.raises(UsageError, match="the token is wrong"):
                    await anext(connection.stream(stub.Follow, Requests(pb.Seen(looks=1))))
        assert process.returncode is None
        async with spoken_to(address) as (connection, stub):
            following = await launched(connection, stub)
            async with spoken_to(address) as (other, others):
                with pytest.raises(MosaicError, match="this host has a client"):
                    await anext(other.stream(others.Follow, Requests()))
            with pytest.raises(UsageError, match="a session is launched once"):
                await connection.ask(stub.Launch, pb.LaunchRequest())
            await connection.ask(stub.Stop, pb.StopRequest())
            await following
        async with asyncio.timeout(20):
            assert await process.wait() == 0


async def test_both_ends_are_of_one_version():
    async with bare_host() as (process, address), spoken_to(address) as (connection, stub):
        for theirs in (pb.Greeting(protocol=1, version="0.1"), pb.Greeting(), pb.Greeting(protocol=99)):
            with pytest.raises(UsageError, match=r"is MOSAIC .*, its session process .*restart it"):
                await connection.ask(stub.Greet, theirs)
        assert process.returncode is None


async def test_a_command_before_the_launch_is_refused():
    async with bare_host() as (process, address), spoken_to(address) as (connection, stub):
        for method, request in ((stub.Pause, pb.PauseRequest()), (stub.Play, pb.Episodes())):
            with pytest.raises(UsageError, match="has not been launched"):
                await connection.ask(method, request)
        assert process.returncode is None


async def test_what_was_asked_before_is_told_before_it_is_settled():
    async with bare_host() as (_, address), spoken_to(address) as (connection, stub):
        following = await launched(connection, stub)
        episodes = [episode_message(plan) for plan in plans(0, 1)]
        await connection.ask(stub.Pause, pb.PauseRequest())
        await connection.ask(stub.Play, pb.Episodes(episodes=episodes))
        await connection.ask(stub.Abort, pb.AbortRequest())
        await connection.ask(stub.Settle, pb.SettleRequest(id=5))
        await connection.ask(stub.Stop, pb.StopRequest())
        told = [event for event in await following if not event.HasField("news") or event.news.finished]
    assert told[-1].settled.id == 5


async def test_it_ends_when_its_client_hangs_up():
    async with bare_host() as (process, address):
        async with spoken_to(address) as (connection, stub):
            following = await launched(connection, stub)
        with pytest.raises((MosaicError, asyncio.CancelledError)):
            await following
        async with asyncio.timeout(20):
            assert await process.wait() == 0


async def test_a_launch_that_fails_is_its_end_although_nobody_follows_it():
    played = resolved()
    played = replace(played, config=replace(played.config, env_kwargs={"no_such": "setting"}))
    wrong = launch_message(played, SessionSettings(1))
    async with bare_host() as (process, address), spoken_to(address) as (connection, stub):
        with pytest.raises(MosaicError, match="could not be made"):
            await connection.ask(stub.Launch, wrong)
        async with asyncio.timeout(20):
            assert await process.wait() == 0


# -- however it ends ------------------------------------------------------------------------


async def test_killed(offspring: Offspring):
    async with session() as (host, notes):
        host.play(plans(0))
        await in_time(lambda: notes.episodes, "an episode")
        os.kill(host.pid, signal.SIGKILL)
        await in_time(lambda: notes.ends, "its end")
        assert notes.ends == ["was killed (signal 9, SIGKILL)"]
        assert offspring.pids() == [], "its workers are gone by then"


async def test_asked_to_end_by_somebody_else(offspring: Offspring):
    async with session() as (host, notes):
        os.kill(host.pid, signal.SIGTERM)
        await in_time(lambda: notes.ends, "its end")
        assert notes.ends == ["ended with exit status 0"]
        assert offspring.pids() == []
        await host.close()
        await host.close()


async def test_stopped_and_given_up_after_some_patience(offspring: Offspring):
    async with session(patience_s=5.0) as (host, notes):
        os.kill(host.pid, signal.SIGSTOP)
        await in_time(lambda: notes.ends, "its end")
        (words,) = notes.ends
        assert words.startswith("was ended: did not respond for ") and words.endswith(" s")
        assert not alive(host.pid)


async def test_what_had_begun_is_known_although_it_died_at_once(tmp_path: Path):
    gate = Gate(tmp_path / "gate")
    played = resolved(task=GATED, env_kwargs=gate.kwargs(at=102, deed="exit"))
    async with session(played, concurrency=4) as (host, notes):
        host.play(plans(*range(6)))
        await in_time(lambda: notes.ends, "its end")
        assert notes.ends == ["ended with exit status 7"]
        assert set(notes.started) >= {0, 1, 2, 3}


async def test_closed_while_its_environment_blocks(tmp_path: Path, offspring: Offspring):
    gate = Gate(tmp_path / "gate")
    played = resolved(task=GATED, env_kwargs=gate.kwargs(at=100))
    async with session(played) as (host, notes):
        host.play(plans(0))
        await in_time(lambda: gate.marks() and notes.started, "the gate")
        assert notes.started == [0], "that it has begun is known although it says nothing"
        gate.open()
        await host.close()
        assert offspring.pids() == []
        assert notes.ends == []


async def test_nobody_is_left_deaf_when_what_it_said_cannot_be_written(
    offspring: Offspring, caplog: pytest.LogCaptureFixture
):
    notes = SessionLog()

    def full(event: SessionEvent) -> None:
        if isinstance(event, EpisodeFinished):
            raise OSError("no space left")
        notes(event)

    host = HostSession(resolved(), SessionSettings(1), full)
    await host.start()
    host.play(plans(0))
    await in_time(lambda: notes.ends, "its end")
    assert notes.ends == ["was ended: its message could not be handled: no space left"]
    assert offspring.pids() == [] and "no space left" in caplog.text
    await host.close()


async def test_a_close_that_is_cancelled_still_ends_it(offspring: Offspring):
    # One that is watched is given the least time to end by itself.
    host = HostSession(resolved(), SessionSettings(1, live=LiveSettings()), SessionLog())
    await host.start()
    os.kill(host.pid, signal.SIGSTOP)  # it does not end when it is asked to
    task, again = asyncio.ensure_future(host.close()), asyncio.ensure_future(host.close())
    for _ in range(3):
        await asyncio.sleep(0.05)
        task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await again
    assert offspring.pids() == []


async def test_a_start_that_somebody_else_closes_fails_at_once(offspring: Offspring):
    for moment in (0, 1, 90):
        host = HostSession(resolved(), SessionSettings(1), SessionLog())
        task = asyncio.ensure_future(host.start())
        for _ in range(moment):
            await asyncio.sleep(0.005)
        was_ready = task.done()
        await host.close()
        if was_ready:  # nothing of the start was left to fail
            continue
        async with asyncio.timeout(20):
            with pytest.raises(MosaicError, match="session process of op"):
                await task
        assert offspring.pids() == []


async def test_closed_twice_and_before_the_start(offspring: Offspring):
    log = SessionLog()
    never = HostSession(resolved(), SessionSettings(1), log)
    await asyncio.gather(never.close(), never.close())
    assert offspring.pids() == [] and not log.ends


# -- it does not come up --------------------------------------------------------------------


async def test_a_slot_that_a_worker_refuses_is_for_the_person_to_mend(tmp_path: Path, offspring: Offspring):
    code = RANDOM + "    def load(self, slot):\n        raise ValueError('no such policy')\n"
    little_worker(tmp_path / "data/workers", code, "choosy_worker")
    from gym_gui.workers.registry import WorkerTypeRegistry

    with WorkerTypeRegistry.isolated():
        played = resolved(workers=slot("baseline", worker_id="choosy_worker"))
        with pytest.raises(UsageError, match="cannot play agent_0: ValueError: no such policy"):
            async with session(played):
                pass
    assert offspring.pids() == []


async def test_a_start_that_hangs_can_be_cancelled_at_once(offspring: Offspring):
    host = HostSession(resolved(), SessionSettings(1), SessionLog())
    task = asyncio.ensure_future(host.start())
    await in_time(lambda: host.pid, "a process")
    os.kill(host.pid, signal.SIGSTOP)
    task.cancel()
    async with asyncio.timeout(5):
        await asyncio.gather(task, return_exceptions=True)
    assert offspring.pids() == []


async def test_it_dies_while_it_starts(offspring: Offspring):
    host = HostSession(resolved(), SessionSettings(1), SessionLog())
    task = asyncio.ensure_future(host.start())
    await in_time(lambda: host.pid, "a process")
    os.kill(host.pid, signal.SIGKILL)
    with pytest.raises(MosaicError, match=r"the session process of op (did not start|was killed)"):
        await task
    await host.close()
    assert offspring.pids() == []


async def test_keys_reach_the_worker_and_no_environment(
    tmp_path: Path, offspring: Offspring, monkeypatch: pytest.MonkeyPatch
):
    key = "sk-planted-by-a-test"
    monkeypatch.setenv("HARMLESS_NAME", key)
    code = (
        RANDOM + "    def load(self, slot):\n        return 'key ends in ' + slot.secrets['api_key'][-4:]\n"
    )
    little_worker(tmp_path / "data/workers", code, "paid_worker")
    from gym_gui.workers.registry import WorkerTypeRegistry

    with WorkerTypeRegistry.isolated():
        played = resolved(workers=slot("baseline", worker_id="paid_worker", api_key="env:HARMLESS_NAME"))
        notes = SessionLog()
        host = HostSession(played, SessionSettings(1), notes)
        try:
            ready = await host.start()
            assert ready.players["agent_0"]["policy"] == "key ends in test"
            pids = offspring.pids()
            assert len(pids) == 2, "the host and its worker"
            for pid in pids:
                for place in ("cmdline", "environ"):
                    assert key.encode() not in Path(f"/proc/{pid}/{place}").read_bytes()
        finally:
            await host.close()
    assert not [line for line in notes.logs if key in line]


async def test_what_an_environment_needs_is_found_out_beside_the_loop(monkeypatch: pytest.MonkeyPatch):
    """The first time, this may import a package in a process: the event loop is not held up."""
    threads: list[threading.Thread] = []

    def watched(config: OperatorConfig) -> list[Subject]:
        threads.append(threading.current_thread())
        return checked_permissions(config)

    monkeypatch.setattr("gym_gui.host.host_client.checked_permissions", watched)
    async with session():
        assert threads and threading.main_thread() not in threads
