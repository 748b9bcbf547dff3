"""Stores the training runs of a daemon in memory and in the registry, and notifies watchers of changes."""

from __future__ import annotations

import logging
import sqlite3
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gym_gui.core.errors import MosaicError, UnknownNameError, UsageError
from gym_gui.services.trainer.change_notices import Watch, Watchers
from gym_gui.services.trainer.file_follower import Follower
from gym_gui.services.trainer.training_process import TrainingProcess
from gym_gui.services.trainer.training_records import TrainingRecord
from gym_gui.services.trainer.training_registry import RunPlan, RunRegistry

_log = logging.getLogger(__name__)

KEEP_EVERY_S = 5.0
"""Seconds between two saves of a run's progress. A new state is saved at once."""


@dataclass
class Run:
    """A run with its record and its process.

    Attributes:
        record: Current record.
        plan: Values needed to start the run.
        process: The run's process, if there is one.
        events: Follower of the run's events.
        commands: Commands that wait until the training reads commands.
        ending: Whether the trainer is reading the run's outcome.
        killed: Whether a client has killed the run.
        kept_at: Time of the last save on the monotonic clock.
    """

    record: TrainingRecord
    plan: RunPlan
    process: TrainingProcess | None = None
    events: Follower | None = None
    commands: tuple[str, ...] = ()
    ending: bool = False
    killed: bool = False
    kept_at: float = 0.0


class RunStore:
    """All training runs of a data folder, in memory and in the registry.

    Args:
        folder: Folder of the registry.

    Attributes:
        loss: Why the registry may lack a run.

    Raises:
        UsageError: The registry cannot be used.
    """

    def __init__(self, folder: Path) -> None:
        self._registry = RunRegistry(folder)
        self.loss = self._registry.damage or "the registry did not contain it"
        self._runs = {record.run_id: Run(record, plan) for record, plan in self._registry.runs()}
        self._watchers = Watchers()
        self._is_unsaved = False

    def __iter__(self) -> Iterator[Run]:
        return iter(list(self._runs.values()))

    @property
    def records(self) -> list[TrainingRecord]:
        """Records of all runs, oldest first."""
        return sorted((run.record for run in self._runs.values()), key=lambda r: (r.submitted_at, r.run_id))

    def find(self, run_id: str) -> Run | None:
        """Return a run, or ``None`` if there is no such run."""
        return self._runs.get(run_id)

    def get(self, run_id: str) -> Run:
        """Return the run with an id.

        Raises:
            UnknownNameError: There is no such run.
        """
        run = self._runs.get(run_id)
        if run is None:
            hint = "See the list of runs" if self._runs else "There are no runs yet"
            raise UnknownNameError("training run", run_id, (), hint=hint)
        return run

    def active(self, run_id: str) -> Run:
        """Return a run that is not over.

        Raises:
            UsageError: There is no such run, or it is over.
        """
        run = self.get(run_id)
        if run.record.has_ended:
            raise UsageError(
                f"run {run_id} is over ({run.record.state})", fix="Resume it, or start a new one"
            )
        return run

    def ended_run(self, run_id: str) -> Run:
        """Return a run that is over.

        Raises:
            UsageError: There is no such run, or it is not over.
        """
        run = self.get(run_id)
        if not run.record.has_ended:
            raise UsageError(f"run {run_id} is not over ({run.record.state})", fix="Stop it first")
        return run

    def add(self, run: Run) -> None:
        """Add a new run, or one that is resumed, and save it.

        Raises:
            MosaicError: The run cannot be saved.
        """
        try:
            self._registry.put(run.record, run.plan)
        except sqlite3.Error as error:
            problem = f"the run cannot be saved in {self._registry.path}: {error}"
            raise MosaicError(problem, fix="Free some space there") from error
        run.kept_at = time.monotonic()
        self._runs[run.record.run_id] = run
        self._watchers.send(run.record)

    def change(self, run: Run, **changes: Any) -> None:
        """Change fields of a run's record."""
        self.update(run, replace(run.record, **changes))

    def update(self, run: Run, record: TrainingRecord) -> None:
        """Replace a run's record, and save it if its state or reason is new."""
        before, run.record = run.record, record
        if record == before:
            return
        if (record.state, record.reason) != (before.state, before.reason):
            self.save(run)
        self._watchers.send(record)

    def save(self, run: Run) -> None:
        """Save a run in the registry."""
        run.kept_at = time.monotonic()
        try:
            self._registry.put(run.record, run.plan)
            self._is_unsaved = False
        except sqlite3.Error as error:  # such as a full disk; the folder has the facts, and this is retried
            if not self._is_unsaved:
                _log.warning("the registry cannot be written: %s", error)
            self._is_unsaved = True

    def save_progress(self) -> None:
        """Save the runs whose last save is more than :data:`KEEP_EVERY_S` seconds ago."""
        now = time.monotonic()
        for run in self:
            if (not run.record.has_ended or self._is_unsaved) and now - run.kept_at > KEEP_EVERY_S:
                self.save(run)

    def remove(self, run: Run) -> None:
        """Remove a run."""
        self._registry.remove(run.record.run_id)
        self._runs.pop(run.record.run_id, None)
        self._watchers.send(replace(run.record, state="removed"))

    def watch(self) -> Watch:
        """Return a watch that yields every run once, then each change. End it with :meth:`unwatch`."""
        watch = self._watchers.add()
        for record in self.records:
            watch.send(record)
        return watch

    def unwatch(self, watch: Watch) -> None:
        """Stop sending changes to a watch."""
        self._watchers.drop(watch)

    def close(self) -> None:
        """Save all runs that are not over, and close the registry."""
        for run in self:
            if not run.record.has_ended:
                self.save(run)
        self._registry.close()
