"""Runs an experiment: plays every operator's episodes in session processes and writes the run folder."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Awaitable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from gym_gui.controllers.engine.resolved_operator import ResolvedOperator
from gym_gui.controllers.engine.session_events import EpisodeFinished, OnSessionEvent
from gym_gui.controllers.engine.session_interface import OpenSession, SessionReady
from gym_gui.controllers.runs.episode_budget import EpisodeBudget
from gym_gui.controllers.runs.interim_looks import InterimLooks
from gym_gui.controllers.runs.matrix_check import without_unstarted
from gym_gui.controllers.runs.model_slots import with_limits, with_recorded_replies
from gym_gui.controllers.runs.operator_execution import (
    MAX_BROKEN_STARTS,
    OnProgress,
    OperatorExecution,
    OperatorProgress,
    RunResult,
)
from gym_gui.controllers.runs.operator_sessions import OperatorSessions
from gym_gui.controllers.runs.reusable_sessions import ReusableSessions
from gym_gui.controllers.runs.run_watch import RunWatch
from gym_gui.controllers.runs.run_writer import RunWriter
from gym_gui.controllers.runs.session_shares import SessionShare
from gym_gui.controllers.runs.session_starts import SessionStarts
from gym_gui.core.config import Experiment, OperatorConfig
from gym_gui.core.errors import UsageError
from gym_gui.core.experiment.execution import EpisodePlan
from gym_gui.core.experiment.spending import Amount
from gym_gui.core.records import SESSION
from gym_gui.services.bootstrap import bootstrap_default_services
from gym_gui.services.runs.recorder import COMPLETED, FAILED, STOPPED
from gym_gui.services.shards.lease_files import LeaseFiles

__all__ = ["OnProgress", "OperatorProgress", "OperatorScriptExecutionManager", "RunResult"]

_log = logging.getLogger(__name__)

KEPT_WARM = 8
"""Largest number of test sessions that stay open for the start of the run."""


class OperatorScriptExecutionManager:
    """Runs an experiment to its end.

    Operators play in order, as many at a time as there are ``processes``; a single operator gets all of them.
    If a session process dies, only the episodes that it had begun are played again. These retries are noted
    in ``run.json``.

    Args:
        experiment: The experiment.
        resolved_operators: The operators of the experiment, checked.
        open_session: Makes a session.
        out: Folder for the new run folder.
        processes: Sessions at work at the same time.
        header: Further fields for ``run.json``.
        made: Further fields, which are known once the run folder is created (machine, commit).
        resume: A run folder to resume, instead of ``out``.
        on_progress: Called with the operators' progress, at most about ten times a second.
        tried: Operators whose sessions are started as a test before anything is played; by default all.
            Sessions of other operators are started when they are needed.
        only: Episodes that are played, by operator; by default all of the schedule.
        kept: Idle sessions of an earlier part of the experiment, which this run may use.
        leased: Files that state how much of the common budgets this shard may spend.
    """

    def __init__(
        self,
        experiment: Experiment,
        resolved_operators: Sequence[ResolvedOperator],
        open_session: OpenSession,
        out: Path,
        *,
        processes: int = 1,
        header: Mapping[str, Any] | None = None,
        made: Awaitable[Mapping[str, Any]] | None = None,
        resume: Path | None = None,
        on_progress: OnProgress | None = None,
        tried: Collection[str] | None = None,
        only: Mapping[str, Collection[int]] | None = None,
        kept: ReusableSessions | None = None,
        leased: LeaseFiles | None = None,
    ) -> None:
        self._experiment, self._tried, self._only = experiment, tried, only
        self._service = bootstrap_default_services().new_operators(self._launch)
        self._service.operators.follow(experiment.execution)
        self._processes = processes
        self._on_progress = on_progress
        self._ledger = RunWriter(out, resume)
        limited = [with_limits(resolved, experiment.execution) for resolved in resolved_operators]
        if resume is not None:
            limited = [with_recorded_replies(resolved, resume) for resolved in limited]
        self._runs = [self._plan(resolved) for resolved in limited]
        totals = {run.operator_id: run.total for run in self._runs}
        self._made = made
        self._header: dict[str, Any] = {**(header or {}), "episodes": totals, "processes": processes}
        # Episodes that were chosen beforehand are all played, even if comparisons are decided earlier.
        execution = experiment.execution
        looked_at = execution if only is None else replace(execution, until="all", batch=None)
        self._looks = InterimLooks(looked_at, self._runs, self._ledger)
        self._episode_budget = EpisodeBudget(experiment, self._runs, leased)
        self._starts = SessionStarts(self, experiment, open_session, self.introduce, kept)
        self._sessions = {run.operator_id: OperatorSessions(self, self._starts, run) for run in self._runs}
        self._changed = asyncio.Event()
        self._watch = RunWatch()
        self.stopping = self.in_haste = self._held_up = False
        self._shown = 0.0

    def _plan(self, resolved: ResolvedOperator) -> OperatorExecution:
        operator_id = resolved.config.operator_id
        self._service.add_operator(resolved.config)
        chosen = None if self._only is None else self._only.get(operator_id, ())
        schedule = self._service.operators.schedule(operator_id, len(resolved.seatings), chosen)
        done, failed = self._ledger.done(operator_id), self._ledger.failed(operator_id)
        pending = deque(plan for plan in schedule if plan.index not in done)
        return OperatorExecution(resolved, len(schedule), pending, done=len(done), failed=failed)

    # -- what sessions report --------------------------------------------------------

    @property
    def queues_ahead(self) -> bool:
        """Whether a session gets more episodes than it can begin at once.

        Under a time budget it does not, because a waiting episode would begin after the time is over.
        """
        return not self._episode_budget.limits_time

    def seats_of(self, run: OperatorExecution) -> int:
        """Return the number of sessions that play an operator, at least 1 and without quarantined ones."""
        seats = self._sessions[run.operator_id].seats
        return max(1, sum(1 for seat in seats if not seat.quarantine))

    def admit(self, run: OperatorExecution, plan: EpisodePlan) -> EpisodePlan | None:
        """Return an episode's plan with its allowances; ``None`` if the run's budgets do not suffice now."""
        return self._episode_budget.reserve(run, plan)

    def finished(self, run: OperatorExecution, plan: EpisodePlan, episode: EpisodeFinished) -> None:
        """Record a finished episode, or queue it again if it counts as unplayed."""
        if self.stopping:
            return
        if episode.unplayed:
            self._episode_budget.charge_too_small(run, plan.index)
            run.put_back(plan)
            if episode.cannot_go_on:
                self._ledger.problem = self._ledger.problem or f"The run stops: {episode.cannot_go_on}"
                self._check_ledger()
            self.nudge()
            return
        self._episode_budget.charge_finished(run, plan.index)
        self._ledger.episode(run, episode)
        self._check_ledger()
        self.nudge()
        self._show()

    def retried(self, run: OperatorExecution, index: int, reason: str, lost: str) -> None:
        """Record that a session begins an episode again, because a process was lost."""
        self._ledger.retry(run, index, reason, lost)
        self._episode_budget.charge_restarted(run, index)
        self.nudge()

    def called(self, run: OperatorExecution, line: bytes) -> None:
        """Record a paid call."""
        self._ledger.call(run, line)
        self._episode_budget.charge_call(run, line)
        self._check_ledger()

    def announced(self, run: OperatorExecution, index: int, slot: str, most: Amount) -> bool:
        """Record a paid request that a slot is about to send; return whether the slot may send it."""
        may = self._episode_budget.record_request(run, index, slot, most)
        self._check_ledger()
        return may

    def introduce(self, run: OperatorExecution, ready: SessionReady) -> None:
        """Record the players of an operator whose session is ready."""
        self._ledger.introduce(run, ready)
        self._episode_budget.record_announcing_slots(run, ready.announcing)

    def _check_ledger(self) -> None:
        self._ledger.problem = self._ledger.problem or self._episode_budget.problem
        if self._ledger.problem:
            self.stop()
            self.nudge()

    def lost(self, seat: SessionShare, reason: str) -> None:
        """Queue the episodes of a dead session again."""
        run, words = seat.run, reason or "ended"
        self._sessions[run.operator_id].end(seat)
        begun = sorted(seat.begun & seat.assigned.keys())
        _log.warning("a session process of %s %s", run.operator_id, words)
        for index in begun:
            self._ledger.retry(run, index, words, SESSION)
        for index in seat.assigned:
            self._episode_budget.charge_lost(run, index, begun=index in seat.begun)
        for plan in run.requeue(seat.assigned.values(), seat.begun):
            tries = run.tries[plan.index]
            self.finished(run, plan, run.given_up(plan, f"its session process {words}, {tries} times"))
        seat.assigned.clear()
        self.nudge()

    @property
    def _seats(self) -> list[SessionShare]:
        """Sessions at work, of all operators."""
        return [seat for sessions in self._sessions.values() for seat in sessions.seats]

    @property
    def folder(self) -> Path | None:
        """The run folder; ``None`` before it exists."""
        return self._ledger.folder if self._ledger.begun else None

    def nudge(self) -> None:
        """Wake the main loop, because something has changed."""
        self._changed.set()

    def stop(self) -> None:
        """End the run at once; finished episodes stay on record."""
        self.in_haste = True
        self._give_out_no_more()

    def watch(self, operator_id: str, listener: OnSessionEvent | None) -> None:
        """Send an operator's views and pictures to a listener while it plays; results stay the same.

        Args:
            operator_id: The operator to watch instead of the current one; ``""`` for none.
            listener: Receives views and pictures, from the event loop.
        """
        self._watch.watch(operator_id, listener)
        self._watch.tend(self._seats)

    def _give_out_no_more(self) -> None:
        self.stopping = True
        self._starts.close()
        for sessions in self._sessions.values():
            sessions.cancel_starts()
        self.nudge()

    # -- the run ---------------------------------------------------------------------

    async def run(self) -> RunResult:
        """Run the experiment to its end.

        Raises:
            UsageError: The experiment has an error that the user can fix; nothing was played.
            MosaicError: A session could not be started although the experiment has no error.
        """
        # A run that cannot be resumed now stays stopped.
        status = STOPPED
        self._ledger.check_writable()
        try:
            await self._get_ready()
            status = FAILED
            # A shard may have episodes of only a few of a thousand operators.
            there = [run.operator_id for run in self._runs if run.total or self._only is None]
            made: Mapping[str, Any] = {} if self._made is None else await self._made
            self._ledger.open(self._experiment, there, {**made, **self._header})
            self._episode_budget.open(self._ledger.folder)
            await self._play()
            status = self._status()
        finally:
            await self._close_all()
            self._episode_budget.close()
            self._ledger.problem = self._ledger.problem or self._episode_budget.problem
            self._ledger.close(status)
        if self._experiment.execution.record.compress and status != STOPPED:
            from gym_gui.services.runs.run_packing import compress_ended  # few runs are compressed

            await asyncio.to_thread(compress_ended, self._ledger.folder)
        episodes, failures = sum(r.done for r in self._runs), sum(r.failed for r in self._runs)
        return RunResult(self._ledger.folder, status, episodes, failures, self._ledger.problem)

    def _status(self) -> str:
        if self.stopping or not all(run.finished for run in self._runs):
            return STOPPED
        return FAILED if any(run.failed for run in self._runs) else COMPLETED

    async def _get_ready(self) -> None:
        """Start a session of each operator as a test, so that errors are found before anything is played."""
        tried = self._tried
        todo = [r for r in self._runs if not r.finished and (tried is None or r.operator_id in tried)]
        gate = asyncio.Semaphore(max(2, self._processes))

        async def check(run: OperatorExecution, keep: bool) -> None:
            async with gate:
                if self.stopping:
                    return
                await self._running(run).try_out(keep=keep)

        extra = self._processes - len(todo)
        jobs = [check(run, i < KEPT_WARM) for i, run in enumerate(todo)]
        # If there are fewer operators than processes, an operator gets several sessions. Start these now as
        # well, unless one session can have all episodes in flight: it may finish before another has started.
        useful = [run for run in todo if len(run.pending) > self._starts.episodes_in_flight(run)]
        jobs += [check(useful[i % len(useful)], True) for i in range(extra)] if useful else []
        results = await asyncio.gather(*jobs, return_exceptions=True)
        stopped = asyncio.CancelledError if self.stopping else ()
        errors = [r for r in results if isinstance(r, BaseException) and not isinstance(r, stopped)]
        if errors:
            failed = {run.operator_id: r for run, r in zip(todo, results, strict=False) if r in errors}
            self._leave_out(failed, next((e for e in errors if isinstance(e, UsageError)), errors[0]))

    def _leave_out(self, failed: Mapping[str, BaseException], first: BaseException) -> None:
        """Leave out matrix rows whose sessions could not be started; otherwise raise the first error.

        Nothing is left out if only chosen episodes are played: other shards play the rest, and all shards
        must have the same rows.
        """
        if self._only is not None:
            raise first
        done = [run.operator_id for run in self._runs if run.done]
        self._experiment = without_unstarted(self._experiment, failed, first, done)
        for operator_id in failed:
            self._service.remove_operator(operator_id)
        self._runs = [run for run in self._runs if run.operator_id not in failed]
        self._episode_budget.exclude(failed)
        self._header |= {"episodes": {run.operator_id: run.total for run in self._runs}}

    async def _play(self) -> None:
        while not self.stopping and not self._is_over():
            self._changed.clear()
            self._stop_finished()
            self._episode_budget.read_lease()
            self._hold_up(self._episode_budget.waits_for_lease)
            if self._looks.due:
                await self._looks.take_due()
                self._check_ledger()
                continue
            while len(self._seats) < self._processes and (choice := self._next_operator()) is not None:
                self._fill(*choice)
            # Feed sessions only now, so that those that begin together share the episodes from the first on.
            for seat in [s for s in self._seats if s.working and not s.assigned]:
                self._reassign(seat)
            if (
                not self._seats
                and self._next_operator() is None
                and not self._looks.due
                and not all(run.finished for run in self._runs)
                and not self._episode_budget.request_more()
            ):
                self._ledger.problem = self._ledger.problem or self._episode_budget.unplayed_reason()
                self._ledger.unplayed = sum(len(run.pending) + len(run.suspects) for run in self._runs)
                break
            self._watch.tend(self._seats)
            self._show()
            self._ledger.write_retries()
            self._check_ledger()
            if not self._changed.is_set():
                try:
                    await asyncio.wait_for(self._changed.wait(), 0.5)
                except TimeoutError:
                    continue

    def _hold_up(self, held_up: bool) -> None:
        """Pause all sessions while the shard's lease is not renewed, and resume them afterwards."""
        if held_up == self._held_up:
            return
        self._held_up = held_up
        if held_up:
            _log.warning("This shard's lease on the budget is not renewed: the shard waits.")
        for session in [seat.session for seat in self._seats if seat.session is not None]:
            (session.pause if held_up else session.resume)()

    def _is_over(self) -> bool:
        return all(run.finished for run in self._runs) and not self._looks.due

    def _reassign(self, seat: SessionShare) -> None:
        """Give more episodes to a session that has none, or make it idle, or end it."""
        run = seat.run
        if seat.quarantine and not run.suspects:
            seat.quarantine = False
        seat.feed()
        if not seat.assigned:
            self._watch.stop_watching(seat)
            sessions = self._sessions[run.operator_id]
            warm = sum(len(each.warm) for each in self._sessions.values())
            if (run.pending or run.later) and warm < KEPT_WARM:
                sessions.rest(seat)  # until budgets are freed by other sessions, or until the next look
            else:
                sessions.end(seat)
            self.nudge()

    def _next_operator(self) -> tuple[OperatorExecution, bool] | None:
        """Return the operator for the next session, and whether that session plays only its suspects."""
        for run in self._runs:
            if not run.suspects or not self._has_world(run):
                continue
            alone = any(seat.quarantine for seat in self._sessions[run.operator_id].seats)
            if not alone and self._episode_budget.allows(run, run.suspects[0]):
                return run, True
        waiting = [
            run
            for run in self._runs
            if run.pending and self._has_world(run) and self._episode_budget.allows(run, run.pending[0])
        ]
        if not waiting:
            return None
        return min(waiting, key=lambda run: len(self._sessions[run.operator_id].seats)), False

    def _has_world(self, run: OperatorExecution) -> bool:
        """Return whether the simulator that the operator shares with others, if any, is free."""
        world = run.resolved.world
        return not world or all(seat.run.resolved.world != world for seat in self._seats)

    def _fill(self, run: OperatorExecution, quarantine: bool) -> None:
        sessions = self._sessions[run.operator_id]
        if not sessions.warm and run.broken_starts >= MAX_BROKEN_STARTS:
            sessions.give_up()  # no session could be started in an earlier batch, so do not try again
        else:
            self._running(run).occupy(quarantine)

    # -- starting and stopping operators ---------------------------------------------

    def _launch(self, config: OperatorConfig) -> OperatorSessions:
        """Start an operator's session and return its sessions.

        The launcher of :class:`MultiOperatorService`.
        """
        sessions = self._sessions[config.operator_id]
        sessions.start()
        return sessions

    def _running(self, run: OperatorExecution) -> OperatorSessions:
        """Start an operator, unless it is running, and return its sessions."""
        self._service.start(run.operator_id)
        return self._sessions[run.operator_id]

    def _stop_finished(self) -> None:
        """Stop operators that have played all of their episodes."""
        for sessions in [self._sessions[operator_id] for operator_id in self._service.running()]:
            if sessions.run.finished:
                for seat in sessions.seats:
                    self._watch.stop_watching(seat)
                self._service.stop(sessions.run.operator_id)

    async def _close_all(self) -> None:
        self._watch.watch("", None)
        self._give_out_no_more()
        self._service.stop_all()
        await asyncio.gather(*(sessions.ended() for sessions in self._sessions.values()))

    # -- progress --------------------------------------------------------------------

    def progress(self) -> list[OperatorProgress]:
        """Return the progress of every operator."""
        live = {name: sum(len(s.begun) for s in each.seats) for name, each in self._sessions.items()}
        return [run.progress(live[run.operator_id]) for run in self._runs]

    def _show(self) -> None:
        now = time.monotonic()
        if self._on_progress is not None and (now - self._shown > 0.1 or all(r.finished for r in self._runs)):
            self._shown = now
            self._on_progress(self.progress())
