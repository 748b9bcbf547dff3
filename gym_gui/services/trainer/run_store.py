"""The runs in memory, the registry behind them, and their watchers: changed in one place."""

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
"""How far a run is, is written down so often; what state it is in, at once."""


@dataclass
class Run:
    """A run and what is known of it beside its record.

    Attributes:
        record: The record as it stands.
        plan: What is needed to start the run.
        process: The process that it runs in.
        events: The events that it has written.
        commands: Commands that it could not be told yet.
        ending: Whether the trainer is finding out how it ended.
        killed: Whether a client asked to kill it.
        kept_at: When it was last written down, on the monotonic clock.
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
    """Every run there is.

    Args:
        folder: Where the registry lies.

    Attributes:
        loss: Why a run may be missing from the registry.

    Raises:
        UsageError: The registry cannot be used.
    """

    def __init__(self, folder: Path) -> None:
        self._registry = RunRegistry(folder)
        self.loss = self._registry.damage or "the registry did not know it"
        self._runs = {record.run_id: Run(record, plan) for record, plan in self._registry.runs()}
        self._watchers = Watchers()
        self._unkept = False

    def __iter__(self) -> Iterator[Run]:
        return iter(list(self._runs.values()))

    @property
    def records(self) -> list[TrainingRecord]:
        """Every run, oldest first."""
        return sorted((run.record for run in self._runs.values()), key=lambda r: (r.submitted_at, r.run_id))

    def find(self, run_id: str) -> Run | None:
        """A run, if there is one of that id."""
        return self._runs.get(run_id)

    def get(self, run_id: str) -> Run:
        """A run.

        Raises:
            UnknownNameError: There is none.
        """
        run = self._runs.get(run_id)
        if run is None:
            hint = "The list of runs shows what there is" if self._runs else "There are no runs yet"
            raise UnknownNameError("training run", run_id, (), hint=hint)
        return run

    def active(self, run_id: str) -> Run:
        """A run that is not over.

        Raises:
            UsageError: There is none, or it is.
        """
        run = self.get(run_id)
        if run.record.over:
            raise UsageError(f"run {run_id} is over ({run.record.state})", fix="Resume it, or start it anew")
        return run

    def over(self, run_id: str) -> Run:
        """A run that is over.

        Raises:
            UsageError: There is none, or it is not.
        """
        run = self.get(run_id)
        if not run.record.over:
            raise UsageError(f"run {run_id} is not over ({run.record.state})", fix="Stop it first")
        return run

    def add(self, run: Run) -> None:
        """A new run, or one that begins again.

        Raises:
            MosaicError: It cannot be written down.
        """
        try:
            self._registry.put(run.record, run.plan)
        except sqlite3.Error as error:
            problem = f"the run cannot be written down in {self._registry.path}: {error}"
            raise MosaicError(problem, fix="Make room there") from error
        run.kept_at = time.monotonic()
        self._runs[run.record.run_id] = run
        self._watchers.tell(run.record)

    def change(self, run: Run, **changes: Any) -> None:
        """Something of a run's record is different now."""
        self.update(run, replace(run.record, **changes))

    def update(self, run: Run, record: TrainingRecord) -> None:
        """A run stands like this now; a state or a reason that is new is written down."""
        before, run.record = run.record, record
        if record == before:
            return
        if (record.state, record.reason) != (before.state, before.reason):
            self.keep(run)
        self._watchers.tell(record)

    def keep(self, run: Run) -> None:
        """Write a run down."""
        run.kept_at = time.monotonic()
        try:
            self._registry.put(run.record, run.plan)
            self._unkept = False
        except sqlite3.Error as error:  # no room, say: what is true is in the folder, and it is tried again
            if not self._unkept:
                _log.warning("the registry cannot be written: %s", error)
            self._unkept = True

    def keep_progress(self) -> None:
        """Write down what has not been for a while."""
        now = time.monotonic()
        for run in self:
            if (not run.record.over or self._unkept) and now - run.kept_at > KEEP_EVERY_S:
                self.keep(run)

    def remove(self, run: Run) -> None:
        """Forget a run."""
        self._registry.remove(run.record.run_id)
        self._runs.pop(run.record.run_id, None)
        self._watchers.tell(replace(run.record, state="removed"))

    def watch(self) -> Watch:
        """Every run as it stands, then each that changes; :meth:`unwatch` it later."""
        watch = self._watchers.add()
        for record in self.records:
            watch.tell(record)
        return watch

    def unwatch(self, watch: Watch) -> None:
        """Tell it no more."""
        self._watchers.drop(watch)

    def close(self) -> None:
        """Write everything down and let go of the registry."""
        for run in self:
            if not run.record.over:
                self.keep(run)
        self._registry.close()
