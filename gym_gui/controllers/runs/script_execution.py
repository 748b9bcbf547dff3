"""Runs an experiment: every operator's episodes, over session processes, into a run folder."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from gym_gui.controllers.engine.resolved_operator import ResolvedOperator
from gym_gui.controllers.engine.session_events import EpisodeFinished, OnSessionEvent
from gym_gui.controllers.engine.session_interface import OpenSession, SessionReady
from gym_gui.controllers.runs.episode_budget import EpisodeBudget
from gym_gui.controllers.runs.interim_looks import RunLooks
from gym_gui.controllers.runs.matrix_check import without_unstarted
from gym_gui.controllers.runs.model_slots import gone_on_with, with_limits
from gym_gui.controllers.runs.operator_execution import (
    MAX_BROKEN_STARTS,
    OperatorExecution,
    OperatorProgress,
    RunResult,
)
from gym_gui.controllers.runs.operator_sessions import OperatorSessions
from gym_gui.controllers.runs.reusable_sessions import KeptSessions
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
"""Sessions that stay open after the check before the start; more are started again later."""


OnProgress = Callable[[Sequence[OperatorProgress]], None]


class OperatorScriptExecutionManager:
    """Runs an experiment to its end.

    Operators play in order, as many at a time as there are ``processes``; an operator
    alone gets all of them. A session process that dies costs the episodes it had begun a
    retry, noted in ``run.json``, and nothing else.

    Args:
        experiment: What to run.
        resolved_operators: Its operators, checked.
        open_session: Makes a session.
        out: Folder for the new run folder.
        processes: Sessions at work at the same time.
        header: More for ``run.json`` (machine, commit).
        resume: A run folder to resume, instead of ``out``.
        on_progress: Called often, at most about ten times a second.
        tried: Operators whose sessions are started before anything is played, to see what is wrong; all of
            them by default. Others are started when their turn comes.
        only: Episodes that are played, by operator; all of the schedule by default.
        kept: Sessions that are handed from one part of an experiment to the next.
        leased: The files in which it reads, as one shard of several, its share of the budgets of all.
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
        resume: Path | None = None,
        on_progress: OnProgress | None = None,
        tried: Collection[str] | None = None,
        only: Mapping[str, Collection[int]] | None = None,
        kept: KeptSessions | None = None,
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
            limited = [gone_on_with(resolved, resume) for resolved in limited]
        self._runs = [self._plan(resolved) for resolved in limited]
        totals = {run.operator_id: run.total for run in self._runs}
        self._header: dict[str, Any] = {**(header or {}), "episodes": totals, "processes": processes}
        # Episodes that are chosen beforehand are not stopped when they have decided something.
        execution = experiment.execution
        looked_at = execution if only is None else replace(execution, until="all", batch=None)
        self._looks = RunLooks(looked_at, self._runs, self._ledger)
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
    def hands_out_ahead(self) -> bool:
        """Whether a session is given more episodes than it can begin at once.

        One that waits there would begin after the run's time is over.
        """
        return not self._episode_budget.limits_time

    def seats_of(self, run: OperatorExecution) -> int:
        """Sessions at work for an operator."""
        seats = self._sessions[run.operator_id].seats
        return max(1, sum(1 for seat in seats if not seat.quarantine))

    def admit(self, run: OperatorExecution, plan: EpisodePlan) -> EpisodePlan | None:
        """An episode as it is to be played; ``None``: the run's budgets do not carry it now."""
        return self._episode_budget.admit(run, plan)

    def finished(self, run: OperatorExecution, plan: EpisodePlan, episode: EpisodeFinished) -> None:
        """An episode is over: write it down."""
        if self.stopping:
            return
        if episode.unplayed:
            self._episode_budget.short(run, plan.index)
            run.put_back(plan)
            if episode.cannot_go_on:
                self._ledger.problem = self._ledger.problem or f"The run stops: {episode.cannot_go_on}"
                self._check_ledger()
            self.nudge()
            return
        self._episode_budget.over(run, plan.index)
        self._ledger.episode(run, episode)
        self._check_ledger()
        self.nudge()
        self._show()

    def retried(self, run: OperatorExecution, index: int, reason: str, lost: str) -> None:
        """A process was lost, and its session begins an episode again: write it down."""
        self._ledger.retry(run, index, reason, lost)
        self._episode_budget.again(run, index)
        self.nudge()

    def called(self, run: OperatorExecution, line: bytes) -> None:
        """A paid call was made: write it down."""
        self._ledger.call(run, line)
        self._episode_budget.call(run, line)
        self._check_ledger()

    def announced(self, run: OperatorExecution, index: int, slot: str, most: Amount) -> bool:
        """A slot is about to make a paid request: write it down; returns whether it may."""
        may = self._episode_budget.announced(run, index, slot, most)
        self._check_ledger()
        return may

    def introduce(self, run: OperatorExecution, ready: SessionReady) -> None:
        """A session of an operator is ready: note who plays in it."""
        self._ledger.introduce(run, ready)
        self._episode_budget.introduce(run, ready.announcing)

    def _check_ledger(self) -> None:
        self._ledger.problem = self._ledger.problem or self._episode_budget.problem
        if self._ledger.problem:
            self.stop()
            self.nudge()

    def lost(self, seat: SessionShare, reason: str) -> None:
        """A session died: its episodes go back into the queue, what it kept is forgotten."""
        run, words = seat.run, reason or "ended"
        self._sessions[run.operator_id].end(seat)
        begun = sorted(seat.begun & seat.assigned.keys())
        _log.warning("a session process of %s %s", run.operator_id, words)
        for index in begun:
            self._ledger.retry(run, index, words, SESSION)
        for index in seat.assigned:
            self._episode_budget.lost(run, index, begun=index in seat.begun)
        for plan in run.take_back(seat.assigned.values(), seat.begun):
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
        """The run folder, as soon as there is one."""
        return self._ledger.folder if self._ledger.begun else None

    def nudge(self) -> None:
        """Have the main loop look again."""
        self._changed.set()

    def stop(self) -> None:
        """End early, at once; what is done is kept."""
        self.in_haste = True
        self._give_out_no_more()

    def watch(self, operator_id: str, listener: OnSessionEvent | None) -> None:
        """Watch what an operator plays, as soon and as long as it plays; results are the same.

        Args:
            operator_id: The operator to watch in place of the one before; ``""``: none.
            listener: Gets its looks and pictures, from the event loop.
        """
        self._watch.look(operator_id, listener)
        self._watch.tend(self._seats)

    def _give_out_no_more(self) -> None:
        self.stopping = True
        self._starts.close()
        for sessions in self._sessions.values():
            sessions.cancel_starts()
        self.nudge()

    # -- the run ---------------------------------------------------------------------

    async def run(self) -> RunResult:
        """Run to the end.

        Raises:
            UsageError: Something the person can fix, found before anything was played.
            MosaicError: A session could not be started although nothing is wrong with the
                experiment.
        """
        # A run that cannot be resumed now stays stopped.
        status = STOPPED
        self._ledger.require_room()
        try:
            await self._get_ready()
            status = FAILED
            # A part of an experiment may be a few episodes of a thousand operators.
            there = [run.operator_id for run in self._runs if run.total or self._only is None]
            self._ledger.open(self._experiment, there, self._header)
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
        """Start each operator, so that whatever is wrong shows before anything plays."""
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
        # An operator alone (or nearly) gets several sessions: start these now as well, unless one
        # can have all its episodes in flight. That may be done before another has started.
        useful = [run for run in todo if len(run.pending) > self._starts.room_of(run)]
        jobs += [check(useful[i % len(useful)], True) for i in range(extra)] if useful else []
        results = await asyncio.gather(*jobs, return_exceptions=True)
        stopped = asyncio.CancelledError if self.stopping else ()
        errors = [r for r in results if isinstance(r, BaseException) and not isinstance(r, stopped)]
        if errors:
            failed = {run.operator_id: r for run, r in zip(todo, results, strict=False) if r in errors}
            self._leave_out(failed, next((e for e in errors if isinstance(e, UsageError)), errors[0]))

    def _leave_out(self, failed: Mapping[str, BaseException], first: BaseException) -> None:
        """Name the rows of a matrix that cannot be played after all, or raise what went wrong first.

        Where episodes were chosen, others play the rest of them, and all have to agree on the rows.
        """
        if self._only is not None:
            raise first
        done = [run.operator_id for run in self._runs if run.done]
        self._experiment = without_unstarted(self._experiment, failed, first, done)
        for operator_id in failed:
            self._service.remove_operator(operator_id)
        self._runs = [run for run in self._runs if run.operator_id not in failed]
        self._episode_budget.leave_out(failed)
        self._header |= {"episodes": {run.operator_id: run.total for run in self._runs}}

    async def _play(self) -> None:
        while not self.stopping and not self._is_over():
            self._changed.clear()
            self._stop_finished()
            self._episode_budget.look()
            self._hold_up(self._episode_budget.is_held_up)
            if self._looks.due:
                await self._looks.take()
                self._check_ledger()
                continue
            while len(self._seats) < self._processes and (choice := self._next_operator()) is not None:
                self._fill(*choice)
            # Fed only now, so that sessions that begin together share from the first episode on.
            for seat in [s for s in self._seats if s.working and not s.assigned]:
                self._reassign(seat)
            if (
                not self._seats
                and self._next_operator() is None
                and not self._looks.due
                and not all(run.finished for run in self._runs)
                and not self._episode_budget.waits()
            ):
                self._ledger.problem = self._ledger.problem or self._episode_budget.why_left()
                self._ledger.unplayed = sum(len(run.pending) + len(run.suspects) for run in self._runs)
                break
            self._watch.tend(self._seats)
            self._show()
            self._ledger.keep_up()
            self._check_ledger()
            if not self._changed.is_set():
                try:
                    await asyncio.wait_for(self._changed.wait(), 0.5)
                except TimeoutError:
                    continue

    def _hold_up(self, held_up: bool) -> None:
        """Pause all sessions while the shard's lease is not renewed, and resume them after that."""
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
        """A session ran dry: give it more, or let it go."""
        run = seat.run
        if seat.quarantine and not run.suspects:
            seat.quarantine = False
        seat.feed()
        if not seat.assigned:
            self._watch.let_go(seat)
            sessions = self._sessions[run.operator_id]
            warm = sum(len(each.warm) for each in self._sessions.values())
            if (run.pending or run.later) and warm < KEPT_WARM:
                sessions.rest(seat)  # for what others bring back of the run's budgets, or for the next look
            else:
                sessions.end(seat)
            self.nudge()

    def _next_operator(self) -> tuple[OperatorExecution, bool] | None:
        """The operator that gets the next free place, and whether for its suspects."""
        for run in self._runs:
            if not run.suspects or not self._has_world(run):
                continue
            alone = any(seat.quarantine for seat in self._sessions[run.operator_id].seats)
            if not alone and self._episode_budget.carries(run, run.suspects[0]):
                return run, True
        waiting = [
            run
            for run in self._runs
            if run.pending and self._has_world(run) and self._episode_budget.carries(run, run.pending[0])
        ]
        if not waiting:
            return None
        return min(waiting, key=lambda run: len(self._sessions[run.operator_id].seats)), False

    def _has_world(self, run: OperatorExecution) -> bool:
        """Whether no other operator plays in the operator's world, where it plays in a shared one."""
        world = run.resolved.world
        return not world or all(seat.run.resolved.world != world for seat in self._seats)

    def _fill(self, run: OperatorExecution, quarantine: bool) -> None:
        sessions = self._sessions[run.operator_id]
        if not sessions.warm and run.broken_starts >= MAX_BROKEN_STARTS:
            sessions.give_up()  # in an earlier batch it could not be started: another try brings nothing new
        else:
            self._running(run).occupy(quarantine)

    # -- starting and stopping operators ---------------------------------------------

    def _launch(self, config: OperatorConfig) -> OperatorSessions:
        """Start an operator (the launcher of :class:`MultiOperatorService`)."""
        sessions = self._sessions[config.operator_id]
        sessions.start()
        return sessions

    def _running(self, run: OperatorExecution) -> OperatorSessions:
        """The sessions of an operator whose turn has come, and which is started unless it runs."""
        self._service.start(run.operator_id)
        return self._sessions[run.operator_id]

    def _stop_finished(self) -> None:
        """Stop operators that have played all of their episodes."""
        for sessions in [self._sessions[operator_id] for operator_id in self._service.running()]:
            if sessions.run.finished:
                for seat in sessions.seats:
                    self._watch.let_go(seat)
                self._service.stop(sessions.run.operator_id)

    async def _close_all(self) -> None:
        self._watch.look("", None)
        self._give_out_no_more()
        self._service.stop_all()
        await asyncio.gather(*(sessions.ended() for sessions in self._sessions.values()))

    # -- progress --------------------------------------------------------------------

    def progress(self) -> list[OperatorProgress]:
        """Where every operator stands."""
        live = {name: sum(len(s.begun) for s in each.seats) for name, each in self._sessions.items()}
        return [run.progress(live[run.operator_id]) for run in self._runs]

    def _show(self) -> None:
        now = time.monotonic()
        if self._on_progress is not None and (now - self._shown > 0.1 or all(r.finished for r in self._runs)):
            self._shown = now
            self._on_progress(self.progress())
