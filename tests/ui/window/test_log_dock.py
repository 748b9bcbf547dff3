"""The log speaks to people, from any thread, and forgets the oldest lines."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtGui import QGuiApplication
from PyQt6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from gym_gui.ui.context import AppContext
from gym_gui.ui.widgets.tables import RowsTable
from gym_gui.ui.window.log_dock import LINES, LogDock, LogFeed, LogLine, LogModel
from tests.support.named import named


@pytest.fixture
def dock(context: AppContext, qtbot: QtBot) -> Iterator[LogDock]:
    feed = LogFeed()
    feed.open()
    result = LogDock(context, feed)
    qtbot.addWidget(result)
    result.resize(900, 200)
    result.show()
    yield result
    feed.close()


def texts(dock: LogDock) -> list[str]:
    return [str(dock.model.data(dock.model.index(row, 2))) for row in range(dock.model.rowCount())]


def test_ours_is_shown_in_words_and_noise_is_not(dock: LogDock) -> None:
    logging.getLogger("gym_gui.host.host_client").warning("the session of %s ended", "PPO")
    logging.getLogger("gym_gui.ui.x").info("ready")
    logging.getLogger("gym_gui.ui.x").debug("hidden")
    logging.getLogger("matplotlib").info("hidden too")
    logging.getLogger("some.library").warning("odd")
    assert texts(dock) == ["Warning: The session of PPO ended", "Ready", "Warning: Odd"]
    assert [line.source for line in dock.model.rows] == ["Session", "Window", "Library"]


def test_a_thread_may_log(dock: LogDock, qtbot: QtBot) -> None:
    thread = threading.Thread(target=logging.getLogger("gym_gui.workers").error, args=("gone",))
    thread.start()
    thread.join()
    qtbot.waitUntil(lambda: texts(dock) == ["Problem: Gone"])


def test_a_traceback_is_copied_and_not_shown(dock: LogDock) -> None:
    try:
        raise ZeroDivisionError("by zero")
    except ZeroDivisionError:
        logging.getLogger("gym_gui.ui").exception("it failed")
    assert texts(dock) == ["Problem: It failed"]
    dock.copy()
    clipboard = QGuiApplication.clipboard()
    assert clipboard is not None
    assert "ZeroDivisionError: by zero" in clipboard.text()


def test_warnings_alone(dock: LogDock, qtbot: QtBot) -> None:
    logging.getLogger("gym_gui").info("fine")
    logging.getLogger("gym_gui").warning("not fine")
    qtbot.mouseClick(dock.findChild(QPushButton, "log-level-warnings"), Qt.MouseButton.LeftButton)
    assert texts(dock) == ["Warning: Not fine"]
    qtbot.mouseClick(dock.findChild(QPushButton, "log-level-all"), Qt.MouseButton.LeftButton)
    assert texts(dock) == ["Fine", "Warning: Not fine"]


def newest_is_seen(dock: LogDock) -> bool:
    table = named(dock, RowsTable, "log-lines")
    last = table.visualRect(dock.model.index(dock.model.rowCount() - 1, 0))
    viewport = table.viewport()
    return viewport is not None and viewport.rect().contains(last.adjusted(0, 0, -last.width() + 1, -1))


def test_the_newest_line_stays_in_sight_where_the_log_gets_smaller(dock: LogDock, qtbot: QtBot) -> None:
    log = logging.getLogger("gym_gui.ui.x")
    for number in range(40):
        log.info("line %d", number)
    qtbot.waitUntil(lambda: dock.model.rowCount() == 40 and newest_is_seen(dock))
    dock.resize(900, 140)
    qtbot.waitUntil(lambda: newest_is_seen(dock))
    log.info("one more")
    qtbot.waitUntil(lambda: dock.model.rowCount() == 41 and newest_is_seen(dock))


def test_who_reads_earlier_lines_is_left_there(dock: LogDock, qtbot: QtBot) -> None:
    log = logging.getLogger("gym_gui.ui.x")
    for number in range(40):
        log.info("line %d", number)
    qtbot.waitUntil(lambda: newest_is_seen(dock))
    table = named(dock, RowsTable, "log-lines")
    table.scrollToTop()
    log.info("one more")
    qtbot.waitUntil(lambda: dock.model.rowCount() == 41)
    bar = table.verticalScrollBar()
    assert bar is not None and bar.value() == 0


def test_the_oldest_lines_go() -> None:
    model = LogModel()
    for number in range(LINES + 300):
        model.add(LogLine(0.0, logging.INFO, "Window", f"line {number}"))
    assert model.rowCount() <= LINES
    assert model.rows[-1].text == f"line {LINES + 299}"
