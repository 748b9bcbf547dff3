"""What a run says, worked out in the background, and anew while the run grows."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from PyQt6.QtCore import QObject, QTimer, pyqtSignal

from gym_gui.analysis.summary import Summary
from gym_gui.controllers.live_play.latest_job import Spawn
from gym_gui.services.run_analysis import analyse
from gym_gui.services.run_library import RunEntry, RunLibrary

AGAIN_MS: Final = 5000
"""How often the results of a run that is being written are made anew, at most."""
_KEPT: Final = 8
_Stamp = tuple[str, int]


class RunReading(QObject):
    """Reads one run at a time; what the last few said is kept as long as they have not grown.

    Args:
        spawn: Runs work in the background.
        looked_at: Whether somebody sees what the run says.
        parent: Qt owner.

    Attributes:
        run: The run it is about; ``None`` before the first.
        entry: It in the list of runs, as far as that is known.
    """

    begun = pyqtSignal()
    """A run is read of which nothing is on show yet."""
    made = pyqtSignal(object)
    """What the run says (:class:`~gym_gui.analysis.summary.Summary`)."""
    refused = pyqtSignal(str)
    """It cannot be read, and why."""
    named = pyqtSignal()
    """A run that was not in the list is known by its name now."""

    def __init__(self, spawn: Spawn, looked_at: Callable[[], bool], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._spawn, self._looked_at = spawn, looked_at
        self.run: Path | None = None
        self.entry: RunEntry | None = None
        self._task: asyncio.Task[None] | None = None
        self._shown: _Stamp | None = None
        self._made: dict[Path, tuple[_Stamp, Summary]] = {}
        self._again = QTimer(self)
        self._again.setSingleShot(True)
        self._again.setInterval(AGAIN_MS)
        self._again.timeout.connect(self._on_again)

    def take(self, run: Path, entries: Sequence[RunEntry]) -> None:
        """From now on it is about this run.

        Args:
            run: The run folder.
            entries: The list of runs, in which it may be.
        """
        self.run, self.entry, self._shown = run, None, None
        self._again.stop()
        self._look_up(entries)

    def listed(self, entries: Sequence[RunEntry]) -> None:
        """The list of runs was read anew: where the run has grown, so is what it says, after a while."""
        self._look_up(entries)
        if self._is_old():
            self._again.start() if self._shown is not None else self.read()

    def read(self) -> None:
        """Have it worked out what the run says."""
        if self._task is not None:
            self._task.cancel()
        run = self.run
        assert run is not None
        made = self._made.get(run)
        if made is not None and made[0] == self._stamp() and self.entry is not None:
            self._shown = made[0]
            self.made.emit(made[1])
            return
        if self._shown is None:
            self.begun.emit()
        self._task = self._spawn(self._read(run), "Reading the run")

    def rest(self) -> None:
        """Nobody looks: do not read again by itself."""
        self._again.stop()

    def close(self) -> None:
        """End what is going on."""
        self.rest()
        if self._task is not None:
            self._task.cancel()

    def forget(self, runs: Sequence[RunEntry]) -> None:
        """These are gone."""
        for run in runs:
            self._made.pop(run.path, None)

    def _look_up(self, entries: Sequence[RunEntry]) -> None:
        self.entry = next((entry for entry in entries if entry.path == self.run), self.entry)

    def _stamp(self) -> _Stamp:
        entry = self.entry
        return (entry.status, entry.done) if entry is not None else ("", 0)

    def _is_old(self) -> bool:
        """Whether the run on show has grown since it was read, and nobody reads it now.

        One that takes longer to read than the next look at the folder would never be shown.
        """
        reading = self._task is not None and not self._task.done()
        return self._looked_at() and not reading and self._stamp() != self._shown

    def _on_again(self) -> None:
        if self._is_old():
            self.read()

    async def _read(self, run: Path) -> None:
        from gym_gui.core.errors import MosaicError

        if self.entry is None:
            self.entry = await asyncio.to_thread(RunLibrary(run.parent).one, run)
            self.named.emit()
        stamp = self._stamp()
        try:
            analysis = await analyse(run)
        except MosaicError as error:
            self._shown = stamp
            self.refused.emit(str(error))
            return
        self._made[run] = (stamp, analysis)
        while len(self._made) > _KEPT:
            del self._made[next(iter(self._made))]
        if run == self.run:
            self._shown = stamp
            self.made.emit(analysis)
            if self._stamp() != stamp:  # it has grown meanwhile
                self._again.start()
