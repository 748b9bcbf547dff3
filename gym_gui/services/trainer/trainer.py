"""The trainer, which the daemon serves: it manages all training runs from submission to end.

Runs wait in the queue, are launched as separate processes when there is room on the machine, and are
followed through the files in their folders. The trainer may end at any time, because the registry and the
folders contain all that the next trainer needs.
"""

from __future__ import annotations

import asyncio
import logging
import shutil
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from gym_gui.core.clock import new_ulid
from gym_gui.core.errors import MissingDependencyError, MosaicError, UsageError
from gym_gui.services.store import Store
from gym_gui.services.trainer.admission import Admission
from gym_gui.services.trainer.change_notices import Watch
from gym_gui.services.trainer.queue import CAPACITY, Machine, RunQueue
from gym_gui.services.trainer.queue_entry import CANCELLED, HELD, QueueEntry, write_entry
from gym_gui.services.trainer.recovery import recover_runs
from gym_gui.services.trainer.remote_runs import pass_request
from gym_gui.services.trainer.remote_training import forget
from gym_gui.services.trainer.run_store import Run, RunStore
from gym_gui.services.trainer.supervision import Supervision
from gym_gui.services.trainer.training_folder import REQUEST, RunFolder
from gym_gui.services.trainer.training_records import DEFAULT_LIMITS, RunLimits, TrainingRecord
from gym_gui.services.trainer.training_registry import RunPlan
from gym_gui.services.trash import move_to_trash
from gym_gui.services.worker_orchestrator import UnifiedRunConfig

_log = logging.getLogger(__name__)

REMOVED = "removed"
"""Folder beside the run folders for removed runs if there is no trash."""


