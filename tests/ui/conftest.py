"""A real window without a screen, and a check that nothing is left behind.

``context`` is an :class:`AppContext` over folders of its own, with asyncio and Qt joined by
qasync; coroutines run while ``qtbot`` waits. ``window`` is a main window over it.
"""

from __future__ import annotations

import os

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import asyncio
import gc
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from PyQt6 import sip
from PyQt6.QtCore import QCoreApplication, QEvent, QThread, QTimer
from PyQt6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from gym_gui.controllers.setup.environment_info_cache import SHEETS_FOLDER
from gym_gui.services.bootstrap import bootstrap_default_services
from gym_gui.services.store import Store
from gym_gui.ui import theme
from gym_gui.ui.context import AppContext
from gym_gui.ui.event_loop import close_loop, open_loop, set_failure_handler
from gym_gui.ui.train.link import TrainerLink
from gym_gui.ui.widgets import InlineMessage
from tests.support.joint import joint_policy

if TYPE_CHECKING:
    from gym_gui.ui.window.main_window import MainWindow

__all__ = ["joint_policy"]

PATIENCE_MS = 120_000
"""How long a test waits for work in the background before it fails: more than it takes on a busy machine."""


def messages(widget: QWidget) -> list[str]:
    """Sentences with an icon that are seen in a widget, as a reader hears them: ``Warning: …``."""
    return [m.accessibleName() for m in widget.findChildren(InlineMessage) if m.isVisible()]


class PatientBot(QtBot):
    """Waits as long as everything here does, where pytest-qt gives up after five seconds."""

    def waitUntil(self, callback: Callable[[], bool | None], *, timeout: int = PATIENCE_MS) -> None:
        super().waitUntil(callback, timeout=timeout)

    def waitSignal(self, signal: object, *, timeout: int = PATIENCE_MS, **how: Any) -> Any:
        return super().waitSignal(signal, timeout=timeout, **how)  # type: ignore[arg-type]

    def waitExposed(self, widget: QWidget, *, timeout: int = PATIENCE_MS) -> Any:
        return super().waitExposed(widget, timeout=timeout)


@pytest.fixture
def qtbot(qapp: QApplication, request: pytest.FixtureRequest) -> QtBot:
    """pytest-qt's, with our patience."""
    return PatientBot(request)


@pytest.fixture(scope="session")
def qapp_args() -> list[str]:
    return ["mosaic-tests"]


@pytest.fixture(scope="session")
def qapp(qapp: QApplication) -> QApplication:
    """The application with the program's font, which has to come before the first text."""
    theme.use_fonts(qapp)
    return qapp


@pytest.fixture(autouse=True)
def nothing_left(request: pytest.FixtureRequest) -> Iterator[None]:
    """Threads, timers and windows that a test leaves behind fail it."""
    app = request.getfixturevalue("qapp")
    # What is there already is not looked at again: walking all objects takes a tenth of a second.
    gc.freeze()
    threads, windows = set(threading.enumerate()), _windows()
    yield
    deadline = time.monotonic() + 5.0
    while True:
        _settle(app)
        left = _describe(set(threading.enumerate()) - threads, _windows() - windows, _timers())
        if not left or time.monotonic() > deadline:
            break
        gc.collect()
        QThread.msleep(10)
    assert not left, f"left behind: {', '.join(left)}"


def _describe(threads: set[threading.Thread], windows: set[QWidget], timers: set[QTimer]) -> list[str]:
    return [
        *(f"thread {thread.name}" for thread in threads if thread.is_alive()),
        *(f"window {window!r} {window.objectName()}" for window in windows if not sip.isdeleted(window)),
        *(f"timer {timer!r} of {timer.parent()!r}" for timer in timers if not sip.isdeleted(timer)),
    ]


def _settle(app: QApplication) -> None:
    """Let deletions happen that were asked for."""
    for _ in range(2):
        app.processEvents()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def _windows() -> set[QWidget]:
    return {widget for widget in QApplication.topLevelWidgets() if not _tooltip(widget)}


def _tooltip(widget: QWidget) -> bool:
    return widget.metaObject().className() == "QTipLabel"  # type: ignore[union-attr]


def _timers() -> set[QTimer]:
    """Timers on that came since the objects before were frozen."""
    return {
        item
        for item in gc.get_objects()
        if type(item) is QTimer and not sip.isdeleted(item) and item.isActive()
    }


@pytest.fixture(autouse=True)
def no_trainer(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page for training starts no daemon, which would outlive the test, but in tests with a ``trainer``."""
    if "trainer" not in request.fixturenames:
        monkeypatch.setattr(TrainerLink, "open", lambda _link: None)


@pytest.fixture
def loop(qapp: QApplication) -> Iterator[asyncio.AbstractEventLoop]:
    """asyncio over Qt: coroutines run whenever Qt's events are processed."""
    result = open_loop(qapp)
    yield result
    close_loop(result)


@pytest.fixture(scope="session")
def env_infos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Descriptions of environments; each is asked once, in a process of its own."""
    return tmp_path_factory.mktemp("sheets")


@pytest.fixture
def store(tmp_path: Path, env_infos: Path) -> Store:
    """Folders of its own; sockets stay in the system's place, whose paths are short."""
    cache = tmp_path / "cache"
    cache.mkdir()
    (cache / SHEETS_FOLDER).symlink_to(env_infos, target_is_directory=True)
    return Store(data=tmp_path / "data", runs=tmp_path / "runs", cache=cache)


@pytest.fixture
def finish(loop: asyncio.AbstractEventLoop, qtbot: object) -> Callable[[object], object]:
    """``finish(coroutine)`` runs it to its end and returns its result."""

    def run(work: object) -> object:
        task = loop.create_task(work)  # type: ignore[arg-type]
        qtbot.waitUntil(task.done, timeout=PATIENCE_MS)  # type: ignore[attr-defined]
        return task.result()

    return run


@pytest.fixture
def context(
    loop: asyncio.AbstractEventLoop, store: Store, finish: Callable[[object], object]
) -> Iterator[AppContext]:
    """The shared part of a window, light theme, everything it started ended at the end."""
    result = AppContext(bootstrap_default_services(store=store), theme.Theme("light"))
    if theme.current() is not result.theme:
        result.theme.apply()
    set_failure_handler(loop, result.report_failure)
    yield result
    finish(result.close())
    result.deleteLater()


@pytest.fixture
def window(context: AppContext, qtbot: object, finish: Callable[[object], object]) -> Iterator[MainWindow]:
    """The main window at its smallest size, shown; pages are closed at the end."""
    from gym_gui.ui.window.main_window import MainWindow

    result = MainWindow(context)
    result.resize(1280, 800)
    result.show()
    qtbot.waitExposed(result)  # type: ignore[attr-defined]
    yield result
    finish(result.shut_down())
    result.close()
    result.deleteLater()
