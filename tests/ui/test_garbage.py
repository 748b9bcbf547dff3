"""Qt objects without references are deleted in the GUI's thread."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator

import pytest
from PyQt6 import sip
from PyQt6.QtCore import QObject
from pytestqt.qtbot import QtBot

from gym_gui.ui.app import THRESHOLDS, GarbageCollector


@pytest.fixture
def collector(qtbot: QtBot) -> Iterator[GarbageCollector]:
    """One of the test's own; Python's collector is as it was afterwards."""
    python_collects = gc.isenabled()
    gc.enable()
    result = GarbageCollector()
    yield result
    sip.delete(result)
    assert gc.isenabled()
    if not python_collects:
        gc.disable()


class Page(QObject):
    """What is only held by itself, and tells where it goes."""

    def __init__(self, ends: list[threading.Thread]) -> None:
        super().__init__()
        self.me, self.ends = self, ends

    def __del__(self) -> None:
        self.ends.append(threading.current_thread())


def test_a_thread_that_makes_objects_deletes_none_of_qts(collector: GarbageCollector, qtbot: QtBot) -> None:
    ends: list[threading.Thread] = []
    Page(ends)
    made: list[list[int]] = []
    # Far more objects than Python lets a thread make without looking for garbage.
    thread = threading.Thread(target=lambda: made.extend([] for _ in range(20 * THRESHOLDS[0])))
    thread.start()
    thread.join()
    assert not ends
    qtbot.waitUntil(lambda: bool(ends))
    assert ends == [threading.main_thread()]
