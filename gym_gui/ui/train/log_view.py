"""View of a training's log, which follows the end of the file while visible."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Final

from PyQt6.QtCore import QTimer
from PyQt6.QtGui import QHideEvent, QShowEvent, QTextCursor
from PyQt6.QtWidgets import QPlainTextEdit, QWidget

from gym_gui.controllers.live_play.latest_task import Spawn
from gym_gui.core.asyncio_tasks import end_task
from gym_gui.core.errors import RunFormatError
from gym_gui.services.trainer.file_follower import Follower
from gym_gui.ui import theme

MOST_BYTES: Final = 256 * 1024
"""Largest number of bytes shown from the end of the log."""
LOOK_MS: Final = 1000


class RunLog(QPlainTextEdit):
    """Read-only view of a log file that keeps its scroll position, or follows the end if scrolled to the end.

    Args:
        spawn: Runs work in the background.
        parent: Qt owner.
    """

    def __init__(self, spawn: Spawn, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("train-log")
        self.setAccessibleName("Log of the training")
        self.setReadOnly(True)
        self.setUndoRedoEnabled(False)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setFont(theme.mono_font(theme.SECTION_PX))
        self.setPlaceholderText("Select a run to see its output")
        self._spawn = spawn
        self._followed: Follower | None = None
        self._task: asyncio.Task[None] | None = None
        self._timer = QTimer(self)
        self._timer.setInterval(LOOK_MS)
        self._timer.timeout.connect(self._on_time)

    def show_file(self, file: Path | None) -> None:
        """Show the log file at a path; ``None`` shows none."""
        if file == (None if self._followed is None else self._followed.path):
            return
        self._followed = None if file is None else Follower(file)
        self.clear()
        words = "No output yet" if file is not None else "Select a run to see its output"
        self.setPlaceholderText(words)
        if self.isVisible():
            self._on_time()

    async def closed(self) -> None:
        """Stop following the log."""
        self._timer.stop()
        await end_task(self._task)

    def showEvent(self, a0: QShowEvent | None) -> None:
        """Start following the log when visible."""
        super().showEvent(a0)
        self._timer.start()
        self._on_time()

    def hideEvent(self, a0: QHideEvent | None) -> None:
        """Pause following the log while hidden."""
        super().hideEvent(a0)
        self._timer.stop()

    def _on_time(self) -> None:
        if self._followed is not None and self._task is None:
            self._task = self._spawn(self._look(self._followed), "Reading the log")
            self._task.add_done_callback(self._on_looked)

    def _on_looked(self, _task: object) -> None:
        self._task = None

    async def _look(self, log: Follower) -> None:
        try:
            data, anew = await asyncio.to_thread(log.read_end, MOST_BYTES)
        except RunFormatError as error:
            data, anew = b"", True
            self.setPlaceholderText(error.sentence)
        if log is not self._followed:
            return
        if anew:
            self.clear()
        if data:
            self._append(data.decode(errors="replace"))

    def _append(self, text: str) -> None:
        bar = self.verticalScrollBar()
        at_end = bar is None or bar.value() >= bar.maximum() - 2
        cursor = QTextCursor(self.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.insertText(text)
        if bar is not None and at_end:
            bar.setValue(bar.maximum())
