"""The log, in people's words: closed until somebody asks for it."""

from __future__ import annotations

import logging
import time
from collections import deque
from dataclasses import dataclass
from typing import ClassVar

from PyQt6.QtCore import QAbstractTableModel, QModelIndex, QObject, Qt, pyqtSignal
from PyQt6.QtGui import QColor, QGuiApplication, QKeySequence, QShortcut
from PyQt6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from gym_gui.ui import theme
from gym_gui.ui.widgets.buttons import IconButton, LinkButton
from gym_gui.ui.widgets.labels import muted_label, section_label
from gym_gui.ui.widgets.segments import SegmentedControl

LINES = 2000

_SOURCES = {
    "gym_gui.ui": "Window",
    "gym_gui.host": "Session",
    "gym_gui.controllers": "Session",
    "gym_gui.workers": "Worker",
    "gym_gui.services.recorder": "Recorder",
    "gym_gui.services": "Engine",
    "gym_gui.envs": "Environment",
    "gym_gui.core": "Engine",
    "gym_gui.analysis": "Results",
    "gym_gui": "Engine",
    "mosaic_worker": "Worker",
}
_LEVELS = {logging.ERROR: "Problem", logging.WARNING: "Warning", logging.INFO: ""}


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line of the log.

    Attributes:
        at: Seconds since the epoch.
        level: As in :mod:`logging`.
        source: Which part says it, in a word.
        text: What it says.
        detail: Traceback, where there is one.
    """

    at: float
    level: int
    source: str
    text: str
    detail: str = ""


def line_of(record: logging.LogRecord) -> LogLine:
    """A log record in people's words."""
    detail = ""
    if record.exc_info:
        detail = logging.Formatter().formatException(record.exc_info)
    text = " ".join(record.getMessage().split())
    return LogLine(record.created, record.levelno, _source(record.name), text[:1].upper() + text[1:], detail)


def _source(name: str) -> str:
    while name:
        if name in _SOURCES:
            return _SOURCES[name]
        name = name.rpartition(".")[0]
    return "Library"


class LogFeed(QObject):
    """A logging handler's Qt half: lines arrive in the GUI thread, whoever logged them."""

    arrived = pyqtSignal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.handler = _Handler(self)

    def open(self) -> None:
        """Listen to what is logged: ours from INFO on, libraries' from WARNING on."""
        logging.getLogger().addHandler(self.handler)
        ours = logging.getLogger("gym_gui")
        if ours.level == logging.NOTSET:
            ours.setLevel(logging.INFO)

    def close(self) -> None:
        """Listen no more."""
        logging.getLogger().removeHandler(self.handler)


class _Handler(logging.Handler):
    def __init__(self, feed: LogFeed) -> None:
        super().__init__(logging.INFO)
        self._feed = feed

    def emit(self, record: logging.LogRecord) -> None:
        ours = record.name.startswith(("gym_gui", "mosaic"))
        if record.levelno < (logging.INFO if ours else logging.WARNING):
            return
        try:
            self._feed.arrived.emit(line_of(record))
        except RuntimeError:
            # The window is gone while a thread still logs.
            return


