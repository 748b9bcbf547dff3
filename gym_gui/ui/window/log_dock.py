"""The log panel, which is hidden until the user opens it."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from functools import partial
from typing import Final

from PyQt6.QtCore import QObject, Qt, pyqtSignal
from PyQt6.QtGui import QColor, QGuiApplication, QKeySequence, QShortcut
from PyQt6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QWidget,
)

from gym_gui.ui import theme
from gym_gui.ui.context import AppContext
from gym_gui.ui.widgets.buttons import IconButton, LinkButton
from gym_gui.ui.widgets.labels import muted_label, section_label
from gym_gui.ui.widgets.layouts import column_layout, row_layout
from gym_gui.ui.widgets.message_panels import Action
from gym_gui.ui.widgets.segments import SegmentedControl
from gym_gui.ui.widgets.tables import Column, RowsModel, RowsTable

LINES = 2000

_SOURCES = {
    "gym_gui.ui": "Window",
    "gym_gui.host": "Session",
    "gym_gui.controllers": "Session",
    "gym_gui.workers": "Worker",
    "gym_gui.services.runs.recorder": "Recorder",
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
    """One line of the log panel.

    Attributes:
        at: Time in seconds since the epoch.
        level: Level of :mod:`logging`.
        source: Part of the program that logged the line, such as ``Worker``.
        text: The message.
        detail: The traceback; empty without an exception.
    """

    at: float
    level: int
    source: str
    text: str
    detail: str = ""


def line_of(record: logging.LogRecord) -> LogLine:
    """Return a log record as a line of the log panel."""
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
    """Passes log records to the GUI thread, whichever thread logged them."""

    arrived = pyqtSignal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.handler = _Handler(self)

    def open(self) -> None:
        """Start to receive log records: MOSAIC's from INFO on, libraries' from WARNING on."""
        logging.getLogger().addHandler(self.handler)
        ours = logging.getLogger("gym_gui")
        if ours.level == logging.NOTSET:
            ours.setLevel(logging.INFO)

    def close(self) -> None:
        """Stop receiving log records."""
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
            # The window was deleted while a thread still logs.
            return


class LogModel(RowsModel[LogLine]):
    """Model of the last log lines; the oldest lines are dropped."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(LOG_COLUMNS, parent=parent)
        self.show_from(logging.INFO)

    def add(self, line: LogLine) -> None:
        """Append a line, and drop the oldest lines if there are too many."""
        if len(self._all) >= LINES:
            self.set_rows(self._all[LINES // 10 :])
        self.append(line)

    def show_from(self, level: int) -> None:
        """Show only lines of a level or above."""
        self.set_filter(partial(_at_least, level))


class LogDock(QFrame):
    """Panel above the status line with the last log lines, the newest at the bottom."""

    closed = pyqtSignal()

    def __init__(self, context: AppContext, feed: LogFeed, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self.setObjectName("log-dock")
        self.setAccessibleName("Log")
        self.setProperty("role", "status")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setMinimumHeight(120)
        self.model = LogModel(self)
        self.table = RowsTable(self.model, "log-lines", "Log lines", 24, self)
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.table.fit_columns()
        self.table.head.hide()
        self.table.activated.connect(self._on_activated)
        selection = self.table.selectionModel()
        if selection is not None:
            selection.selectionChanged.connect(self._on_selection_changed)
        self._open = LinkButton("", name="log-open", on_click=self.open_place)
        self._open.setToolTip("Open the file at this line (Enter or double click)")
        self._open.hide()
        self._level = SegmentedControl([("all", "All"), ("warnings", "Warnings")], name="log-level")
        self._level.chosen.connect(self._on_level_chosen)
        self._hint = muted_label("No message yet.")
        head = row_layout()
        head.addWidget(section_label("Log"))
        head.addWidget(self._level)
        head.addWidget(self._hint)
        head.addStretch(1)
        head.addWidget(self._open)
        head.addWidget(
            LinkButton("Copy", tooltip="Copy the selected lines, or all lines", on_click=self.copy)
        )
        head.addWidget(LinkButton("Clear", tooltip="Remove all lines", on_click=self._on_clear))
        head.addWidget(IconButton("close", "Close the log", on_click=self.closed.emit))
        layout = column_layout(self, margin=(theme.PAGE, 6, theme.ROW, 0), spacing=4)
        layout.addLayout(head)
        layout.addWidget(self.table, 1)
        copy = QShortcut(QKeySequence.StandardKey.Copy, self.table, self.copy)
        copy.setContext(Qt.ShortcutContext.WidgetShortcut)
        self._bottom = 0
        bar = self.table.verticalScrollBar()
        assert bar is not None
        bar.rangeChanged.connect(self._on_range_changed)
        feed.arrived.connect(self._on_arrived)

    def copy(self) -> None:
        """Copy the selected lines, or all lines, with their tracebacks to the clipboard."""
        selection = self.table.selectionModel()
        rows = sorted({index.row() for index in selection.selectedIndexes()}) if selection else []
        lines = self.model.rows
        chosen = [lines[row] for row in rows] if rows else lines
        clipboard = QGuiApplication.clipboard()
        if clipboard is not None:
            clipboard.setText("\n".join(_full(line) for line in chosen))

    def open_place(self) -> None:
        """Open the file that the selected line names in the editor, at the line that it names."""
        line = self._selected()
        if line is not None and (link := self._link_of(line)) is not None:
            link[1]()

    def _selected(self) -> LogLine | None:
        selection = self.table.selectionModel()
        rows = {index.row() for index in selection.selectedIndexes()} if selection is not None else set()
        return self.model.rows[rows.pop()] if len(rows) == 1 else None

    def _link_of(self, line: LogLine) -> Action | None:
        # Imported here, because the log needs these modules only after a selection.
        from gym_gui.services.file_references import place_in
        from gym_gui.ui.editor.line_links import link_of

        return link_of(self._context, line.text, place=place_in(line.detail) or place_in(line.text))

    def _on_selection_changed(self, *_: object) -> None:
        line = self._selected()
        link = self._link_of(line) if line is not None else None
        self._open.setVisible(link is not None)
        if link is not None:
            self._open.setText(link[0])

    def _on_activated(self, *_: object) -> None:
        self.open_place()

    def _on_arrived(self, line: LogLine) -> None:
        self.model.add(line)
        self._hint.hide()

    def _on_range_changed(self, _start: int, end: int) -> None:
        """Keep the newest line visible if it was visible before lines were added or the height changed."""
        bar = self.table.verticalScrollBar()
        if bar is not None and bar.value() >= self._bottom - 2:
            bar.setValue(end)
        self._bottom = end

    def _on_level_chosen(self, level: str) -> None:
        self.model.show_from(logging.WARNING if level == "warnings" else logging.INFO)
        self.table.scrollToBottom()

    def _on_clear(self) -> None:
        self.model.set_rows(())
        self._hint.show()


def _clock(line: LogLine) -> str:
    return time.strftime("%H:%M:%S", time.localtime(line.at))


def _source_of(line: LogLine) -> str:
    return line.source


def _detail(line: LogLine) -> str:
    return line.detail or line.text


def _muted(_line: LogLine) -> QColor:
    return theme.current().color("muted")


def _color(line: LogLine) -> QColor:
    current = theme.current()
    if line.level < logging.WARNING:
        return current.color("text")
    token = "error" if line.level >= logging.ERROR else "warning"
    return theme.text_on(current.tokens.panel, current.color(token))


def _at_least(level: int, line: LogLine) -> bool:
    return line.level >= level


def _line_words(line: LogLine) -> str:
    word = _LEVELS.get(line.level, "Problem" if line.level >= logging.ERROR else "")
    return f"{word}: {line.text}" if word else line.text


def _full(line: LogLine) -> str:
    text = f"{_clock(line)}  {line.source}  {_line_words(line)}"
    return f"{text}\n{line.detail}" if line.detail else text


_COLOR: Final = Qt.ItemDataRole.ForegroundRole
LOG_COLUMNS: Final = (
    Column("Time", _clock, tip=_detail, width=92, roles={_COLOR: _muted}),
    Column("Source", _source_of, tip=_detail, width=116, roles={_COLOR: _muted}),
    Column("Message", _line_words, tip=_detail, roles={_COLOR: _color}),
)
