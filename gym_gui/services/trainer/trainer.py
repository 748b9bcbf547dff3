"""The trainer: every run there is, from its submission to its end. What the daemon serves.

Runs wait in the queue, are launched as processes of their own when there is room, and are
followed through the files in their folders. The trainer may go at any time: what it needs to
go on is in the registry and in the folders.
"""

from __future__ import annotations

import asyncio
import logging
import shutil
import sqlite3
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ulid import ULID

import mosaic_worker.training
from gym_gui.core.errors import MissingDependencyError, MosaicError, UnknownNameError, UsageError
from gym_gui.services.store import Store
from gym_gui.services.trainer.admission import Admission
from gym_gui.services.trainer.folder import EVENTS, RUNNER, Follower, RunFolder
from gym_gui.services.trainer.outside import Sign, after_sign, overdue, registration, sign_of
from gym_gui.services.trainer.process import TrainingProcess
from gym_gui.services.trainer.queue import CAPACITY, Claim, Grant, Machine, RunQueue
from gym_gui.services.trainer.reading import after_event
from gym_gui.services.trainer.records import DEFAULT_LIMITS, RunLimits, RunRecord, RunState
from gym_gui.services.trainer.recovery import found_again
from gym_gui.services.trainer.registry import RunPlan, RunRegistry
from gym_gui.services.trainer.usage import UsageMeter, available_mb
from gym_gui.services.trainer.watching import Watch, Watchers
from gym_gui.services.trash import throw_away
from gym_gui.services.worker_orchestrator import UnifiedRunConfig

_log = logging.getLogger(__name__)

_LOOK_S = 0.25
_CALM_S = 1.0
_USAGE_EVERY_S = 2.0
_KEEP_EVERY_S = 5.0


@dataclass
class _Run:
    """A run and what is known of it beside its record."""

    record: RunRecord
    plan: RunPlan
    process: TrainingProcess | None = None
    events: Follower | None = None
    kept_at: float = 0.0
    heard_at: float = 0.0
    wishes: tuple[str, ...] = ()
    ending: bool = False


