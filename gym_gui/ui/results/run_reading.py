"""What a run, or several together, say: worked out in the background, and anew while they grow."""

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
"""How often the results of a run that is being written are made anew, at most."""
_KEPT: Final = 8
_Stamp = tuple[tuple[str, int], ...]


class RunReading(QObject):
    """Analyzes one run at a time, or several as one; keeps the last few results while their runs do not grow.

    Args:
        spawn: Runs work in the background.
        looked_at: Whether the results are on the screen.
        parent: Qt owner.

    Attributes:
        runs: The folders of the runs that are analyzed; empty before the first.
    """

    begun = pyqtSignal()
    """A run is read of which nothing is on show yet."""
    made = pyqtSignal(object)
    """What the run says (:class:`~gym_gui.analysis.findings.summary.Summary`)."""
    refused = pyqtSignal(str)
    """It cannot be read, and why."""
    named = pyqtSignal()
    """A run that was not in the list is known by its name now."""

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
        """The run it is about, where it is one alone."""
        return self.runs[0] if len(self.runs) == 1 else None

    @property
    def entry(self) -> RunEntry | None:
        """That run in the list of runs, as far as it is known."""
        return None if self.run is None else self._entries.get(self.run)

    @property
    def entries(self) -> list[RunEntry]:
        """All of them in the list, as far as they are known."""
        return [self._entries[run] for run in self.runs if run in self._entries]

    def take(self, runs: Sequence[Path], entries: Sequence[RunEntry]) -> None:
        """From now on it is about these runs.

        Args:
            runs: The run folders.
            entries: The list of runs, in which they may be.
        """
        self.runs, self._entries, self._shown = tuple(runs), {}, None
        self._again.stop()
        self._look_up(entries)

    def listed(self, entries: Sequence[RunEntry]) -> None:
        """The list of runs was read anew: where the run has grown, so is what it says, after a while."""
        self._look_up(entries)
        if self._is_old():
            if self._shown is None:
                self.read()
            elif not self._again.isActive():  # begun anew each time, it would not end while the run grows
                self._again.start()

    def read(self) -> None:
        """Have it worked out what the run says."""
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
        """Stop reading again by itself: the results are hidden."""
        self._again.stop()

    def close(self) -> None:
        """End what is going on."""
        self.rest()
        if self._task is not None:
            self._task.cancel()

    def forget(self, runs: Sequence[RunEntry]) -> None:
        """These are gone."""
        gone = {run.path for run in runs}
        self._made = {of: made for of, made in self._made.items() if gone.isdisjoint(of)}

    def _look_up(self, entries: Sequence[RunEntry]) -> None:
        wanted = set(self.runs)
        self._entries |= {entry.path: entry for entry in entries if entry.path in wanted}

    def _stamp(self) -> _Stamp:
        found = (self._entries.get(run) for run in self.runs)
        return tuple(("", 0) if entry is None else (entry.status, entry.done) for entry in found)

    def _is_old(self) -> bool:
        """Whether the run is on the screen, has grown since it was read, and is not being read now.

        If a reading in progress were begun anew, a run that takes longer to read than the time between two
        looks at the folder would never be shown.
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
            if self._stamp() != stamp:  # the run has grown during the analysis
                self._again.start()
