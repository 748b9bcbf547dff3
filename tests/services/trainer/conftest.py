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
from gym_gui.services.trainer.client import TrainerClient
from gym_gui.services.trainer.place import find
from gym_gui.services.trainer.process import TrainingProcess
from gym_gui.services.trainer.records import RunRecord
from gym_gui.services.trainer.starting import stop_daemon
from gym_gui.services.worker_orchestrator import UnifiedRunConfig
from tests.support.training import search_trainer
from tests.support.waiting import LONG_S

ENDLESS = 10**9


class Daemon:
    """The daemon of the test's data folder, and the test's connection to it."""

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
        os.kill(pid, signal.SIGKILL)
        while find(self.store) is not None:
            await asyncio.sleep(0.01)

    async def close(self) -> None:
        """End it and every training of it."""
        for client in self.clients:
            await client.close()
        await asyncio.to_thread(stop_daemon, self.store)
        for folder in (self.store.data / "training").glob("*/"):
            with contextlib.suppress(MosaicError):
                process = TrainingProcess.attach(folder)
                if process.alive:
                    await asyncio.to_thread(process.kill)


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
async def client(daemon: Daemon) -> TrainerClient:
    """A connection to it."""
    return await daemon.client()


def config(**settings: Any) -> UnifiedRunConfig:
    """A small training."""
    return UnifiedRunConfig("CartPole-v1", worker_type="search_trainer", seed=3, settings=settings)


async def reached(
    client: TrainerClient, run_id: str, condition: Callable[[RunRecord], bool], what: str = ""
) -> RunRecord:
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


async def over(client: TrainerClient, run_id: str) -> RunRecord:
    """Watch until a run is over."""
    return await reached(client, run_id, lambda r: r.over, "did not end")


async def trains(client: TrainerClient, run_id: str, beyond: int = 0) -> RunRecord:
    """Watch until a run trains."""
    return await reached(client, run_id, lambda r: r.state == "running" and r.step > beyond, "does not train")


def worker_pid(folder: Path) -> int:
    """Process id of the training in a run folder."""
    return TrainingProcess.attach(folder).pid
