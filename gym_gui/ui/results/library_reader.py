"""Keeps a list of runs up to date without the window waiting for the disk."""

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
"""How often the folder is looked at while the list is in view, at most."""
_GROW_S: Final = 0.4
_FULL_EVERY: Final = 10
"""Looks of which one opens every folder; the others only follow what is being written."""
_SHARE: Final = 20
"""A look that took long, as on a disk of another machine, is followed by so many times that without one."""
_LONGEST_REST_MS: Final = 120_000


class LibraryReader(QObject):
    """Reads a folder of runs in a thread, newest first, and again while it is watched.

    Args:
        spawn: Runs work in the background.
        folder: The folder that run folders are in.
        parent: Qt owner.
        cache: Folder of the cache for what was read.
    """

    grown = pyqtSignal(object)
    """On the first pass: every run so far (a list), as they are found."""
    read = pyqtSignal(object)
    """After each pass that found a change: every run, newest first (a list)."""

    def __init__(
        self, spawn: Spawn, folder: Path, parent: QObject | None = None, cache: Path | None = None
    ) -> None:
        super().__init__(parent)
        self._spawn = spawn
        self._shelves = AllRuns(folder, cache)
        self._runs: list[RunEntry] = []
        self._looks = 0
        self._reading = asyncio.Lock()  # one thread at a time
        self._busy = self._again = self._complete = False
        self._timer = QTimer(self)
        self._timer.setInterval(EVERY_MS)
        self._timer.timeout.connect(self.refresh)

    @property
    def folder(self) -> Path:
        """The folder that is read."""
        return self._shelves.folder

    @property
    def others(self) -> Sequence[Path]:
        """Folders that are read beside it."""
        return self._shelves.others

    def set_others(self, folders: Sequence[Path]) -> None:
        """Read these beside it."""
        self._shelves.set_others(folders)
        self._looks = 0  # which has every folder opened
        self.refresh()

    def move(self, folder: Path) -> None:
        """One's own runs are in another folder from now on."""
        self._spawn(self._move(folder), "Opening the runs folder")

    async def _move(self, folder: Path) -> None:
        async with self._reading:  # what is being read is of the folder before
            self._shelves.move(folder)
            self._looks = 0
        self.refresh()

    async def read_again(self, paths: Sequence[Path]) -> None:
        """Read these runs again after a change, and emit the list anew."""
        async with self._reading:
            self._tell(await asyncio.to_thread(self._shelves.again, self._runs, paths))

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
        told = 0.0  # the first runs are shown at once, the next ones now and then
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
