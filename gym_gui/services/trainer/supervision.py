"""Supervises training runs: starts waiting runs, follows their events, and records their end."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from gym_gui.core.asyncio_tasks import end_task
from gym_gui.core.errors import MosaicError
from gym_gui.services.trainer.admission import Admission
from gym_gui.services.trainer.file_follower import Follower
from gym_gui.services.trainer.queue import Claim, Grant, RunQueue
from gym_gui.services.trainer.queue_entry import CANCELLED, was_cancelled
from gym_gui.services.trainer.reading import after_event
from gym_gui.services.trainer.remote_runs import RemoteRuns
from gym_gui.services.trainer.run_store import Run, RunStore
from gym_gui.services.trainer.training_folder import EVENTS, RUNNER, RunFolder
from gym_gui.services.trainer.training_outcome import TrainingOutcome
from gym_gui.services.trainer.training_process import TrainingProcess
from gym_gui.services.trainer.training_records import RunState
from gym_gui.services.trainer.usage import UsageMeter, available_mb

_log = logging.getLogger(__name__)

_LOOK_S = 0.25
_CALM_S = 1.0
_USAGE_EVERY_S = 2.0


class Supervision:
    """Background task that starts, follows and ends the training runs.

    Args:
        run_store: Store of the runs.
        queue: Queue of the waiting runs.
        admission: Creates the workers' requests.
        folder: Folder of the run folders.
    """

    def __init__(self, run_store: RunStore, queue: RunQueue, admission: Admission, folder: Path) -> None:
        self._elsewhere = RemoteRuns(folder, run_store, self._finish_with)
        self._run_store, self._queue, self._admission = run_store, queue, admission
        self._meter = UsageMeter()
        self._measured = 0.0
        self._wake = asyncio.Event()
        self._launching = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()
        self._loop: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Start the background task."""
        self._loop = asyncio.get_running_loop().create_task(self._run_loop())

    async def close(self) -> None:
        """End the background task. Running trainings continue."""
        await end_task(self._loop)
        # A launch that has begun is finished, so that the next daemon knows the process.
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def wake(self) -> None:
        """Make the background task check the runs at once."""
        self._wake.set()

    # -- runs of an earlier daemon -----------------------------------------------------------

    async def resume(self, run: Run) -> None:
        """Resume the supervision of a run from an earlier daemon."""
        record = run.record
        if record.has_ended or record.place:
            return
        if record.started_at is None:
            if self._cancelled(run):
                self.finish(run, "stopped", CANCELLED)
            else:
                self.enqueue(run)
        elif (process := await asyncio.to_thread(self._attached, run)) is not None:
            run.process = process
            cores = run.plan.cores if set(run.plan.cores) <= set(self._queue.machine.cores) else ()
            memory = record.limits.memory_mb or Claim().memory_mb
            gpus = tuple(filter(None, record.gpu.split(",")))
            elsewhere = 0 if cores else record.limits.cpu_cores
            self._queue.occupy(record.run_id, Grant(cores, memory, gpus, elsewhere))
            self._follow(run)
            if self._cancelled(run) and process.alive:
                self._run_store.change(run, state="stopping", reason="asked to stop")
                with suppress(MosaicError):  # the run has just ended
                    self.command(run, "stop")
        elif self._cancelled(run):
            self.finish(run, "stopped", CANCELLED)
        elif record.state == "starting" and record.folder.is_dir():  # its process was never started
            self._run_store.change(run, state="queued", reason="", started_at=None)
            self.enqueue(run)
        else:
            self.finish(run, "failed", f"its run folder {record.folder} does not record how it ended")

    def _cancelled(self, run: Run) -> bool:
        """Return whether the run's folder records a cancellation, also one that the registry lacks."""
        try:
            return was_cancelled(RunFolder(run.record.folder))
        except MosaicError as error:
            _log.warning("run %s: %s", run.record.run_id, error)
            return False

    def _attached(self, run: Run) -> TrainingProcess | None:
        try:
            process = TrainingProcess.attach(run.record.folder)
        except MosaicError as error:
            _log.warning("run %s: %s", run.record.run_id, error)
            return None
        # For a resumed run, the process may be that of the earlier training.
        began = run.record.state in ("starting", "stopping") and run.record.started_at
        return None if began and process.started_at < began else process

    # -- the loop ----------------------------------------------------------------------------

    async def _run_loop(self) -> None:
        while True:
            try:
                self._check_runs()
            except Exception:  # one bad run must not end the others' supervision
                _log.exception("supervising the runs failed; it is tried again")
            self._wake.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._wake.wait(), _LOOK_S if self._queue.running else _CALM_S)

    def _check_runs(self) -> None:
        now = time.monotonic()
        self._elsewhere.update(now)
        for run in self._run_store:
            if run.record.has_ended or run.record.state == "queued":
                continue
            self._apply_events(run)
            if run.process is not None and not run.ending and not run.process.alive:
                run.ending = True
                self._spawn(self._end(run))
        if now - self._measured >= _USAGE_EVERY_S and self._queue.running:
            self._measured = now
            self._measure()
        if len(self._queue):
            self._start_waiting()
        self._run_store.save_progress()

    def _start_waiting(self) -> None:
        free_mb, now = available_mb(), time.time()
        for run_id, grant in self._queue.start(now, free_mb):
            run = self._run_store.get(run_id)
            run.plan = replace(run.plan, cores=grant.cores)
            gpu = ",".join(grant.gpus)
            self._run_store.change(run, state="starting", reason="", started_at=now, gpu=gpu, position=0)
            self._spawn(self._launch(run, grant))
        for position, run_id in enumerate(self._queue.order(now), 1):
            run = self._run_store.get(run_id)
            if run.record.state == "queued":
                lacks = self._queue.lacking(run_id, free_mb)
                reason = f"waits for {lacks}" if lacks else "waits for its turn"
                self._run_store.change(run, position=position, reason=reason)

    def _measure(self) -> None:
        roots = {
            run.process.pid: run for run in self._run_store if run.process is not None and not run.ending
        }
        for pid, usage in self._meter.measure(roots).items():
            run = roots[pid]
            self._queue.uses(run.record.run_id, usage.memory_mb)
            cpu, memory = round(usage.cpu_percent, 1), round(usage.memory_mb, 1)
            self._run_store.change(run, cpu_percent=cpu, memory_mb=memory)

    # -- one run -----------------------------------------------------------------------------

    def enqueue(self, run: Run) -> None:
        """Add a run to the queue."""
        r = run.record
        claim = Claim.of(r.limits)
        self._queue.add(r.run_id, claim, r.priority, r.submitted_at, held=r.state == "paused")
        self.wake()

    async def _launch(self, run: Run, grant: Grant) -> None:
        try:
            async with self._launching:
                run.process = await asyncio.to_thread(self._start_process, run, grant)
        except MosaicError as error:
            self.finish(run, "failed", str(error))
            return
        except Exception as error:  # whatever is wrong ends only this run
            _log.exception("run %s could not be started", run.record.run_id)
            self.finish(run, "failed", f"it could not be started: {type(error).__name__}: {error}")
            return
        self._follow(run)
        if run.record.state == "stopping":
            with suppress(MosaicError):  # the run has just ended
                self.command(run, "stop")

    def _start_process(self, run: Run, grant: Grant) -> TrainingProcess:
        request = self._admission.request(run.record, run.plan)
        return TrainingProcess.launch(request, run.record.limits, cores=grant.cores, gpus=grant.gpus)

    def _follow(self, run: Run) -> None:
        runner = RunFolder(run.record.folder).read(RUNNER) or {}
        run.events = Follower(run.record.folder / EVENTS, int(runner.get("events_at", 0)))
        self._apply_events(run)

    def _apply_events(self, run: Run) -> None:
        while run.events is not None and (rows := run.events.read()):
            record, began = run.record, False
            for row in rows:
                record = after_event(record, row)
                began = began or row.get("event") == "start"
            self._run_store.update(run, record)
            if began:  # the training reads commands from now on
                commands, run.commands = run.commands, ()
                for command in commands:
                    with suppress(MosaicError):  # the run has just ended
                        self.command(run, command)

    def command(self, run: Run, command: str) -> None:
        """Send a command to a training, or keep the command until the training reads commands.

        Raises:
            MosaicError: The training is over, or its folder cannot be written.
        """
        if run.process is None or run.record.state == "starting":
            run.commands = (*run.commands, command)
        else:
            run.process.ask(command)

    async def _end(self, run: Run) -> None:
        assert run.process is not None
        try:
            outcome = await asyncio.to_thread(run.process.outcome)
        except Exception as error:
            _log.exception("the outcome of run %s cannot be read", run.record.run_id)
            self.finish(run, "failed", f"its outcome cannot be read: {type(error).__name__}: {error}")
            return
        self._apply_events(run)
        if outcome is None:  # the process is still there
            run.ending = False
            return
        self._finish_with(run, outcome)

    def _finish_with(self, run: Run, outcome: TrainingOutcome) -> None:
        found = outcome.mean_return
        about = {} if found is None else {"mean_return": found, "evaluated": True}
        policy = str(run.record.folder) if RunFolder(run.record.folder).holds_policy else ""
        step = max(run.record.step, outcome.step)
        self._run_store.change(run, step=step, policy=policy, ended_at=outcome.ended_at, **about)
        killed = run.killed and outcome.state == "stopped"
        self.finish(run, outcome.state, outcome.reason or ("was killed on request" if killed else ""))

    def finish(self, run: Run, state: RunState, reason: str) -> None:
        """Record the end of a run and free its resources."""
        run.process = run.events = None
        run.ending, run.commands = False, ()
        self._queue.drop(run.record.run_id)
        self._queue.release(run.record.run_id)
        self._run_store.change(
            run,
            state=state,
            reason=reason,
            ended_at=run.record.ended_at or time.time(),
            position=0,
            cpu_percent=0.0,
            memory_mb=0.0,
            steps_per_s=run.record.steps_per_s if state == "completed" else 0.0,
            remaining_s=None,
        )
        self.wake()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