class Trainer:
    """Manages the runs of one data folder. Use it from one event loop.

    Args:
        store: Provides the data folder.
        machine: Resources to distribute; by default, those of this machine.
        capacity: Largest number of runs that may wait.

    Attributes:
        folder: Folder of the run folders.
        queue: The waiting runs, and the resources of the running ones.

    Raises:
        UsageError: The registry cannot be used.
    """

    def __init__(self, store: Store, machine: Machine | None = None, capacity: int = CAPACITY) -> None:
        self.folder = store.data_dir("training")
        self._admission = Admission()
        self.queue = RunQueue(machine or Machine.here(self._admission.gpus), capacity)
        self._run_store = RunStore(self.folder)
        self._supervision = Supervision(self._run_store, self.queue, self._admission, self.folder)

    async def start(self) -> None:
        """Take over the runs of an earlier trainer, and begin to start waiting runs."""
        known = {record.run_id for record in self._run_store.records}
        for record, plan in await asyncio.to_thread(recover_runs, self.folder, known, self._run_store.loss):
            self._run_store.add(Run(record, plan))
        for run in self._run_store:
            await self._supervision.resume(run)
        self._supervision.start()

    async def close(self) -> None:
        """End the supervision and close the registry. Trainings continue."""
        await self._supervision.close()
        self._run_store.close()

    @property
    def busy(self) -> bool:
        """Whether some run on this machine waits or runs."""
        return any(not run.record.has_ended and not run.record.place for run in self._run_store)

    # -- requests of clients ---------------------------------------------------------------

    async def submit(
        self,
        config: UnifiedRunConfig,
        *,
        title: str = "",
        priority: int = 0,
        limits: RunLimits = DEFAULT_LIMITS,
        resume_of: str = "",
    ) -> str:
        """Queue a training.

        Args:
            config: The training to run. For a resumed run, settings to change.
            title: Title for people.
            priority: Runs with a higher priority start first.
            limits: Resources that the run may use.
            resume_of: Id of a finished run to resume in its folder and under its id.

        Returns:
            Id of the run.

        Raises:
            UsageError: The training is invalid. The message says what to change.
            QueueFullError: Too many runs wait already.
            MosaicError: The run's files cannot be written.
        """
        self.queue.check_length()
        self.queue.check(limits)
        earlier = self._run_store.ended_run(resume_of).record if resume_of else None
        run_id = resume_of or new_ulid()
        folder = earlier.folder if earlier else self.folder / run_id
        admitted = await asyncio.to_thread(
            self._admission.admit,
            config,
            folder,
            limits,
            earlier,
            run_id=run_id,
            title=title,
            share_mb=self.queue.machine.share_mb(limits.cpu_cores),
        )
        self.queue.check(admitted.limits)
        self.queue.check_length()
        if resume_of:
            self._run_store.ended_run(resume_of)  # another client may have resumed it in the meantime
        record = replace(
            earlier or admitted.record(run_id, folder),
            settings=admitted.settings,
            limits=admitted.limits,
            title=admitted.request.title,
            priority=priority,
            submitted_at=time.time(),
            state="queued",
            reason="",
            started_at=None,
            ended_at=None,
            warning="",
            place="",
        )
        run = Run(record, RunPlan(resume=earlier is not None))
        try:
            # Written first, so that the run is found again even if the registry is lost.
            self._save_entry(run, admitted.request.row(admitted.limits))
            self._run_store.add(run)
        except MosaicError:
            if earlier is None:  # else a run would be found again that no client knows of
                RunFolder(folder).discard()
            raise
        self._supervision.enqueue(run)
        return run_id

    def _save_entry(self, run: Run, request: Mapping[str, Any] | None = None, **changes: Any) -> None:
        """Write a run's queue entry to its folder, and optionally its request.

        Raises:
            MosaicError: The files cannot be written.
        """
        record = run.record
        folder = RunFolder(record.folder)
        place = QueueEntry(record.submitted_at, record.priority, run.plan.resume)
        try:
            record.folder.mkdir(parents=True, exist_ok=True)
            write_entry(folder, replace(place, **changes))
            if request is not None:
                folder.write(REQUEST, request)
        except OSError as error:
            problem = f"the run cannot be saved in {record.folder}: {error.strerror}"
            raise MosaicError(problem, fix="Free some space there") from error

    async def cancel(self, run_id: str) -> None:
        """Ask a run to save its policy and end. A second call kills it at once.

        Raises:
            UsageError: There is no such run, or it is over.
            MosaicError: The cancellation of a waiting run cannot be written.
        """
        run = self._run_store.active(run_id)
        if run.record.place:
            pass_request(run.record, "stop")
            self._run_store.change(run, state="stopping", reason="asked to stop")
            return
        self._keep_cancelled(run)
        if run.record.started_at is None:
            self._supervision.finish(run, "stopped", CANCELLED)
        elif run.record.state == "stopping" and run.process is not None:
            run.killed = True
            await asyncio.to_thread(run.process.kill)
        elif run.record.state != "stopping":
            if run.process is not None:
                with suppress(UsageError):  # the run has just ended
                    run.process.ask("stop")  # at once, as the runner's grace period begins now
            if run.process is None or run.record.state == "starting":
                self._supervision.command(run, "stop")  # again once the training reads commands
            self._run_store.change(run, state="stopping", reason="asked to stop")
        self._supervision.wake()

    def _keep_cancelled(self, run: Run) -> None:
        """Record the cancellation in the run's folder, in case this process or the registry is lost."""
        try:
            self._save_entry(run, cancelled_at=time.time())
        except MosaicError:
            if run.record.started_at is None:
                raise
            _log.exception(
                "the cancellation of run %s could not be recorded", run.record.run_id
            )  # the run is stopped nevertheless

    async def control(self, run_id: str, command: str) -> None:
        """Send ``pause``, ``resume`` or ``checkpoint`` to a run.

        A waiting run that is paused does not start until it is resumed.

        Raises:
            UsageError: There is no such run, or its state does not allow the command.
        """
        run = self._run_store.active(run_id)
        if command not in ("pause", "resume", "checkpoint"):
            raise UsageError(f"a run accepts pause, resume or checkpoint, not {command!r}")
        if run.record.state == "stopping":
            raise UsageError(f"run {run_id} is stopping", fix="Wait until it has stopped, then resume it")
        if run.record.place:
            pass_request(run.record, command)
            return
        if run.record.started_at is not None:
            self._supervision.command(run, command)
            return
        if command == "checkpoint":
            raise UsageError(f"run {run_id} has not begun", fix="Wait until it has begun")
        held = command == "pause"
        self.queue.set_paused(run_id, held)
        self._save_entry(run, held=held)
        reason = HELD if held else ""
        self._run_store.change(run, state="paused" if held else "queued", reason=reason, position=0)
        self._supervision.wake()

    async def remove(self, run_id: str) -> None:
        """Remove a run that is over. Its folder goes to the trash if it belongs to the trainer.

        Raises:
            UsageError: There is no such run, or it is not over.
            MosaicError: The folder could not be moved to the trash.
        """
        run = self._run_store.ended_run(run_id)
        folder = run.record.folder
        if folder.is_dir() and folder.parent == self.folder:  # only such folders, whatever the registry says
            await asyncio.to_thread(_throw_away, folder, self.folder / REMOVED)
        forget(self.folder, run_id)
        self._run_store.remove(run)

    def runs(self) -> list[TrainingRecord]:
        """Return the records of all runs, oldest first."""
        return self._run_store.records

    def record(self, run_id: str) -> TrainingRecord:
        """Return the record of one run.

        Raises:
            UnknownNameError: There is no such run.
        """
        return self._run_store.get(run_id).record

    def watch(self) -> Watch:
        """Return a watch that yields every run once, then each change. End it with :meth:`unwatch`."""
        return self._run_store.watch()

    def unwatch(self, watch: Watch) -> None:
        """Stop sending changes to a watch."""
        self._run_store.unwatch(watch)


def _throw_away(folder: Path, aside: Path) -> None:
    try:
        move_to_trash(folder)
    except MissingDependencyError:
        # Without a desktop there is no trash, but users can find the folder here.
        aside.mkdir(exist_ok=True)
        shutil.move(folder, aside / folder.name)
