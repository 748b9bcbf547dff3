"""Reads the list of runs in the background and keeps it up to date."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from PyQt6.QtCore import QObject, QTimer, pyqtSignal

from gym_gui.controllers.live_play.latest_task import Spawn
from gym_gui.services.runs.run_library import RunEntry
from gym_gui.services.submissions.all_runs import AllRuns

EVERY_MS: Final = 2000
"""Shortest time between two passes over the folder while the list is visible, in ms."""
_GROW_S: Final = 0.4
_FULL_EVERY: Final = 10
"""One of this many passes opens every folder; the others only follow runs that are being written."""
_SHARE: Final = 20
"""A pass is followed by a rest this many times as long, up to 120 s, because of slow network disks."""
_LONGEST_REST_MS: Final = 120_000


class LibraryReader(QObject):
    """Reads a folder of runs in a thread, newest first, and again while it is watched.

    Args:
        spawn: Runs work in the background.
        folder: Folder that contains the run folders.
        parent: Qt owner.
        cache: Folder of the cache for what was read; ``None`` for no cache.
    """

    grown = pyqtSignal(object)
    """During the first pass, emits a list of all runs found so far."""
    read = pyqtSignal(object)
    """After each pass that found a change, emits a list of all runs, newest first."""

    def __init__(
        self, spawn: Spawn, folder: Path, parent: QObject | None = None, cache: Path | None = None
    ) -> None:
        super().__init__(parent)
        self._spawn = spawn
        self._shelves = AllRuns(folder, cache)
        self._runs: list[RunEntry] = []
        self._looks = 0
        self._reading = asyncio.Lock()  # Only one thread reads at a time.
        self._busy = self._again = self._complete = False
        self._timer = QTimer(self)
        self._timer.setInterval(EVERY_MS)
        self._timer.timeout.connect(self.refresh)

    @property
    def folder(self) -> Path:
        """Folder that is read."""
        return self._shelves.folder

    @property
    def others(self) -> Sequence[Path]:
        """Further folders that are read as well."""
        return self._shelves.others

    def set_others(self, folders: Sequence[Path]) -> None:
        """Set the further folders that are read as well."""
        self._shelves.set_others(folders)
        self._looks = 0  # The next pass opens every folder.
        self.refresh()

    def move(self, folder: Path) -> None:
        """Read the user's own runs from another folder from now on."""
        self._spawn(self._move(folder), "Opening the runs folder")

    async def _move(self, folder: Path) -> None:
        async with self._reading:  # A pass that is running reads the old folder.
            self._shelves.move(folder)
            self._looks = 0
        self.refresh()

    async def read_again(self, paths: Sequence[Path]) -> None:
        """Read these runs again after a change and emit the new list."""
        async with self._reading:
            self._tell(await asyncio.to_thread(self._shelves.again, self._runs, paths))

    @property
    def runs(self) -> list[RunEntry]:
        """Runs known so far, newest first."""
        return self._runs

    @property
    def complete(self) -> bool:
        """Whether the whole folder has been read once."""
        return self._complete

    def watch(self, on: bool) -> None:
        """Read again and again, or stop doing so."""
        if not on:
            self._timer.stop()
        elif not self._timer.isActive():
            self._timer.start()
            self.refresh()

    def refresh(self) -> None:
        """Read now; if a pass is running, read once more after it."""
        if self._busy:
            self._again = True
            return
        self._busy = True
        self._spawn(self._read_library(), "Reading the list of runs")

    async def _read_library(self) -> None:
        begun, first = time.monotonic(), not self._complete
        try:
            async with self._reading:
                await self._read_once()
        finally:
            rest = 0 if first else _SHARE * 1000 * (time.monotonic() - begun)
            self._timer.setInterval(min(max(EVERY_MS, round(rest)), _LONGEST_REST_MS))
            self._busy = False
            if self._again:
                self._again = False
                self.refresh()

    async def _read_once(self) -> None:
        if self._complete and self._looks % _FULL_EVERY:
            self._looks += 1
            looked = await asyncio.to_thread(self._shelves.look)
            if looked is not None:
                self._tell(looked)
                return
        self._looks += 1
        found: list[RunEntry] = []
        told = 0.0  # Emit the first runs at once and the next ones from time to time.
        batches = self._shelves.scan()
        while (batch := await asyncio.to_thread(_next_batch, batches)) is not None:
            found += batch
            if not self._complete and time.monotonic() - told > _GROW_S:
                self.grown.emit(list(found))
                told = time.monotonic()
        self._tell(await asyncio.to_thread(self._shelves.in_order, found))

    def _tell(self, found: list[RunEntry]) -> None:
        if not self._complete or found != self._runs:
            self._complete, self._runs = True, found
            self.read.emit(found)


def _next_batch(batches: Iterator[Sequence[RunEntry]]) -> Sequence[RunEntry] | None:
    return next(batches, None)