class LogModel(QAbstractTableModel):
    """The last lines; the oldest go."""

    HEADINGS: ClassVar = ("Time", "From", "What happened")

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._all: deque[LogLine] = deque(maxlen=LINES)
        self._shown: list[LogLine] = []
        self._lowest = logging.INFO

    @property
    def lines(self) -> list[LogLine]:
        """Those that are shown."""
        return list(self._shown)

    def add(self, line: LogLine) -> None:
        """Append a line."""
        self._all.append(line)
        if line.level < self._lowest:
            return
        if len(self._shown) >= LINES:
            self.beginRemoveRows(QModelIndex(), 0, LINES // 10)
            del self._shown[: LINES // 10 + 1]
            self.endRemoveRows()
        place = len(self._shown)
        self.beginInsertRows(QModelIndex(), place, place)
        self._shown.append(line)
        self.endInsertRows()

    def show_from(self, level: int) -> None:
        """Show lines of this level and above."""
        self.beginResetModel()
        self._lowest = level
        self._shown = [line for line in self._all if line.level >= level]
        self.endResetModel()

    def clear(self) -> None:
        """Forget all lines."""
        self.beginResetModel()
        self._all.clear()
        self._shown.clear()
        self.endResetModel()

    def rowCount(self, parent: QModelIndex = QModelIndex()) -> int:  # noqa: B008
        """Lines shown."""
        return 0 if parent.isValid() else len(self._shown)

    def columnCount(self, parent: QModelIndex = QModelIndex()) -> int:  # noqa: B008
        """Time, source, text."""
        return 0 if parent.isValid() else len(self.HEADINGS)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        """Column headings."""
        if role == Qt.ItemDataRole.DisplayRole and orientation == Qt.Orientation.Horizontal:
            return self.HEADINGS[section]
        return None

    def data(self, index: QModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """A cell."""
        line = self._shown[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return (_clock(line.at), line.source, _words(line))[index.column()]
        if role == Qt.ItemDataRole.ForegroundRole:
            return self._colour(line, index.column())
        if role == Qt.ItemDataRole.ToolTipRole:
            return line.detail or line.text
        return None

    @staticmethod
    def _colour(line: LogLine, column: int) -> QColor:
        current = theme.current()
        if column < 2:
            return current.colour("muted")
        token = "error" if line.level >= logging.ERROR else "warning"
        if line.level < logging.WARNING:
            return current.colour("text")
        return theme.text_on(current.tokens.panel, current.colour(token))


class LogDock(QFrame):
    """The panel above the status line with the last lines, newest at the foot."""

    closed = pyqtSignal()

    def __init__(self, feed: LogFeed, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("log-dock")
        self.setAccessibleName("Log")
        self.setProperty("role", "status")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setMinimumHeight(120)
        self.model = LogModel(self)
        self.table = QTableView(self)
        self._set_up_table()
        self.level = SegmentedControl([("all", "All"), ("warnings", "Warnings")], name="log-level")
        self.level.chosen.connect(self._on_level_chosen)
        self.hint = muted_label("Nothing has been logged yet.")
        head = QHBoxLayout()
        head.setSpacing(theme.ROW)
        head.addWidget(section_label("Log"))
        head.addWidget(self.level)
        head.addWidget(self.hint)
        head.addStretch(1)
        head.addWidget(LinkButton("Copy", tooltip="Copy the selected lines, or all", on_click=self.copy))
        head.addWidget(LinkButton("Clear", tooltip="Forget the lines shown", on_click=self._on_clear))
        head.addWidget(IconButton("close", "Close the log", on_click=self.closed.emit))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.PAGE, 6, theme.ROW, 0)
        layout.setSpacing(4)
        layout.addLayout(head)
        layout.addWidget(self.table, 1)
        copy = QShortcut(QKeySequence.StandardKey.Copy, self.table, self.copy)
        copy.setContext(Qt.ShortcutContext.WidgetShortcut)
        feed.arrived.connect(self._on_arrived)

    def copy(self) -> None:
        """Put the selected lines, or all, on the clipboard; tracebacks included."""
        selection = self.table.selectionModel()
        rows = sorted({index.row() for index in selection.selectedIndexes()}) if selection else []
        lines = self.model.lines
        chosen = [lines[row] for row in rows] if rows else lines
        clipboard = QGuiApplication.clipboard()
        if clipboard is not None:
            clipboard.setText("\n".join(_full(line) for line in chosen))

    def _set_up_table(self) -> None:
        self.table.setObjectName("log-lines")
        self.table.setAccessibleName("Log lines")
        self.table.setModel(self.model)
        self.table.setShowGrid(False)
        self.table.setWordWrap(False)
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.setTabKeyNavigation(False)
        rows, columns = self.table.verticalHeader(), self.table.horizontalHeader()
        if rows is not None and columns is not None:
            rows.hide()
            rows.setDefaultSectionSize(24)
            columns.hide()
            columns.setSectionResizeMode(2, QHeaderView.ResizeMode.Stretch)
            columns.resizeSection(0, 92)
            columns.resizeSection(1, 116)

    def _on_arrived(self, line: LogLine) -> None:
        bar = self.table.verticalScrollBar()
        at_end = bar is None or bar.value() >= bar.maximum() - 2
        self.model.add(line)
        self.hint.hide()
        if at_end and self.isVisible():
            self.table.scrollToBottom()

    def _on_level_chosen(self, level: str) -> None:
        self.model.show_from(logging.WARNING if level == "warnings" else logging.INFO)
        self.table.scrollToBottom()

    def _on_clear(self) -> None:
        self.model.clear()
        self.hint.show()


def _clock(at: float) -> str:
    return time.strftime("%H:%M:%S", time.localtime(at))


def _words(line: LogLine) -> str:
    word = _LEVELS.get(line.level, "Problem" if line.level >= logging.ERROR else "")
    return f"{word}: {line.text}" if word else line.text


def _full(line: LogLine) -> str:
    text = f"{_clock(line.at)}  {line.source}  {_words(line)}"
    return f"{text}\n{line.detail}" if line.detail else text
