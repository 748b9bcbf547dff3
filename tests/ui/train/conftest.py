"""The Train page over a trainer of its own; neither it nor any training outlives the test."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from grpc.aio import init_grpc_aio, shutdown_grpc_aio  # pyright: ignore[reportAttributeAccessIssue]
from PyQt6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from gym_gui.core.errors import UsageError
from gym_gui.services.store import Store
from gym_gui.services.trainer.daemon_address import find
from gym_gui.services.trainer.starting import stop_daemon
from gym_gui.services.trainer.trainer_client import TrainerClient
from gym_gui.services.trainings.training_presets import TrainingPreset
from gym_gui.ui.environments.environment_picker import EnvironmentPicker
from gym_gui.ui.pages.train import TrainPage
from gym_gui.ui.train.new_run import NewRunForm
from gym_gui.ui.window.main_window import MainWindow
from gym_gui.workers.registry import WorkerTypeRegistry
from tests.support.caches import share_environments
from tests.support.named import named
from tests.support.training import search_trainer
from tests.ui.conftest import PATIENCE_MS

STEPS = {"total_steps": 1_000_000, "step_s": 0.002}
"""Settings of a training that goes on until it is stopped."""


@pytest.fixture(scope="module", autouse=True)
def _grpc() -> Iterator[None]:
    """gRPC's own thread is there before the check for leaks counts threads, and gone for other tests."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)  # it asks for one
    init_grpc_aio()
    yield
    shutdown_grpc_aio()
    asyncio.set_event_loop(None)
    loop.close()


@pytest.fixture
def trainer(store: Store, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """A data folder with the tests' own training worker; its trainer is ended afterwards."""
    folder = store.data / "workers" / "search_trainer"
    folder.mkdir(parents=True)
    search_trainer(folder)
    share_environments(store.cache)
    monkeypatch.setenv("MOSAIC_DATA_DIR", str(store.data))
    monkeypatch.setenv("MOSAIC_CACHE_DIR", str(store.cache))
    monkeypatch.setenv("MOSAIC_RUNS_DIR", str(store.runs))
    _own_trash(store.data.parent / "xdg", monkeypatch)
    with WorkerTypeRegistry.isolated():
        yield store
    if find(store) is not None:
        asyncio.run(_end_trainings(store))
        stop_daemon(store)


def _own_trash(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Here and in processes; Send2Trash keeps the place that it found when it was imported."""
    import send2trash.plat_other as other

    folder.mkdir()
    monkeypatch.setenv("XDG_DATA_HOME", str(folder))
    monkeypatch.setattr(other, "HOMETRASH_B", os.fsencode(folder / "Trash"))


async def _end_trainings(store: Store) -> None:
    client = await TrainerClient.connect(store, start=False)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(30.0):
            while going := [run for run in await client.runs() if not run.has_ended]:
                for run in going:
                    with contextlib.suppress(UsageError):  # it has ended meanwhile
                        await client.cancel(run.run_id)
                await asyncio.sleep(0.2)
    await client.close()


@pytest.fixture
def page(trainer: Store, window: MainWindow, qtbot: QtBot) -> TrainPage:
    """The page, connected, with the form for a short search in CartPole."""
    window.go("train")
    result = named(window, TrainPage, "page-train")
    qtbot.waitUntil(lambda: result.link.client is not None, timeout=PATIENCE_MS)
    qtbot.waitUntil(
        lambda: len(named(result, EnvironmentPicker, "train-environment").items) > 1, timeout=PATIENCE_MS
    )
    fill(result)
    qtbot.waitUntil(named(result, QPushButton, "train-start").isEnabled, timeout=PATIENCE_MS)
    return result


def fill(page: TrainPage, **settings: object) -> None:
    """The form for the tests' own worker."""
    named(page, NewRunForm, "train-new-run").fill(
        TrainingPreset("search_trainer", "search", "CartPole-v1", {**STEPS, **settings}), 1
    )


@pytest.fixture
def started(page: TrainPage, qtbot: QtBot) -> Callable[..., str]:
    """Starts a run by the form and waits until it trains; returns its id."""

    def start(**settings: object) -> str:
        known = {run.run_id for run in page.link.runs}
        fill(page, **settings)
        named(page, QPushButton, "train-start").click()
        qtbot.waitUntil(lambda: len(page.link.runs) > len(known), timeout=PATIENCE_MS)
        new = next(run.run_id for run in page.link.runs if run.run_id not in known)
        qtbot.waitUntil(lambda: page.link.run(new).step > 0, timeout=PATIENCE_MS)  # type: ignore[union-attr]
        return new

    return start


def kill_daemon(store: Store) -> int:
    """As the system would for want of memory; returns its process id."""
    address = find(store)
    assert address is not None
    os.kill(address.pid, signal.SIGKILL)
    return address.pid
