"""Analysis of one or several runs in the background, repeated while a run grows."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from PyQt6.QtCore import QObject, pyqtSignal

from gym_gui.analysis.findings.summary import Summary
from gym_gui.controllers.live_play.latest_task import Spawn
from gym_gui.core.errors import MosaicError
from gym_gui.services.runs.run_analysis import analyze
from gym_gui.services.runs.run_library import RunEntry, RunLibrary
from gym_gui.ui.numbers import screen
from gym_gui.ui.timers import single_shot_timer

AGAIN_MS: Final = 5000
"""Shortest time between two analyses of a running run, in ms."""
_KEPT: Final = 8
_Stamp = tuple[tuple[str, int], ...]


class RunAnalysisJob(QObject):
    """Analyzer of one run, or of several runs together, which caches its last eight results.

    Args:
        spawn: Runs work in the background.
        looked_at: Returns whether the results are visible.
        parent: Qt owner.

    Attributes:
        runs: Folders of the analyzed runs; empty at first.
    """

    begun = pyqtSignal()
    """Emitted when an analysis begins while no results of the runs are shown."""
    made = pyqtSignal(object)
    """Emits the finished analysis (:class:`~gym_gui.analysis.findings.summary.Summary`)."""
    refused = pyqtSignal(str)
    """Emits a sentence with the reason why the runs cannot be read."""
    named = pyqtSignal()
    """Emitted when the entry of a run outside the list of runs has been read."""

    def __init__(self, spawn: Spawn, looked_at: Callable[[], bool], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._spawn, self._looked_at = spawn, looked_at
        self.runs: tuple[Path, ...] = ()
        self._entries: dict[Path, RunEntry] = {}
        self._task: asyncio.Task[None] | None = None
        self._shown: _Stamp | None = None
        self._made: dict[tuple[Path, ...], tuple[_Stamp, Summary]] = {}
        self._again = single_shot_timer(self, AGAIN_MS, self._on_again)

    @property
    def run(self) -> Path | None:
        """Folder of the run if exactly one is analyzed, else ``None``."""
        return self.runs[0] if len(self.runs) == 1 else None

    @property
    def entry(self) -> RunEntry | None:
        """Entry of the only analyzed run in the list of runs; ``None`` if it is unknown or several are
        analyzed.
        """
        return None if self.run is None else self._entries.get(self.run)

    @property
    def entries(self) -> list[RunEntry]:
        """Known list entries of all analyzed runs."""
        return [self._entries[run] for run in self.runs if run in self._entries]

    def analyze(self, runs: Sequence[Path], entries: Sequence[RunEntry]) -> None:
        """Analyze the given runs from now on.

        Args:
            runs: The run folders.
            entries: Entries of the list of runs, which may contain the runs.
        """
        self.runs, self._entries, self._shown = tuple(runs), {}, None
        self._again.stop()
        self._look_up(entries)

    def listed(self, entries: Sequence[RunEntry]) -> None:
        """Look up the analyzed runs in a new list of runs; analyze them again after a pause if they have
        grown.
        """
        self._look_up(entries)
        if self._is_old():
            if self._shown is None:
                self.read()
            elif not self._again.isActive():  # A restart would postpone the analysis each time.
                self._again.start()

    def read(self) -> None:
        """Analyze the runs, or emit the cached analysis if it is up to date."""
        if self._task is not None:
            self._task.cancel()
        runs = self.runs
        assert runs
        made = self._made.get(runs)
        if made is not None and made[0] == self._stamp() and len(self.entries) == len(runs):
            self._shown = made[0]
            self.made.emit(made[1])
            return
        if self._shown is None:
            self.begun.emit()
        self._task = self._spawn(self._read(runs), "Reading the run")

    def rest(self) -> None:
        """Stop the repeated analysis, because the results are hidden."""
        self._again.stop()

    def close(self) -> None:
        """Cancel the analysis in progress and later ones."""
        self.rest()
        if self._task is not None:
            self._task.cancel()

    def forget(self, runs: Sequence[RunEntry]) -> None:
        """Remove the cached results of deleted runs."""
        gone = {run.path for run in runs}
        self._made = {of: made for of, made in self._made.items() if gone.isdisjoint(of)}

    def _look_up(self, entries: Sequence[RunEntry]) -> None:
        wanted = set(self.runs)
        self._entries |= {entry.path: entry for entry in entries if entry.path in wanted}

    def _stamp(self) -> _Stamp:
        found = (self._entries.get(run) for run in self.runs)
        return tuple(("", 0) if entry is None else (entry.status, entry.done) for entry in found)

    def _is_old(self) -> bool:
        """Return whether the visible runs have grown since their analysis and no analysis is in progress.

        If growth restarted a running analysis, a run whose analysis takes longer than the time between
        two reads of the folder would never be shown.
        """
        reading = self._task is not None and not self._task.done()
        return self._looked_at() and not reading and self._stamp() != self._shown

    def _on_again(self) -> None:
        if self._is_old():
            self.read()

    async def _read(self, runs: tuple[Path, ...]) -> None:
        if unknown := [run for run in runs if run not in self._entries]:
            found = [await asyncio.to_thread(RunLibrary(run.parent).one, run) for run in unknown]
            self._entries |= {entry.path: entry for entry in found if entry is not None}
            self.named.emit()
        stamp = self._stamp()
        try:
            analysis = await analyze(*runs, locale=screen())
        except MosaicError as error:
            self._shown = stamp
            self.refused.emit(error.sentence)
            return
        self._made[runs] = (stamp, analysis)
        while len(self._made) > _KEPT:
            del self._made[next(iter(self._made))]
        if runs == self.runs:
            self._shown = stamp
            self.made.emit(analysis)
            if self._stamp() != stamp:  # The run has grown since.
                self._again.start()
