"""Writes a run folder: finished episodes, calls, retries, and the reason why the run ended."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gym_gui.controllers.engine.session_events import EpisodeFinished
from gym_gui.controllers.engine.session_interface import SessionReady
from gym_gui.controllers.runs.operator_execution import OperatorExecution
from gym_gui.controllers.runs.run_participants import RunParticipants
from gym_gui.core.config import Experiment
from gym_gui.core.enums import EpisodeStatus
from gym_gui.core.records import TOURNAMENT
from gym_gui.services.runs.recorder import Recorder, RecordingError, check_writable

_log = logging.getLogger(__name__)


class RunWriter:
    """Creates or reopens a run folder and writes its files.

    Args:
        out: Folder for the new run folder.
        resume: A run folder to resume instead.

    Attributes:
        problem: Why the run ends early; ``""`` if it does not.
        unplayed: Number of episodes for which the budgets do not suffice.
    """

    def __init__(self, out: Path, resume: Path | None) -> None:
        self._out = out
        self._recorder: Recorder | None = None
        self._done: Mapping[str, set[int]] = {}
        self._retries: list[dict[str, Any]] = []
        self._has_new_retries = False
        self._held: list[_Held] = []
        self._introduced = RunParticipants()
        self.problem = ""
        self.unplayed = 0
        if resume is not None:
            self._recorder, self._done = Recorder.reopen(resume)
            self._retries += self._recorder.header.get("retries") or []
            self._introduced = RunParticipants(self._recorder.header)

    def done(self, operator_id: str) -> set[int]:
        """Return the indices of an operator's episodes that are finished already when the run is resumed."""
        return self._done.get(operator_id, set())

    @property
    def header(self) -> Mapping[str, Any]:
        """Content of ``run.json``; empty before the run has begun."""
        return {} if self._recorder is None else self._recorder.header

    def failed(self, operator_id: str) -> int:
        """Return the number of an operator's recorded episodes that failed."""
        return self._recorder.failed.get(operator_id, 0) if self._recorder else 0

    def check_writable(self) -> None:
        """Check that the run folder can be written.

        Raises:
            UsageError: Nothing can be written below ``out``.
        """
        if self._recorder is None:
            check_writable(self._out)

    def introduce(self, run: OperatorExecution, ready: SessionReady) -> None:
        """Store an operator's players, the names of its actions, and the versions of packages in use."""
        self._introduced.add(run.operator_id, ready)

    def open(self, experiment: Experiment, runs: list[str], header: Mapping[str, Any]) -> None:
        """Create the run folder, or continue it.

        Raises:
            UsageError: The folder cannot be written.
        """
        if self._recorder is not None:
            # The run's budgets may have been raised.
            about = {"experiment": experiment.to_record(), **self._more_to_play()}
            self._recorder.update(status="running", **self._grown(runs, header), **about)
            return
        about = {"experiment": experiment.to_record(), **self._introduced.record()}
        self._recorder = Recorder.create(self._out, runs, {**header, **about})

    def _grown(self, runs: list[str], header: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields of ``run.json`` that change if a resumed run has more to play than before."""
        recorder = self._recorder
        assert recorder is not None
        fields = {key: header[key] for key in ("episodes", TOURNAMENT) if TOURNAMENT in header}
        if not recorder.add(runs):
            return fields
        # Policies of a tournament may be added, and rows of a matrix that could not be played.
        return {**fields, "episodes": header.get("episodes"), **self._introduced.record()}

    def _more_to_play(self) -> dict[str, Any]:
        """Return ``unplayed`` as 0 if the run had unplayed episodes, because they are played now."""
        assert self._recorder is not None
        return {"unplayed": 0} if "unplayed" in self._recorder.header else {}

    @property
    def begun(self) -> bool:
        """Whether the run folder exists."""
        return self._recorder is not None

    @property
    def folder(self) -> Path:
        """The run folder."""
        assert self._recorder is not None
        return self._recorder.folder

    def episode(self, run: OperatorExecution, episode: EpisodeFinished) -> None:
        """Write a finished episode; after a write error, keep it in memory and set :attr:`problem`."""
        run.done += 1
        run.failed += _has_failed(episode)
        self._write(_Held(run, episode))

    def call(self, run: OperatorExecution, line: bytes) -> None:
        """Write a paid call; after a write error, keep it in memory and set :attr:`problem`."""
        self._write(_Held(run, line))

    def _write(self, row: _Held) -> None:
        assert self._recorder is not None
        try:
            row.write(self._recorder)
        except RecordingError as exc:
            self.problem = self.problem or str(exc)
            self._held.append(row)

    def retry(self, run: OperatorExecution, index: int, reason: str, lost: str) -> None:
        """Record that an episode begins again; :meth:`write_retries` writes it.

        Args:
            run: The operator.
            index: Index of the episode.
            reason: How the lost process ended.
            lost: Kind of the lost process: ``session`` or ``worker``.
        """
        row = {"operator_id": run.operator_id, "episode_index": index, "reason": reason, "lost": lost}
        self._retries.append(row)
        self._has_new_retries = True

    def note(self, **fields: Any) -> None:
        """Write fields into ``run.json``; set :attr:`problem` after a write error."""
        assert self._recorder is not None
        try:
            self._recorder.update(**fields)
        except RecordingError as exc:
            self.problem = self.problem or str(exc)

    def write_retries(self) -> None:
        """Write new retries into ``run.json``; set :attr:`problem` if the run folder has disappeared."""
        assert self._recorder is not None
        try:
            self._recorder.check()
            if self._has_new_retries:
                self._has_new_retries = False
                self._recorder.update(retries=self._retries)
        except RecordingError as exc:
            self.problem = self.problem or str(exc)

    def close(self, status: str) -> None:
        """End the run; try once more to write the episodes and calls that are still in memory.

        Disk space that was reserved for this purpose is freed first.
        """
        recorder = self._recorder
        if recorder is None:
            return
        fields: dict[str, Any] = {"retries": self._retries, "problem": self.problem or None}
        if self.unplayed or "unplayed" in recorder.header:
            fields["unplayed"] = self.unplayed
        try:
            if self._held:
                recorder.free_reserve()
                recorder.update(status=status, **fields)  # status first: held episodes can be played again
                self._write_held(recorder)
        except RecordingError as exc:
            _log.warning("%s", exc)
        for row in self._held:
            row.take_back()
        try:
            recorder.close(status, **fields)
        except RecordingError as exc:
            if not self.problem:
                _log.warning("%s", exc)

    def _write_held(self, recorder: Recorder) -> None:
        while self._held:
            self._held[0].write(recorder)
            del self._held[0]


@dataclass(frozen=True)
class _Held:
    """Entry that is to be written into the run folder: an episode, or the line of a paid call."""

    run: OperatorExecution
    row: EpisodeFinished | bytes

    def write(self, recorder: Recorder) -> None:
        operator, row = self.run.operator_id, self.row
        if isinstance(row, bytes):
            recorder.call(operator, row)
        else:
            recorder.episode(operator, row.steps, row.line)

    def take_back(self) -> None:
        """Subtract the episode from the counts, because it could not be written."""
        if not isinstance(self.row, bytes):
            self.run.done -= 1
            self.run.failed -= _has_failed(self.row)


def _has_failed(episode: EpisodeFinished) -> bool:
    return episode.status is EpisodeStatus.FAILED
