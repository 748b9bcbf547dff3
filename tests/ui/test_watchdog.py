"""The watchdog names the slot that kept the window from reacting."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from PyQt6.QtCore import QEventLoop, QTimer
from PyQt6.QtWidgets import QApplication

from gym_gui.ui.watchdog import Watchdog


@pytest.fixture
def watchdog(qapp: QApplication) -> Iterator[Watchdog]:
    result = Watchdog(limit_s=0.1)
    result.start()
    yield result
    result.stop()


def _slow_slot() -> None:
    end = time.thread_time() + 1.0  # of work: what it waits for a core is not its fault
    while time.thread_time() < end:
        pass


def _spin(milliseconds: int) -> None:
    loop = QEventLoop()
    QTimer.singleShot(milliseconds, loop.quit)
    loop.exec()


def test_a_slow_slot_is_named(watchdog: Watchdog, caplog: pytest.LogCaptureFixture) -> None:
    QTimer.singleShot(0, _slow_slot)
    _spin(1500)
    slow = [record for record in caplog.records if record.name == "gym_gui.ui.watchdog"]
    assert slow
    assert "_slow_slot" in caplog.text


def test_a_quick_one_is_not(watchdog: Watchdog, caplog: pytest.LogCaptureFixture) -> None:
    QTimer.singleShot(0, list)
    _spin(50)
    assert "did not react" not in caplog.text
