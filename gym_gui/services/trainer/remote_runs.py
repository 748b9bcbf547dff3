"""Follows runs on other machines for the daemon, through their local run folders."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import mosaic_worker.training
from gym_gui.core.errors import MosaicError, UsageError
from gym_gui.services.trainer import remote_training
from gym_gui.services.trainer.file_follower import Follower
from gym_gui.services.trainer.remote_training import (
    ANNOUNCED,
    RemoteTraining,
    announced,
    read_remote_training,
)
from gym_gui.services.trainer.request import SavedRequest
from gym_gui.services.trainer.run_store import Run, RunStore
from gym_gui.services.trainer.training_folder import EVENTS, RUNNER, RunFolder
from gym_gui.services.trainer.training_outcome import TrainingOutcome, read_outcome
from gym_gui.services.trainer.training_records import RunState, TrainingRecord
from gym_gui.services.trainer.training_registry import RunPlan

_EVERY_S: Final = 1.0

_log = logging.getLogger(__name__)


class RemoteRuns:
    """Adds announced runs on other machines to the store and updates their state.

    Args:
        folder: Folder of the daemon's run folders.
        run_store: Store of the runs.
        finish: Called with a run that has ended and its outcome.
    """

    def __init__(
        self, folder: Path, run_store: RunStore, finish: Callable[[Run, TrainingOutcome], None]
    ) -> None:
        self._folder, self._run_store, self._finish = folder, run_store, finish
        self._looked = -_EVERY_S
        self._announced_at = 0

    def update(self, now: float) -> None:
        """Update the runs, but at most once per second.

        Args:
            now: Present time on the monotonic clock, in seconds.
        """
        if now - self._looked < _EVERY_S:
            return
        self._looked = now
        try:
            changed = (self._folder / ANNOUNCED).stat().st_mtime_ns
        except OSError:
            changed = 0
        if changed != self._announced_at:
            self._announced_at = changed
            for run_id, folder in announced(self._folder).items():
                try:
                    self._add_announced(run_id, folder)
                except MosaicError as error:
                    _log.warning("run %s: %s", run_id, error)
        followed: dict[Path, bool] = {}
        for run in self._run_store:
            if run.record.place and not run.record.has_ended:
                try:
                    self._update_run(run, followed)
                except (MosaicError, OSError) as error:
                    _log.warning("run %s: %s", run.record.run_id, error)

    def _add_announced(self, run_id: str, folder: Path) -> None:
        where, run = read_remote_training(folder), self._run_store.find(run_id)
        if run is None:
            asked = SavedRequest.read(folder)
            record = TrainingRecord(
                run_id,
                asked.worker,
                asked.algorithm,
                asked.env_id,
                asked.seed,
                folder,
                time.time(),
                title=asked.title,
                group=asked.group,
                settings=asked.given,
                place=where.place if where is not None else "elsewhere",
            )
            self._run_store.add(Run(record, RunPlan()))
        elif run.record.has_ended and where is not None and not where.has_ended:  # the run was resumed
            self._run_store.change(run, state="queued", reason="", place=where.place, ended_at=None)

    def _update_run(self, run: Run, followed: dict[Path, bool]) -> None:
        folder = run.record.folder
        where = read_remote_training(folder)
        if run.events is None:
            run.events = Follower(folder / EVENTS)
        if where is None:
            self._end(run, folder)
            return
        if where.has_ended:
            state = "failed" if where.state == remote_training.FAILED else "stopped"
            self._finish(run, TrainingOutcome(state, where.reason))
            return
        if where.submission not in followed:
            followed[where.submission] = where.followed
        self._set_state(run, where, followed[where.submission])

    def _set_state(self, run: Run, where: RemoteTraining, followed: bool) -> None:
        record = run.record
        state: RunState = record.state
        if where.state == remote_training.WAITING:
            state = "queued" if state != "stopping" else state
        elif state == "queued":
            state = "running"
        asked = record.reason if state == "stopping" else ""
        reason = asked or where.reason or (f"waits on {where.place}" if state == "queued" else "")
        changes = {"started_at": time.time()} if state == "running" and record.started_at is None else {}
        if not followed:
            reason = f"no process follows it; to continue, run: {where.resume_command}"
            changes |= {"steps_per_s": 0.0}
        self._run_store.change(run, state=state, reason=reason, place=where.place, **changes)

    def _end(self, run: Run, folder: Path) -> None:
        """Record how a remote run ended, once its files were copied to this machine or deleted."""
        runner = RunFolder(folder).read(RUNNER)
        if runner is None:
            outcome = TrainingOutcome("failed", f"its run folder {folder} does not record how it ended")
        else:
            outcome = read_outcome(RunFolder(folder), runner)
        self._finish(run, outcome)


def pass_request(record: TrainingRecord, wish: str) -> None:
    """Pass a request to a training on another machine, through the training's coordinator.

    Args:
        record: The run.
        wish: ``stop``, ``pause``, ``resume`` or ``checkpoint``.

    Raises:
        UsageError: The training has ended, no coordinator follows it, or ``wish`` is invalid.
        MosaicError: The request cannot be written.
    """
    where = read_remote_training(record.folder)
    if where is None:
        raise UsageError(f"run {record.run_id} has just ended on {record.place}", fix="Check its new state")
    if not where.followed:
        raise UsageError(
            f"no process follows run {record.run_id} on {where.place}",
            fix=f"Resume it: {where.resume_command}",
        )
    try:
        mosaic_worker.training.ask(record.folder, wish)
    except ValueError as error:
        raise UsageError(str(error)) from None
    except OSError as error:
        raise MosaicError(f"the training did not receive {wish}: {error.strerror}") from error
