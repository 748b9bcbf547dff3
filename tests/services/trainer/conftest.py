"""A data folder with a small training worker in it, and a daemon for it that is gone afterwards."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from gym_gui.core.errors import MosaicError
from gym_gui.services.store import Store
from gym_gui.services.trainer.daemon import DaemonSettings, serve
from gym_gui.services.trainer.daemon_address import find
from gym_gui.services.trainer.starting import stop_daemon
from gym_gui.services.trainer.trainer_client import TrainerClient
from gym_gui.services.trainer.training_folder import RunFolder
from gym_gui.services.trainer.training_process import TrainingProcess
from gym_gui.services.trainer.training_records import TrainingRecord
from gym_gui.services.worker_orchestrator import UnifiedRunConfig
from tests.support.training import search_trainer
from tests.support.waiting import LONG_S, in_time

ENDLESS = 10**9


class Daemon:
    """The daemon, a process of its own, of the test's data folder, and the test's connection to it."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.clients: list[TrainerClient] = []

    async def client(self, **how: Any) -> TrainerClient:
        """Connect; starts the daemon where there is none."""
        self.clients.append(await TrainerClient.connect(self.store, **how))
        return self.clients[-1]

    @property
    def pid(self) -> int:
        """Of the daemon that serves now."""
        address = find(self.store)
        assert address is not None
        return address.pid

    async def kill(self) -> None:
        """``kill -9``, and wait until it is gone."""
        pid = self.pid
        assert pid != os.getpid(), "the daemon is served by this very process"
        os.kill(pid, signal.SIGKILL)
        while find(self.store) is not None:
            await asyncio.sleep(0.01)

    async def close(self) -> None:
        """End it and every training of it."""
        for client in self.clients:
            await client.close()
        await asyncio.to_thread(stop_daemon, self.store)
        await end_trainings(self.store)


async def end_trainings(store: Store) -> None:
    """End every training of a data folder that goes on."""
    for folder in (store.data / "training").glob("*/"):
        with contextlib.suppress(MosaicError):
            process = TrainingProcess.attach(folder)
            if process.alive:
                await asyncio.to_thread(process.kill)


@contextlib.asynccontextmanager
async def served_here(store: Store, settings: DaemonSettings | None = None) -> AsyncIterator[TrainerClient]:
    """What the daemon does, done by this process, whose event loop it shares, and a connection to it.

    It is spoken to through its socket all the same. That it is a process that outlives others is
    shown with :class:`Daemon`, whose start takes a second of the processor's time.
    """
    serving = asyncio.create_task(serve(store, settings or DaemonSettings()))
    try:
        await in_time(lambda: find(store) is not None or serving.done(), "it serves")
        client = await TrainerClient.connect(store, start=False)
        try:
            yield client
        finally:
            await client.close()
    finally:
        serving.cancel()
        await asyncio.wait({serving})
        await end_trainings(store)


@pytest.fixture
def store() -> Store:
    """Folders of the test's own, with a training worker in them."""
    store = Store()
    folder = store.data_dir("workers", "search_trainer")
    search_trainer(folder)
    return store


@pytest.fixture
async def daemon(store: Store) -> AsyncIterator[Daemon]:
    """A daemon that is started when a client connects, and ended afterwards."""
    daemon = Daemon(store)
    yield daemon
    await daemon.close()


@pytest.fixture
async def client(store: Store) -> AsyncIterator[TrainerClient]:
    """A connection to a trainer that this process serves."""
    async with served_here(store) as client:
        yield client


def config(**settings: Any) -> UnifiedRunConfig:
    """A small training."""
    return UnifiedRunConfig("CartPole-v1", worker_type="search_trainer", seed=3, settings=settings)


async def reached(
    client: TrainerClient, run_id: str, condition: Callable[[TrainingRecord], bool], what: str = ""
) -> TrainingRecord:
    """Watch until a run is as wanted.

    Raises:
        AssertionError: It has not become so, with all that was seen of it.
    """
    seen: list[str] = []
    try:
        async with asyncio.timeout(LONG_S):
            async for record in client.watch_runs():
                if record.run_id == run_id:
                    seen.append(f"{record.state} {record.step} {record.reason}")
                    if condition(record):
                        return record
    except TimeoutError:
        pass
    raise AssertionError(f"{what or 'did not happen'}: {seen}")


async def over(client: TrainerClient, run_id: str) -> TrainingRecord:
    """Watch until a run is over."""
    return await reached(client, run_id, lambda r: r.has_ended, "did not end")


async def trains(client: TrainerClient, run_id: str, beyond: int = 0) -> TrainingRecord:
    """Watch until a run trains."""
    return await reached(client, run_id, lambda r: r.state == "running" and r.step > beyond, "does not train")


def rows(folder: Path, name: str) -> list[dict[str, Any]]:
    """What a training has reported in one of its files."""
    return RunFolder(folder).follow(name).read()


def worker_pid(folder: Path) -> int:
    """Process id of the training in a run folder."""
    return TrainingProcess.attach(folder).pid
