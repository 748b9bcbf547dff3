"""Reader that reads the list of runs in the background and keeps the list up to date."""

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
"""Shortest time between two reads of the runs folder while the list is visible, in ms."""
_GROW_S: Final = 0.4
_FULL_EVERY: Final = 10
"""One in this many reads opens every run folder; the other reads open only folders of running runs."""
_SHARE: Final = 20
"""Pause after a read, as a multiple of the read's duration (at most 120 s), because network disks may be
slow.
"""
_LONGEST_REST_MS: Final = 120_000


class LibraryReader(QObject):
    """Reader of a folder of runs in a thread, newest first, repeated while the list is watched.

    Args:
        spawn: Runs work in the background.
        folder: Folder that contains the run folders.
        parent: Qt owner.
        cache: Folder of the cache for entries; ``None`` for no cache.
    """

    grown = pyqtSignal(object)
    """During the first read, emits the list of all runs found so far."""
    read = pyqtSignal(object)
    """After each read that found a change, emits the list of all runs, newest first."""

    def __init__(
        self, spawn: Spawn, folder: Path, parent: QObject | None = None, cache: Path | None = None
    ) -> None:
        super().__init__(parent)
        self._spawn = spawn
        self._shelves = AllRuns(folder, cache)
        self._runs: list[RunEntry] = []
        self._passes = 0
        self._reading = asyncio.Lock()  # Only one thread reads at a time.
        self._busy = self._again = self._complete = False
        self._timer = QTimer(self)
        self._timer.setInterval(EVERY_MS)
        self._timer.timeout.connect(self.refresh)

    @property
    def folder(self) -> Path:
        """The user's own runs folder."""
        return self._shelves.folder

    @property
    def others(self) -> Sequence[Path]:
        """Additional runs folders that are read too."""
        return self._shelves.others

    def set_others(self, folders: Sequence[Path]) -> None:
        """Set the additional runs folders and read all folders again."""
        self._shelves.set_others(folders)
        self._passes = 0  # The next pass opens every folder.
        self.refresh()

    def move(self, folder: Path) -> None:
        """Read the user's own runs from another folder from now on."""
        self._spawn(self._move(folder), "Opening the runs folder")

    async def _move(self, folder: Path) -> None:
        async with self._reading:  # A pass that is running reads the old folder.
            self._shelves.move(folder)
            self._passes = 0
        self.refresh()

    async def read_again(self, paths: Sequence[Path]) -> None:
        """Read the given runs again after a change and emit the new list of runs."""
        async with self._reading:
            self._publish(await asyncio.to_thread(self._shelves.again, self._runs, paths))

    @property
    def runs(self) -> list[RunEntry]:
        """Runs found so far, newest first."""
        return self._runs

    @property
    def complete(self) -> bool:
        """Whether all runs folders have been read at least once."""
        return self._complete

    def watch(self, on: bool) -> None:
        """Start or stop reading the folders repeatedly."""
        if not on:
            self._timer.stop()
        elif not self._timer.isActive():
            self._timer.start()
            self.refresh()

    def refresh(self) -> None:
        """Read the folders now; if a read is in progress, read once more after it."""
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
        if self._complete and self._passes % _FULL_EVERY:
            self._passes += 1
            changed = await asyncio.to_thread(self._shelves.refresh)
            if changed is not None:
                self._publish(changed)
                return
        self._passes += 1
        found: list[RunEntry] = []
        emitted_at = 0.0  # Emit the first runs at once and the next ones from time to time.
        batches = self._shelves.scan()
        while (batch := await asyncio.to_thread(_next_batch, batches)) is not None:
            found += batch
            if not self._complete and time.monotonic() - emitted_at > _GROW_S:
                self.grown.emit(list(found))
                emitted_at = time.monotonic()
        self._publish(await asyncio.to_thread(self._shelves.in_order, found))

    def _publish(self, found: list[RunEntry]) -> None:
        if not self._complete or found != self._runs:
            self._complete, self._runs = True, found
            self.read.emit(found)


def _next_batch(batches: Iterator[Sequence[RunEntry]]) -> Sequence[RunEntry] | None:
    return next(batches, None)
