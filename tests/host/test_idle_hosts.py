"""A host process serves one session after the other, as long as they play the same environment."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from gym_gui.controllers.engine.resolved_operator import ResolvedOperator, resolve_operator
from gym_gui.controllers.engine.session_interface import Session, SessionSettings
from gym_gui.core.experiment.execution import EpisodePlan
from gym_gui.core.experiment.experiment_data import experiment_from_data
from gym_gui.core.trusted.trust import Origin, allow_all
from gym_gui.host.host_client import HostSession
from gym_gui.host.idle_hosts import IdleHosts
from gym_gui.host.prestart import CommandHosts
from gym_gui.host.session_process import HostProcess
from gym_gui.processes.child import start_with_retry
from tests.support.engine import arena
from tests.support.little_workers import RANDOM, little_worker
from tests.support.processes import Offspring, alive
from tests.support.runs import operator, slot
from tests.support.session_log import SessionLog
from tests.support.waiting import in_time


@pytest.fixture
def hosts(offspring: Offspring) -> Iterator[CommandHosts]:
    with CommandHosts(wanted=False) as hosts:
        yield hosts
    offspring.assert_none()


def resolved(name: str = "op", **more: Any) -> ResolvedOperator:
    return resolve_operator(experiment_from_data({"operators": [operator(name, **more)]}).operators[0])


def plans(*indices: int) -> list[EpisodePlan]:
    return [EpisodePlan(i, 100 + i, 0) for i in indices]


async def started(hosts: CommandHosts, played: ResolvedOperator, log: SessionLog) -> Session:
    session = hosts.open_session(played, SessionSettings(2), log)
    await session.start()
    return session


async def played(hosts: CommandHosts, operator: ResolvedOperator, *indices: int) -> tuple[int, SessionLog]:
    """Play some episodes in a session; returns its process and its log."""
    log = SessionLog()
    session = await started(hosts, operator, log)
    assert isinstance(session, HostSession)
    pid = session.pid
    session.play(plans(*indices))
    await in_time(lambda: len(log.episodes) == len(indices), "the episodes")
    await session.close()
    return pid, log


def test_the_next_operator_plays_in_the_same_process_with_workers_of_its_own(
    hosts: CommandHosts, offspring: Offspring
) -> None:
    another = slot("baseline", settings={"behavior": "cycle"})

    async def both() -> tuple[Any, ...]:
        first = await played(hosts, resolved("one"), *range(8))
        (host,) = offspring.find("gym_gui.host")
        assert psutil.Process(host).children() == [], "the workers ended with their session"
        return first, await played(hosts, resolved("two", workers=another), *range(3))

    (first, first_log), (second, second_log) = hosts.run(both())
    assert first == second
    assert sorted(first_log.started) == [*range(8)] and sorted(second_log.started) == [0, 1, 2]
    with CommandHosts(wanted=False) as others:
        alone, alone_log = others.run(played(others, resolved("two", workers=another), *range(3)))
    assert alone != first and alone_log.essence() == second_log.essence(), (
        "it plays as in a process of its own"
    )


def test_ps_names_the_operator_that_plays(hosts: CommandHosts) -> None:
    async def name_of_second() -> str:
        await played(hosts, resolved("one"), 0)
        session = await started(hosts, resolved("two"), SessionLog())
        assert isinstance(session, HostSession)
        try:
            return psutil.Process(session.pid).name()
        finally:
            await session.close()

    assert hosts.run(name_of_second()) == "two"


def test_another_environment_has_another_process_and_ends_the_one_that_waits(hosts: CommandHosts) -> None:
    async def both() -> list[int]:
        first, _ = await played(hosts, resolved("one"), 0)
        assert alive(first)
        other = resolved("two", env_kwargs={"length": 4}, task=arena("Corridor"))
        return [first, (await played(hosts, other, 0))[0]]

    first, second = hosts.run(both())
    assert first != second and not alive(first)


def test_one_that_was_killed_while_it_waited_is_not_used(hosts: CommandHosts) -> None:
    async def both() -> list[int]:
        first, _ = await played(hosts, resolved("one"), 0)
        os.kill(first, signal.SIGKILL)
        await in_time(lambda: not alive(first), "its end")
        # The session may notice while it starts; a run starts it again then.
        second, _ = await start_with_retry(lambda: played(hosts, resolved("two"), 0), [].append)
        return [first, second]

    first, second = hosts.run(both())
    assert first != second


def test_a_session_that_is_closed_in_mid_episode_or_in_haste_takes_its_process_with_it(
    hosts: CommandHosts,
) -> None:
    endless = resolved(task=arena("Corridor"), env_kwargs={"length": 10**7})

    async def closed(*, in_haste: bool) -> int:
        log = SessionLog()
        session = await started(hosts, endless, log)
        assert isinstance(session, HostSession)
        if not in_haste:
            session.play(plans(0))
            await in_time(lambda: log.started, "the episode")
        pid = session.pid
        await session.close(in_haste=in_haste)
        return pid

    for in_haste in (False, True):
        assert not alive(hosts.run(closed(in_haste=in_haste)))


def test_a_close_that_is_cancelled_ends_the_process_or_leaves_it(
    hosts: CommandHosts, offspring: Offspring
) -> None:
    async def cancelled() -> None:
        for moment in (1, 10, 100):
            session = await started(hosts, resolved("one"), SessionLog())
            closing = asyncio.ensure_future(session.close())
            for _ in range(moment):
                await asyncio.sleep(0.002)
            closing.cancel()
            await asyncio.gather(closing, return_exceptions=True)

    hosts.run(cancelled())
    assert len(offspring.find("gym_gui.host")) <= 1, "only what waits for a session"


@pytest.mark.parametrize("closed", [False, True])
def test_a_host_for_which_a_cancelled_session_waited_is_left_to_another_one_or_ends(closed: bool) -> None:
    async def kept_and_taken() -> tuple[bool, HostProcess | None]:
        idle_hosts, operator = IdleHosts(), resolved("one")
        session = HostSession(operator, SessionSettings(2), SessionLog())
        host = HostProcess(session, "session process of one", "one")
        settling, waiting = asyncio.Event(), asyncio.Event()

        async def settle() -> bool:
            settling.set()
            await waiting.wait()
            if closed:
                await idle_hosts.close()
            taking.cancel()
            return True

        giving = asyncio.ensure_future(idle_hosts.give(operator, host, settle))
        await settling.wait()
        taking = asyncio.ensure_future(idle_hosts.take(operator, host.environment))
        await asyncio.sleep(0)
        waiting.set()
        await asyncio.wait({giving, taking})
        return giving.result(), await idle_hosts.take(operator, host.environment)

    kept, taken = asyncio.run(kept_and_taken())
    assert kept is (taken is not None) is (not closed)


def test_a_session_that_is_closed_twice_leaves_the_next_one_alone(hosts: CommandHosts) -> None:
    async def twice() -> None:
        session = await started(hosts, resolved("one"), SessionLog())
        await session.close()
        log = SessionLog()
        after = await started(hosts, resolved("two"), log)
        await session.close()
        after.play(plans(0))
        await in_time(lambda: 0 in log.episodes, "the episode")
        assert log.ends == []
        await after.close()

    hosts.run(twice())


def test_a_process_that_has_held_a_key_serves_no_other_session(
    hosts: CommandHosts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HARMLESS_NAME", "sk-planted-by-a-test")
    little_worker(tmp_path / "data/workers", RANDOM, "paid_worker")
    from gym_gui.workers.registry import WorkerTypeRegistry

    with WorkerTypeRegistry.isolated():
        paid = slot("baseline", worker_id="paid_worker", api_key="env:HARMLESS_NAME")
        first, _ = hosts.run(played(hosts, resolved("one", workers=paid), 0))
    assert not alive(first)


def test_modules_of_one_folder_are_not_those_of_another(hosts: CommandHosts, tmp_path: Path) -> None:
    allow_all()
    pids, lengths = list[int](), list[int]()
    for length in (3, 5):
        folder = tmp_path / str(length)
        folder.mkdir()
        folder.joinpath("hall_of_a_test.py").write_text(_HALL % length)
        config = replace(resolved().config, task="hall_of_a_test:make", origin=Origin("e.json", str(folder)))
        pid, log = hosts.run(played(hosts, resolve_operator(config), 0))
        pids.append(pid)
        lengths.append(len(log.rows[0]))
    assert pids[0] != pids[1] and lengths == [3, 5]


_HALL = """
import gymnasium

def make(**_):
    return gymnasium.make("CartPole-v1", max_episode_steps=%d)
"""
