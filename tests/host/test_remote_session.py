"""Sessions on another machine: a real sshd on loopback, with keys and folders of its own."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gym_gui.controllers.engine.resolved_operator import needs_of, unchecked_operator
from gym_gui.controllers.engine.session_interface import LiveSettings, SessionReady, SessionSettings
from gym_gui.core.config import OperatorConfig
from gym_gui.core.errors import MosaicError, UsageError
from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.core.trusted import trust
from gym_gui.core.trusted.trust import Origin
from gym_gui.host.host_client import HostSession
from gym_gui.host.remote_session import RemoteMachine
from gym_gui.services.submissions.hosts_file import inspect_host
from gym_gui.services.submissions.ssh.ssh_profile import SshProfile
from gym_gui.workers.registry import WorkerTypeRegistry
from tests.support.fake_model_server import FakeModelServer
from tests.support.little_workers import RANDOM, little_worker
from tests.support.processes import Offspring
from tests.support.remote import profile
from tests.support.session_log import SessionLog
from tests.support.sshd import Sshd, sshd
from tests.support.waiting import in_time
from tests.support.watching import plans

pytestmark = pytest.mark.full

LIVE = LiveSettings(30.0)
DOORKEY = "MiniGrid-DoorKey-5x5-v0"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Sshd]:
    with sshd(tmp_path / "sshd") as found:
        yield found


@pytest.fixture
def hosts(server: Sshd, tmp_path: Path) -> SshProfile:
    return profile(server, tmp_path, "one")


def config(task: str = "CartPole-v1", player: Any = None, **more: Any) -> OperatorConfig:
    who = player or WorkerAssignment("operators_worker", "baseline", {"behavior": "random"})
    return OperatorConfig("op", "Op", "", task, {"agent_0": who}, **more)


@asynccontextmanager
async def session(
    hosts: SshProfile | None, played: OperatorConfig | None = None, live: LiveSettings | None = LIVE
) -> AsyncIterator[tuple[HostSession, SessionLog, SessionReady]]:
    log, played = SessionLog(), played or config()
    away = None if hosts is None else RemoteMachine(hosts.hosts[0], played, hosts.ssh_config)
    settings = SessionSettings(1, played.max_steps, live=live)
    host = HostSession(unchecked_operator(played), settings, log, elsewhere=away)
    log.answer = host.answer
    try:
        yield host, log, await host.start()
    finally:
        await host.close()


async def refused(hosts: SshProfile, played: OperatorConfig | None = None) -> str:
    with pytest.raises(MosaicError) as error:
        async with session(hosts, played):
            pass
    return str(error.value)


async def test_an_episode_is_the_same_there_and_is_paused_and_stepped(hosts: SshProfile) -> None:
    hashes, pictures = list[str](), list[bytes]()
    for where in (None, hosts):
        async with session(where, config(DOORKEY, max_steps=60)) as (host, log, ready):
            assert ready.machine.get("host") == (None if where is None else "one")
            host.pause()
            host.play(plans(5))
            for k in range(4):
                await in_time(lambda k=k, log=log: len(log.frames) == k + 1, "a picture")
                host.step()
            pictures.append(b"".join(frame.tobytes() for _, frame in log.frames[:4]))
            host.resume()
            await in_time(lambda log=log: 0 in log.episodes, "it is over")
            hashes.append(log.episodes[0]["trajectory_sha256"])
    assert hashes[0] == hashes[1] and pictures[0] == pictures[1]


async def test_a_person_here_plays_there(hosts: SshProfile) -> None:
    you = config(
        "FrozenLake-v1", WorkerAssignment("human_worker", "human"), env_kwargs={"is_slippery": False}
    )
    async with session(hosts, you) as (host, log, _):
        host.play(plans(0))
        for _ in range(2):
            question = await in_time(lambda: log.questions and log.questions.pop(), "it is asked")
            host.answer(question.id, 2)  # pyright: ignore[reportAttributeAccessIssue]
        await in_time(lambda: log.last.step == 2, "it has moved twice")


async def test_a_connection_that_breaks_ends_everything_there(
    hosts: SshProfile, server: Sshd, offspring: Offspring
) -> None:
    async with session(hosts) as (host, log, _):
        host.pace(20.0)
        host.play(plans(1))
        await in_time(lambda: log.frames, "it plays")
        assert offspring.hosts("op") and offspring.workers("op")
        server.end()
        await in_time(lambda: log.ends, "it is noticed")
        assert log.ends == ["was lost: the connection to one broke"]
        await in_time(
            lambda: not offspring.hosts("op") and not offspring.workers("op"), "no process is left there"
        )


@pytest.mark.parametrize("what", ["session-host", "gym_gui.host"])
async def test_what_is_killed_there_takes_the_rest_with_it(
    hosts: SshProfile, offspring: Offspring, what: str
) -> None:
    async with session(hosts) as (host, log, _):
        host.pace(20.0)
        host.play(plans(1))
        await in_time(lambda: log.frames, "it plays")
        for pid in offspring.find(what):
            os.kill(pid, signal.SIGKILL)
        await in_time(lambda: log.ends, "it is noticed")
        if what == "gym_gui.host":
            assert log.ends == ["was killed (signal 9, SIGKILL)"]
        await in_time(
            lambda: not offspring.hosts("op") and not offspring.workers("op"), "no process is left there"
        )


async def test_code_and_policies_of_ones_own_go_along_by_hash(
    hosts: SshProfile, tmp_path: Path, offspring: Offspring
) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "my_pole.py").write_text(
        "import gymnasium\ndef make(**k):\n    return gymnasium.make('CartPole-v1', **k)\n"
    )
    own = config("my_pole:make", origin=Origin("mine.yaml", str(mine)))
    with pytest.raises(UsageError, match="not been allowed"):
        async with session(hosts, own):
            pass
    trust.allow(need.subject for need in needs_of(own))
    hashes = list[str]()
    for where in (None, hosts):
        async with session(where, own, None) as (host, log, _):
            host.play(plans(2))
            await in_time(lambda log=log: 0 in log.episodes, "it is over")
            hashes.append(log.episodes[0]["trajectory_sha256"])
    assert hashes[0] == hashes[1]
    assert not list((tmp_path / "there-cache").glob("sent/*")), "what was sent goes with the session"


async def test_keys_are_those_of_the_host(
    hosts: SshProfile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_KEY", "of-this-machine")
    with FakeModelServer() as models:
        asks = {"model_id": "any", "base_url": models.url, "api_key": "env:LAB_KEY"}
        played = config(DOORKEY, WorkerAssignment("llm_worker", "llm", asks))
        said = await refused(hosts, played)
        assert said.startswith("one: environment variable LAB_KEY, which setting 'api_key' names, is not set")
        keys = tmp_path / "keys"
        keys.write_text("LAB_KEY=of-the-host\n")
        command = replace(hosts.hosts[0].command, keys=str(keys))
        own = replace(hosts, hosts=(replace(hosts.hosts[0], command=command),))
        keys.chmod(0o644)
        assert "not its owner's alone" in await refused(own, played)
        keys.chmod(0o600)
        assert not models.listed, "no model is asked without a key"
        async with session(own, played, None) as (host, _, _):
            host.play(plans(0))
            await in_time(lambda: models.requests, "the model is asked")
    assert {request.key for request in (*models.listed, *models.requests)} == {"of-the-host"}


async def test_what_is_wrong_is_one_line(
    hosts: SshProfile, server: Sshd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    little_worker(tmp_path / "data/workers", RANDOM, "only_here_worker")
    with WorkerTypeRegistry.isolated():
        mine = config(player=WorkerAssignment("only_here_worker", "baseline"))
        assert (await refused(hosts, mine)).startswith("one: unknown worker 'only_here_worker'")
    program = tmp_path / "older"
    program.write_text("#!/bin/sh\necho mosaic 0.0.1\nexit 2\n")
    program.chmod(0o755)
    older = profile(server, tmp_path, "one", mosaic=str(program))
    assert (await refused(older)).startswith("one: has mosaic 0.0.1, but this machine has mosaic ")
    without = profile(server, tmp_path, "one", mosaic="/nowhere/mosaic")
    assert "/nowhere/mosaic" in await refused(without)
    server.end()
    assert (await refused(hosts)).startswith("one cannot be reached: ")


async def test_a_password_is_not_asked_for(hosts: SshProfile, tmp_path: Path) -> None:
    (tmp_path / "sshd" / "authorized").write_text("")
    assert "Permission denied" in await refused(hosts)


async def test_a_host_that_is_looked_at_says_what_it_has(hosts: SshProfile) -> None:
    found = await inspect_host(hosts.hosts[0], hosts.ssh_config, ["operators_worker", "no_such_worker"])
    assert "operators_worker" in found.installed and found.missing == ("no_such_worker",)
    assert found.sentence.startswith("Reached: MOSAIC ") and found.sentence.endswith(
        "but not no_such_worker."
    )
