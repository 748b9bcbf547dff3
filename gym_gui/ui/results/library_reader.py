"""Keeps a list of runs up to date without the window waiting for the disk."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from PyQt6.QtCore import QObject, QTimer, pyqtSignal

from gym_gui.controllers.live_play.latest_job import Spawn
from gym_gui.services.run_library import RunEntry, RunLibrary

EVERY_MS: Final = 2000
"""How often the folder is looked at while the list is in view."""
_GROW_S: Final = 0.4
_FULL_EVERY: Final = 10
"""Looks of which one opens every folder; the others only follow what is being written."""


class LibraryReader(QObject):
    """Reads a folder of runs in a thread, newest first, and again while it is watched.

    Args:
        spawn: Runs work in the background.
        folder: The folder that run folders are in.
        parent: Qt owner.
    """

    grown = pyqtSignal(object)
    """On the first pass: every run so far (a list), as they are found."""
    read = pyqtSignal(object)
    """After each pass that found a change: every run, newest first (a list)."""

    def __init__(self, spawn: Spawn, folder: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._spawn = spawn
        self._library = RunLibrary(folder)
        self._runs: list[RunEntry] = []
        self._looks = 0
        self._busy = self._again = self._complete = False
        self._timer = QTimer(self)
        self._timer.setInterval(EVERY_MS)
        self._timer.timeout.connect(self.refresh)

    @property
    def folder(self) -> Path:
        """The folder that is read."""
        return self._library.folder

    @property
    def runs(self) -> list[RunEntry]:
        """What is known, newest first."""
        return self._runs

    @property
    def complete(self) -> bool:
        """Whether the whole folder has been read once."""
        return self._complete

    def watch(self, on: bool) -> None:
        """Look again and again, or rest."""
        if not on:
            self._timer.stop()
        elif not self._timer.isActive():
            self._timer.start()
            self.refresh()

    def refresh(self) -> None:
        """Look now; where a look is on, once more after it."""
        if self._busy:
            self._again = True
            return
        self._busy = True
        self._spawn(self._read_library(), "Reading the list of runs")

    async def _read_library(self) -> None:
        try:
            if self._complete and self._looks % _FULL_EVERY:
                self._looks += 1
                looked = await asyncio.to_thread(self._library.look)
                if looked is not None:
                    self._tell(looked)
                    return
            self._looks += 1
            found: list[RunEntry] = []
            told = 0.0  # the first runs are shown at once, the next ones now and then
            batches = self._library.scan()
            while (batch := await asyncio.to_thread(_next_batch, batches)) is not None:
                found += batch
                if not self._complete and time.monotonic() - told > _GROW_S:
                    self.grown.emit(list(found))
                    told = time.monotonic()
            self._tell(found)
        finally:
            self._busy = False
            if self._again:
                self._again = False
                self.refresh()

    def _tell(self, found: list[RunEntry]) -> None:
        if not self._complete or found != self._runs:
            self._complete, self._runs = True, found
            self.read.emit(found)


def _next_batch(batches: Iterator[Sequence[RunEntry]]) -> Sequence[RunEntry] | None:
    return next(batches, None)
