"""What a run writes down: finished episodes, retries, and why it ended."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gym_gui.controllers.introductions import Introductions
from gym_gui.controllers.operator_run import OperatorRun
from gym_gui.controllers.sessions import SessionReady
from gym_gui.core.config import Experiment
from gym_gui.core.execution import EpisodePlan
from gym_gui.services.recorder import Recorder, RecordingError, require_room

_log = logging.getLogger(__name__)


class RunLedger:
    """Keeps a run's folder.

    Args:
        out: Folder for the new run folder.
        resume: A run folder to go on with, instead.

    Attributes:
        problem: Why nothing can be written any more, or ``""``.
    """

    def __init__(self, out: Path, resume: Path | None) -> None:
        self._out = out
        self._recorder: Recorder | None = None
        self._done: Mapping[str, set[int]] = {}
        self._retries: list[dict[str, Any]] = []
        self._introduced = Introductions()
        self.problem = ""
        if resume is not None:
            self._recorder, self._done = Recorder.reopen(resume)

    def done(self, operator_id: str) -> set[int]:
        """Episodes that an earlier part of the run finished."""
        return self._done.get(operator_id, set())

    def failed(self, operator_id: str) -> int:
        """How many of these failed."""
        return self._recorder.failed.get(operator_id, 0) if self._recorder else 0

    def require_room(self) -> None:
        """Make sure that the run can be begun.

        Raises:
            UsageError: Nothing can be written below ``out``.
        """
        if self._recorder is None:
            require_room(self._out)

    def introduce(self, run: OperatorRun, ready: SessionReady) -> None:
        """Note who plays for an operator, the words of its actions, and the versions of all that acts."""
        self._introduced.add(run.operator_id, ready)

    def open(self, experiment: Experiment, runs: list[str], header: Mapping[str, Any]) -> None:
        """Begin the run folder, or go on in it.

        Raises:
            UsageError: It cannot be written.
        """
        if self._recorder is not None:
            self._recorder.update(status="running")
            return
        about = {"experiment": experiment.to_record(), **self._introduced.record()}
        self._recorder = Recorder.create(self._out, runs, {**header, **about})

    @property
    def folder(self) -> Path:
        """The run folder."""
        assert self._recorder is not None
        return self._recorder.folder

    def episode(self, run: OperatorRun, plan: EpisodePlan, steps: bytes, episode: bytes) -> None:
        """Write a finished episode; sets :attr:`problem` where that is not possible any more."""
        assert self._recorder is not None
        failed = b'"status":"failed"' in episode
        try:
            self._recorder.episode(run.operator_id, steps, episode)
        except RecordingError as exc:
            failed, self.problem = True, str(exc)
            self._last_words(run, plan, exc)
        run.done += 1
        run.failed += failed

    def _last_words(self, run: OperatorRun, plan: EpisodePlan, exc: RecordingError) -> None:
        """Say in the run itself why it ends, if a few hundred bytes can still be written."""
        assert self._recorder is not None
        self._recorder.give_way()
        try:
            self._recorder.episode(run.operator_id, b"", run.lost_line(plan, exc.message))
        except RecordingError:
            _log.warning("not even the reason could be written: %s", exc)

    def call(self, run: OperatorRun, line: bytes) -> None:
        """Write a paid call; sets :attr:`problem` where that is not possible any more."""
        assert self._recorder is not None
        try:
            self._recorder.call(run.operator_id, line)
        except RecordingError as exc:
            self.problem = str(exc)

    def retry(self, run: OperatorRun, index: int, reason: str) -> None:
        """Note that an episode is begun again."""
        row = {"operator_id": run.operator_id, "episode_index": index, "reason": reason}
        self._retries.append(row)

    def close(self, status: str) -> None:
        """End the run."""
        if self._recorder is None:
            return
        retries = [*self._recorder.header.get("retries", []), *self._retries]
        try:
            self._recorder.close(status, retries=retries, problem=self.problem or None)
        except RecordingError as exc:
            _log.warning("%s", exc)
