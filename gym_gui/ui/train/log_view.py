"""What a training has printed: the end of its log, followed while it is seen."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Final

from PyQt6.QtCore import QTimer
from PyQt6.QtGui import QHideEvent, QShowEvent, QTextCursor
from PyQt6.QtWidgets import QPlainTextEdit, QWidget

from gym_gui.ui import theme
from gym_gui.ui.context import AppContext
from mosaic_worker.plain_files import open_file

MOST_BYTES: Final = 256 * 1024
"""Of a longer log the end is shown; the file itself is in the run folder."""
LOOK_MS: Final = 1000


class RunLog(QPlainTextEdit):
    """Read-only text; stays where it was scrolled to, follows the end where it was at the end.

    Args:
        context: Work in the background.
        parent: Qt owner.
    """

    def __init__(self, context: AppContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("train-log")
        self.setAccessibleName("Log of the training")
        self.setReadOnly(True)
        self.setUndoRedoEnabled(False)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setFont(theme.mono_font(theme.SECTION_PX))
        self.setPlaceholderText("Select a run: what it prints appears here")
        self._context = context
        self._file: Path | None = None
        self._read = 0
        self._task: asyncio.Task[None] | None = None
        self._timer = QTimer(self)
        self._timer.setInterval(LOOK_MS)
        self._timer.timeout.connect(self._on_time)

    def show_file(self, file: Path | None) -> None:
        """Show another log."""
        if file == self._file:
            return
        self._file, self._read = file, 0
        self.clear()
        words = "Nothing printed yet" if file is not None else "Select a run: what it prints appears here"
        self.setPlaceholderText(words)
        if self.isVisible():
            self._on_time()

    async def closed(self) -> None:
        """Follow nothing any more."""
        self._timer.stop()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def showEvent(self, a0: QShowEvent | None) -> None:
        """Follow."""
        super().showEvent(a0)
        self._timer.start()
        self._on_time()

    def hideEvent(self, a0: QHideEvent | None) -> None:
        """Rest."""
        super().hideEvent(a0)
        self._timer.stop()

    def _on_time(self) -> None:
        if self._file is not None and self._task is None:
            self._task = self._context.spawn(self._look(self._file), "Reading the log")
            self._task.add_done_callback(self._on_looked)

    def _on_looked(self, _task: object) -> None:
        self._task = None
        if self._read == 0 and self.isVisible() and self._file is not None and not self.toPlainText():
            return  # nothing there yet: the next beat looks again

    async def _look(self, file: Path) -> None:
        text, read, anew = await asyncio.to_thread(_tail, file, self._read)
        if file != self._file:
            return
        self._read = read
        if anew:
            self.clear()
        if text:
            self._append(text)

    def _append(self, text: str) -> None:
        bar = self.verticalScrollBar()
        at_end = bar is None or bar.value() >= bar.maximum() - 2
        cursor = QTextCursor(self.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.insertText(text)
        if bar is not None and at_end:
            bar.setValue(bar.maximum())


def _tail(file: Path, known: int) -> tuple[str, int, bool]:
    """What came since ``known`` bytes, the bytes there are, and whether to begin anew."""
    try:
        size = file.stat().st_size
        anew = size < known or size - known > MOST_BYTES
        start = max(0, size - MOST_BYTES) if anew or not known else known
        with open_file(file) as stream:
            stream.seek(start)
            data = stream.read(MOST_BYTES)
    except OSError:
        return "", 0, bool(known)
    if start and start != known:
        data = data.partition(b"\n")[2]
    return data.decode(errors="replace"), start + min(size - start, MOST_BYTES), anew
