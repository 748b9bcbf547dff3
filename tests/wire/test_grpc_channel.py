"""A worker on another machine: the same messages over gRPC, a token, TLS, and broken connections."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import psutil
import pytest

from gym_gui.core.errors import UsageError, WorkerLaunchError
from gym_gui.core.spaces import SpaceCodec
from gym_gui.core.types import Answer, Decision
from gym_gui.workers.launch import Launch
from gym_gui.workers.manifest import read_manifest
from gym_gui.workers.remote import RemoteAddress, RemoteWorker, remote_address
from gym_gui.workers.supervisor import SessionEvents, SlotRequest, Supervisor
from tests.support.staff import Ear
from tests.support.waiting import in_time

ROOT = Path(__file__).resolve().parents[2]
TOKEN = "0123456789abcdef-test"
SEES, DOES = gym.spaces.Box(-1, 1, (2,), np.float32), gym.spaces.Discrete(3)


@dataclass
class Elsewhere:
    """A worker that was started by hand."""

    process: subprocess.Popen[str]
    address: str


def start(*arguments: str, token: str | None = TOKEN) -> Elsewhere:
    path = os.pathsep.join(str(ROOT / "3rd_party" / name) for name in ("mosaic_worker_sdk", "test_worker"))
    env = {**os.environ, "PYTHONPATH": path}
    if token is not None:
        env["MOSAIC_WORKER_TOKEN"] = token
    command = [sys.executable, "-m", "mosaic_worker.remote", "test_worker"]
    command += ["--entry", "test_worker.main:FaultInjector", "--listen", "localhost:0", *arguments]
    process = subprocess.Popen(command, env=env, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    line = process.stderr.readline()
    assert "listens on port" in line, line + process.communicate()[1]
    port = line.partition("port ")[2].split(",")[0].strip()
    return Elsewhere(process, f"localhost:{port}")


@pytest.fixture
def elsewhere() -> Iterator[Elsewhere]:
    worker = start()
    yield worker
    worker.process.kill()
    worker.process.communicate()


@asynccontextmanager
async def seated(
    address: str, *, token: str = TOKEN, **settings: Any
) -> AsyncIterator[tuple[Any, asyncio.Queue[Answer], Supervisor, list[str]]]:
    """A slot that the remote worker fills."""
    answers: asyncio.Queue[Answer] = asyncio.Queue()
    logs: list[str] = []
    events = SessionEvents(lambda *entry: logs.append(entry[2]), logs.append, lambda *_: None)
    supervisor = Supervisor("op", events)
    request = SlotRequest(
        "agent_0",
        "N-v0",
        SEES,
        DOES,
        {"address": address, "token": "env:T", **settings},
        secrets={"token": token},
    )
    definition = read_manifest(ROOT / "3rd_party/test_worker/worker.toml")
    try:
        started = await supervisor.start_worker(
            definition, [request], lambda batch: [*map(answers.put_nowait, batch)]
        )
        yield started[0][0], answers, supervisor, logs
    finally:
        await supervisor.close()


def decision(number: int, episode: int) -> Decision:
    seen = np.zeros(2, np.float32)
    return Decision(number, episode, 0, "agent_0", "agent_0", 5, seen, SpaceCodec(SEES).encode(seen))


async def answer(slot: Any, answers: asyncio.Queue[Answer], number: int, episode: int) -> Answer:
    slot.begin(episode, 5)
    slot.ask([decision(number, episode)])
    return await asyncio.wait_for(answers.get(), 30)


async def test_remote_worker_plays_one_host_after_another(elsewhere: Elsewhere):
    played = list[Any]()
    for _ in range(2):
        async with seated(elsewhere.address) as (slot, answers, supervisor, _logs):
            first = await answer(slot, answers, 1, 0)
            assert (first.invalid, first.failure) == ("", "")
            played.append(first.action)
            assert isinstance(supervisor.processes()[0], RemoteWorker)
            assert psutil.Process(supervisor.processes()[0].pid).ppid() == elsewhere.process.pid
    assert played[0] == played[1]
    assert elsewhere.process.poll() is None, (
        "stopping a session does not end a process that another one started"
    )


async def test_hosts_at_once_have_a_process_each(elsewhere: Elsewhere):
    async with seated(elsewhere.address) as (slot, answers, one, _logs):
        async with seated(elsewhere.address, fault="exit", status=5) as (other, lost, two, _):
            pids = [supervisor.processes()[0].pid for supervisor in (one, two)]
            assert len({*pids, elsewhere.process.pid}) == 3
            assert "failed: ended with exit status 5" in (await answer(other, lost, 1, 0)).failure
        assert (await answer(slot, answers, 1, 0)).failure == ""
    await in_time(lambda: not any(map(psutil.pid_exists, pids)), "their processes are gone")


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ({"fault": "signal", "signal": "SIGSEGV"}, "killed by signal 11"),
        ({"fault": "garbage"}, "it announced a message of"),
        ({"fault": "bad_message"}, "it sent bytes that are no message"),
        ({"fault": "half_message", "then": "exit"}, "in the middle of a message"),
    ],
)
async def test_faults_elsewhere_are_named_as_here(elsewhere: Elsewhere, fault: dict[str, str], words: str):
    async with seated(elsewhere.address, **fault) as (slot, answers, _, _logs):
        assert words in (await answer(slot, answers, 1, 0)).failure


async def test_wrong_token_is_refused(elsewhere: Elsewhere):
    """In words that do not depend on whether the refusal or our first message is under way sooner."""

    async def refused() -> None:
        with pytest.raises(WorkerLaunchError, match="refused our token"):
            async with seated(elsewhere.address, token="0123456789abcdef-else"):
                pass

    await asyncio.gather(*(refused() for _ in range(50)))


async def test_lost_connection_fails_the_episodes_that_had_begun_and_no_other(elsewhere: Elsewhere):
    async with seated(elsewhere.address, fault="hang", at=1) as (slot, answers, _, logs):
        assert (await answer(slot, answers, 1, 0)).failure == ""
        slot.ask([decision(2, 0)])
        os.kill(elsewhere.process.pid, signal.SIGKILL)
        lost = await asyncio.wait_for(answers.get(), 30)
        assert "was lost: " in lost.failure and elsewhere.address in lost.failure
        assert any("was lost" in line for line in logs)
        # After a restart, the worker answers all new questions.
        elsewhere.process.wait()
        again = start("--listen", elsewhere.address)
        try:
            slot.begin(1, 5)
            slot.ask([decision(3, 1)])
            assert (await asyncio.wait_for(answers.get(), 60)).failure == ""
        finally:
            again.process.kill()
            again.process.communicate()


async def test_worker_that_raises_in_one_connection_serves_the_next(elsewhere: Elsewhere):
    async with seated(elsewhere.address, fault="raise") as (slot, answers, _, _logs):
        assert "told to raise" in (await answer(slot, answers, 1, 0)).failure
    async with seated(elsewhere.address) as (slot, answers, _, _logs):
        assert (await answer(slot, answers, 1, 0)).failure == ""


async def test_nothing_there_is_one_sentence():
    with pytest.raises(WorkerLaunchError, match="nothing answers at localhost:1 within"):
        definition = read_manifest(ROOT / "3rd_party/test_worker/worker.toml")
        where = RemoteAddress("localhost:1", TOKEN)
        await RemoteWorker(Launch(definition, start_timeout_s=1.0), Ear(), where).start()


async def test_tls_with_the_workers_certificate(tmp_path: Path):
    cert, key = (Path(__file__).parent / name for name in ("localhost.pem", "localhost.key"))
    secret = tmp_path / "token"
    secret.write_text(TOKEN + "\n")
    worker = start("--tls-cert", str(cert), "--tls-key", str(key), "--token-file", str(secret), token=None)
    try:
        async with seated(worker.address, tls_root=str(cert)) as (slot, answers, _, _logs):
            assert (await answer(slot, answers, 1, 0)).failure == ""
        worker.process.terminate()
        assert await asyncio.to_thread(worker.process.wait, 20) == 0
    finally:
        worker.process.kill()
        worker.process.communicate()


@pytest.mark.parametrize(
    ("arguments", "token", "words"),
    [
        ((), None, "the token has 0 characters"),
        ((), "short", "the token has 5 characters"),
        (("--token-file", "/nowhere/token"), None, "No such file"),
        (("--tls-cert", "x"), TOKEN, "must be given together"),
        (("--listen", "nowhere.invalid:1"), TOKEN, "cannot listen"),
    ],
)
def test_wrong_call_is_one_line_and_status_2(arguments: tuple[str, ...], token: str | None, words: str):
    with pytest.raises(AssertionError, match=words):
        start(*arguments, token=token)


@pytest.mark.parametrize(
    ("settings", "secrets", "words"),
    [
        ({"address": "box"}, {"token": "t"}, "no host:port"),
        ({"address": "box:99999"}, {"token": "t"}, "no host:port"),
        ({"address": "box:7311"}, {}, "needs a token"),
    ],
)
def test_wrong_settings_are_named(settings: dict[str, str], secrets: dict[str, str], words: str):
    with pytest.raises(UsageError, match=words):
        remote_address(settings, secrets)
    assert remote_address({}, {}) is None


def test_grpc_of_workers_is_not_imported_otherwise():
    code = "import sys, gym_gui.workers.supervisor, gym_gui.wire; print('grpc' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "False"