class Trainer:
    """Runs of one data folder. Use it from one event loop.

    Args:
        store: Where its folder is.
        machine: What there is to hand out; by default, this machine.
        capacity: How many runs may wait.

    Raises:
        UsageError: The registry cannot be used.
    """

    def __init__(self, store: Store, machine: Machine | None = None, capacity: int = CAPACITY) -> None:
        self.folder = store.data_dir("training")
        self._admission = Admission(self.folder)
        machine = machine or Machine.here(self._admission.gpus)
        self.queue = RunQueue(machine, capacity)
        self._registry = RunRegistry(self.folder)
        self._runs: dict[str, _Run] = {}
        self._watchers = Watchers()
        self._meter = UsageMeter()
        self._measured = 0.0
        self._wake = asyncio.Event()
        self._launching = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()
        self._loop: asyncio.Task[None] | None = None
        self._unkept = False

    # -- its life --------------------------------------------------------------------------

    async def start(self) -> None:
        """Take up what an earlier trainer left, and begin to hand out room."""
        for record, plan in self._registry.runs():
            self._runs[record.run_id] = _Run(record, plan)
        if self._registry.damage:
            found = await asyncio.to_thread(lambda: list(found_again(self.folder, self._registry.damage)))
            for record in found:
                self._runs[record.run_id] = run = _Run(record, RunPlan())
                self._keep(run)
        for run in list(self._runs.values()):
            await self._take_up(run)
        self._loop = asyncio.get_running_loop().create_task(self._keep_on())

    async def close(self) -> None:
        """Let go of everything; trainings go on."""
        tasks = [*self._tasks, *([self._loop] if self._loop else [])]
        if self._loop is not None:
            self._loop.cancel()
        # A launch that has begun is carried through, so that what it started is known next time.
        await asyncio.gather(*tasks, return_exceptions=True)
        for run in self._runs.values():
            self._keep(run)
        self._registry.close()

    @property
    def live(self) -> int:
        """Runs that hold a place on the machine."""
        return sum(1 for run in self._runs.values() if not run.record.over and run.record.state != "queued")

    @property
    def busy(self) -> bool:
        """There is something to do or to wait for."""
        return any(not run.record.over for run in self._runs.values())

    async def _take_up(self, run: _Run) -> None:
        record = run.record
        if record.over:
            return
        if record.external:
            run.heard_at = time.monotonic()
            self._follow_outside(run)
            return
        if record.started_at is None:
            self._enqueue(run)
            return
        try:
            run.process = await asyncio.to_thread(TrainingProcess.attach, record.folder)
        except MosaicError as error:
            if record.state == "starting" and record.folder.exists():
                self._change(run, state="queued", reason="", started_at=None)
                self._enqueue(run)
            else:
                self._finish(run, "failed", f"what it left cannot be read: {error}")
            return
        self._follow(run)
        cores = run.plan.cores if set(run.plan.cores) <= set(self.queue.machine.cores) else ()
        memory = record.limits.memory_mb or Claim().memory_mb
        gpus = tuple(filter(None, record.gpu.split(",")))
        elsewhere = 0 if cores else record.limits.cpu_cores
        self.queue.occupy(record.run_id, Grant(cores, memory, gpus, elsewhere))

    # -- what is asked of it -----------------------------------------------------------------

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
            config: What to train; of a run that is resumed, settings that change.
            title: What a person calls it.
            priority: Higher runs first.
            limits: What it may use.
            resume_of: A run that is over, to go on with in its folder and under its id.

        Returns:
            The run's id.

        Raises:
            UsageError: It cannot be carried out as it is; says what to change.
            QueueFullError: Too many wait already.
        """
        self.queue.check_room()
        self.queue.check(limits)
        earlier = self._over(resume_of) if resume_of else None
        run_id = resume_of or str(ULID())
        folder = earlier.record.folder if earlier else self.folder / run_id
        admitted = await asyncio.to_thread(
            self._admission.admit, config, folder, limits, earlier.record if earlier else None
        )
        self.queue.check(admitted.limits)
        self.queue.check_room()
        if earlier is not None and not earlier.record.over:
            raise UsageError(f"run {run_id} goes on already", fix="Look at the list of runs")
        record = replace(
            earlier.record if earlier else admitted.record(run_id, folder),
            settings=admitted.settings,
            limits=admitted.limits,
            title=title or (earlier.record.title if earlier else ""),
            priority=priority,
            submitted_at=time.time(),
        )
        # A state that is new is written down in any case, though the run was queued before.
        record = replace(
            record, state="queued", reason="", started_at=None, ended_at=None, cpu_percent=0.0, memory_mb=0.0
        )
        run = _Run(record, RunPlan(resume=earlier is not None))
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._registry.put(record, run.plan)
        except (OSError, sqlite3.Error) as error:
            raise MosaicError(
                f"the run cannot be written down in {self.folder}: {error}", fix="Make room there"
            ) from error
        self._runs[run_id] = run
        self._enqueue(run)
        self._tell(run)
        return run_id

    async def cancel(self, run_id: str) -> None:
        """Ask a run to keep what it has and end; asked again, it is killed at once.

        Raises:
            UsageError: There is no such run, or it is over.
        """
        run = self._active(run_id)
        state = run.record.state
        if run.record.started_at is None:
            self.queue.drop(run_id)
            self._finish(run, "stopped", "cancelled before it began")
        elif state == "stopping" and run.process is not None:
            await asyncio.to_thread(run.process.kill)
        else:
            self._change(run, state="stopping", reason="asked to stop")
            self._wish(run, "stop")
        self._wake.set()

    async def control(self, run_id: str, wish: str) -> None:
        """``pause``, ``resume`` or ``checkpoint``.

        A run that waits is kept from starting while it is paused.

        Raises:
            UsageError: There is no such run, or it is not in a state to do so.
        """
        run = self._active(run_id)
        record = run.record
        if wish not in ("pause", "resume", "checkpoint"):
            raise UsageError(f"a run can be told pause, resume or checkpoint, not {wish!r}")
        if record.state == "stopping":
            raise UsageError(f"run {run_id} is stopping", fix="Resume it once it has stopped")
        if record.started_at is None and not record.external:
            if wish == "checkpoint":
                raise UsageError(f"run {run_id} has not begun", fix="There is nothing to keep yet")
            self.queue.hold(run_id, wish == "pause")
            held = wish == "pause"
            self._change(
                run, state="paused" if held else "queued", reason="paused before it began" if held else ""
            )
            self._wake.set()
        else:
            self._wish(run, wish)

    async def remove(self, run_id: str) -> None:
        """Forget a run that is over; its folder goes to the trash, that of an outsider stays.

        Raises:
            UsageError: There is no such run, or it is not over.
            MosaicError: The folder could not be thrown away.
        """
        run = self._over(run_id)
        folder = run.record.folder
        if not run.record.external and folder.is_dir():
            await asyncio.to_thread(_throw_away, folder, self.folder)
        self._registry.remove(run_id)
        self._runs.pop(run_id, None)
        self._watchers.tell(replace(run.record, state="removed"))

    def runs(self) -> list[RunRecord]:
        """Every run, oldest first."""
        return sorted((run.record for run in self._runs.values()), key=lambda r: (r.submitted_at, r.run_id))

    def record(self, run_id: str) -> RunRecord:
        """One run.

        Raises:
            UnknownNameError: There is none.
        """
        return self._get(run_id).record

    def watch(self) -> Watch:
        """Every run as it stands, then each that changes; :meth:`unwatch` it later."""
        watch = self._watchers.add()
        for record in self.runs():
            watch.tell(record)
        return watch

    def unwatch(self, watch: Watch) -> None:
        """Tell it no more."""
        self._watchers.drop(watch)

    # -- runs that were started elsewhere ------------------------------------------------------

    def register(self, data: Mapping[str, Any]) -> tuple[str, float]:
        """A training that somebody else started makes itself known.

        Returns:
            Its id, and the seconds in which a sign of it is expected.

        Raises:
            UsageError: What it says of itself is not enough, or makes no sense.
        """
        known = str(data.get("run_id", ""))
        record, plan = registration(data, self.folder, known or str(ULID()))
        before = self._runs.get(known)
        if known and before is not None and not before.record.external:
            raise UsageError(f"run {known} was not started elsewhere", fix="Register without run_id")
        run = _Run(record, plan, heard_at=time.monotonic())
        self._runs[record.run_id] = run
        self.queue.occupy(record.run_id, Grant(elsewhere=record.limits.cpu_cores))
        self._keep(run)
        self._follow_outside(run)
        self._tell(run)
        self._wake.set()
        return record.run_id, plan.every_s

    def heartbeat(self, run_id: str, data: Mapping[str, Any]) -> tuple[str, ...]:
        """A sign of such a training.

        Returns:
            What it is asked: ``pause``, ``resume``, ``checkpoint``, ``stop``.

        Raises:
            UsageError: There is no such run, or what it says makes no sense.
        """
        run = self._get(run_id)
        if not run.record.external:
            raise UsageError(f"run {run_id} was not started elsewhere", fix="Register first")
        sign: Sign = sign_of(data)
        run.heard_at = time.monotonic()
        if sign.state in ("completed", "stopped", "failed"):
            self._update(run, after_sign(run.record, sign))
            self._finish(run, sign.state, sign.reason)
        elif run.record.state in ("completed", "stopped"):
            raise UsageError(f"run {run_id} is over", fix="Register anew")
        else:
            if run.record.over:  # it was given up too early
                self.queue.occupy(run_id, Grant(elsewhere=run.record.limits.cpu_cores))
                self._change(run, state="running", reason="", ended_at=None)
            self._update(run, after_sign(run.record, sign))
        wishes, run.wishes = run.wishes, ()
        return wishes

    # -- the loop ----------------------------------------------------------------------------

    async def _keep_on(self) -> None:
        while True:
            try:
                self._look()
            except Exception:  # one bad run must not end the others' supervision
                _log.exception("looking after the runs failed; it is tried again")
            self._wake.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._wake.wait(), _LOOK_S if self.live else _CALM_S)

    def _look(self) -> None:
        now = time.monotonic()
        for run in list(self._runs.values()):
            if run.record.over or run.record.state == "queued":
                continue
            self._hear(run)
            if run.record.external:
                self._watch_outside(run, now)
            elif run.process is not None and not run.ending and not run.process.alive:
                run.ending = True
                self._spawn(self._end(run))
        if now - self._measured >= _USAGE_EVERY_S and self.live:
            self._measured = now
            self._measure()
        if len(self.queue):
            free = available_mb()
            for run_id, grant in self.queue.start(time.time(), free):
                run = self._runs[run_id]
                run.plan = replace(run.plan, cores=grant.cores)
                gpu = ",".join(grant.gpus)
                self._change(run, state="starting", reason="", started_at=time.time(), gpu=gpu, position=0)
                self._spawn(self._launch(run, grant))
            self._place(free)
        for run in self._runs.values():
            if not run.record.over and now - run.kept_at > _KEEP_EVERY_S:
                self._keep(run)

    def _place(self, free_mb: float) -> None:
        """Tell those that wait where they stand and what they wait for."""
        for position, run_id in enumerate(self.queue.order(time.time()), 1):
            run = self._runs[run_id]
            if run.record.state == "queued":
                lacks = self.queue.lacking(run_id, free_mb)
                reason = f"waits for {lacks}" if lacks else "waits for its turn"
                self._change(run, position=position, reason=reason)

    def _measure(self) -> None:
        roots = {
            run.process.pid: run
            for run in self._runs.values()
            if run.process is not None and not run.record.over and not run.ending
        }
        for pid, usage in self._meter.measure(roots).items():
            run = roots[pid]
            self.queue.uses(run.record.run_id, usage.memory_mb)
            self._change(run, cpu_percent=round(usage.cpu_percent, 1), memory_mb=round(usage.memory_mb, 1))

    # -- the life of one run -------------------------------------------------------------------

    async def _launch(self, run: _Run, grant: Grant) -> None:
        record = run.record
        try:
            async with self._launching:
                run.process = await asyncio.to_thread(self._start_process, run, grant)
        except MosaicError as error:
            self._finish(run, "failed", str(error))
            return
        except Exception as error:  # whatever is wrong, it is this run's end alone
            _log.exception("run %s could not be started", record.run_id)
            self._finish(run, "failed", f"it could not be started: {type(error).__name__}: {error}")
            return
        self._follow(run)
        if run.record.state == "stopping":
            self._wish(run, "stop")
        self._wake.set()

    def _start_process(self, run: _Run, grant: Grant) -> TrainingProcess:
        request = self._admission.request(run.record, run.plan)
        return TrainingProcess.launch(request, run.record.limits, cores=grant.cores, gpus=grant.gpus)

    def _follow(self, run: _Run) -> None:
        runner = RunFolder(run.record.folder).read(RUNNER) or {}
        run.events = Follower(run.record.folder / EVENTS, int(runner.get("events_at", 0)))
        self._hear(run)

    def _follow_outside(self, run: _Run) -> None:
        if run.record.folder.is_dir():
            run.events = Follower(run.record.folder / EVENTS)

    def _hear(self, run: _Run) -> None:
        if run.events is None:
            return
        while rows := run.events.read():
            record = run.record
            for row in rows:
                record = after_event(record, row)
                if record.external and row.get("event") == "done":
                    run.plan = replace(run.plan, said=str(row.get("status", "completed")))
            self._update(run, record)
            run.heard_at = time.monotonic()

    async def _end(self, run: _Run) -> None:
        assert run.process is not None
        try:
            outcome = await asyncio.to_thread(run.process.outcome)
        except Exception as error:
            _log.exception("how run %s ended cannot be read", run.record.run_id)
            self._finish(run, "failed", f"how it ended cannot be read: {type(error).__name__}: {error}")
            return
        self._hear(run)
        if outcome is None:  # it is there after all
            run.ending = False
            return
        mean = run.record.mean_return if outcome.mean_return is None else outcome.mean_return
        policy = str(run.record.folder) if RunFolder(run.record.folder).holds_policy else ""
        step = max(run.record.step, outcome.step)
        self._change(run, step=step, mean_return=mean, policy=policy, ended_at=outcome.ended_at)
        self._finish(run, outcome.state, outcome.reason)

    def _finish(self, run: _Run, state: RunState, reason: str) -> None:
        run.process = run.events = None
        run.ending = False
        self.queue.release(run.record.run_id)
        self._change(
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
        self._keep(run)
        self._wake.set()

    def _wish(self, run: _Run, wish: str) -> None:
        if run.process is not None:
            run.process.ask(wish)
        elif run.record.external:
            if run.events is not None:
                with suppress(OSError):
                    mosaic_worker.training.ask(run.record.folder, wish)
            else:
                run.wishes = (*run.wishes, wish)
        elif wish != "stop":
            raise UsageError(f"run {run.record.run_id} is just starting", fix="Try again in a moment")

    def _watch_outside(self, run: _Run, now: float) -> None:
        if run.plan.said:
            self._finish(run, "completed" if run.plan.said == "completed" else "stopped", "")
        elif why := overdue(now - run.heard_at, run.plan):
            self._finish(run, "failed", why)

    def _enqueue(self, run: _Run) -> None:
        record = run.record
        held = record.state == "paused"
        self.queue.add(
            record.run_id, Claim.of(record.limits), record.priority, record.submitted_at, held=held
        )
        self._wake.set()

    # -- records -------------------------------------------------------------------------------

    def _change(self, run: _Run, **changes: Any) -> None:
        self._update(run, replace(run.record, **changes))

    def _update(self, run: _Run, record: RunRecord) -> None:
        before, run.record = run.record, record
        if record == before:
            return
        if (record.state, record.reason) != (before.state, before.reason):
            self._keep(run)
        self._tell(run)

    def _keep(self, run: _Run) -> None:
        run.kept_at = time.monotonic()
        try:
            self._registry.put(run.record, run.plan)
            self._unkept = False
        except sqlite3.Error as error:  # no room, say: what is true is in the folder, and it is tried again
            if not self._unkept:
                _log.warning("the registry cannot be written: %s", error)
            self._unkept = True

    def _tell(self, run: _Run) -> None:
        self._watchers.tell(run.record)

    def _get(self, run_id: str) -> _Run:
        run = self._runs.get(run_id)
        if run is None:
            hint = "The list of runs shows what there is" if self._runs else "There are no runs yet"
            raise UnknownNameError("training run", run_id, (), hint=hint)
        return run

    def _active(self, run_id: str) -> _Run:
        run = self._get(run_id)
        if run.record.over:
            raise UsageError(f"run {run_id} is over ({run.record.state})", fix="Resume it, or start it anew")
        return run

    def _over(self, run_id: str) -> _Run:
        run = self._get(run_id)
        if not run.record.over:
            raise UsageError(f"run {run_id} is not over ({run.record.state})", fix="Stop it first")
        return run

    def _spawn(self, work: Any) -> None:
        task: asyncio.Task[None] = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _throw_away(folder: Path, ours: Path) -> None:
    try:
        throw_away(folder)
    except MissingDependencyError:
        # Without a desktop there is no trash; what is ours is moved aside, where a person finds it.
        aside = ours / "removed"
        aside.mkdir(exist_ok=True)
        shutil.move(folder, aside / folder.name)
