"""Starts, keeps and ends the sessions of one operator of a run."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Coroutine
from typing import Any

from gym_gui.controllers.runs.operator_execution import MAX_BROKEN_STARTS, OperatorExecution
from gym_gui.controllers.runs.session_shares import SessionShare, ShareOwner
from gym_gui.controllers.runs.session_starts import SessionStarts
from gym_gui.core.errors import MosaicError
from gym_gui.core.records import SESSION

_log = logging.getLogger(__name__)


class OperatorSessions:
    """Sessions of one operator; the operator's handle for ``MultiOperatorService``.

    Args:
        owner: Assigns episodes to the sessions.
        starts: Starts a session.
        run: The operator's episodes.

    Attributes:
        run: The operator's episodes.
        seats: Sessions that play. An entry without a session reserves the place of one that is starting.
        warm: Sessions that are ready but idle.
    """

    def __init__(self, owner: ShareOwner, starts: SessionStarts, run: OperatorExecution) -> None:
        self.run, self._owner, self._starts = run, owner, starts
        self.seats: list[SessionShare] = []
        self.warm: list[SessionShare] = []
        self._begun: list[asyncio.Task[SessionShare]] = []
        self._starting: set[asyncio.Task[SessionShare]] = set()
        self._tasks: set[asyncio.Task[Any]] = set()

    # -- called by the service ---------------------------------------------------

    def start(self) -> None:
        """Start a session, which stays idle once it is ready."""
        task = self._spawn(self._start())
        self._begun.append(task)
        self._starting.add(task)
        task.add_done_callback(self._starting.discard)

    def is_running(self) -> bool:
        """Return whether any session is starting, playing or idle."""
        return bool(self.seats or self.warm or self._starting)

    def stop(self) -> None:
        """End all sessions; :meth:`ended` waits until they have ended."""
        self.cancel_starts()
        for seat in (*self.seats, *self.warm):
            self.end(seat)

    # -- sessions that start -----------------------------------------------------------

    async def _start(self) -> SessionShare:
        seat = await self._starts.start(self.run)
        self.warm.append(seat)
        return seat

    async def _started(self) -> SessionShare:
        if not self._begun:
            self.start()
        return await self._begun.pop(0)

    async def try_out(self, *, keep: bool) -> None:
        """Start a session as a test and wait until it is ready.

        Args:
            keep: Whether the session then stays idle; otherwise it ends.

        Raises:
            UsageError: The experiment has an error that the user can fix.
            MosaicError: The session could not be started although the experiment has no error.
        """
        seat = await self._started()
        if not keep and seat in self.warm:
            self.warm.remove(seat)
            await self._close(seat)

    def occupy(self, quarantine: bool) -> None:
        """Let one more session play: an idle session, or a new one.

        Args:
            quarantine: Whether the session plays the operator's suspects, one at a time.
        """
        if self.warm:
            self._put_to_work(self.warm.pop(), quarantine)
            return
        place = SessionShare(self._owner, self.run)
        place.quarantine = quarantine
        self.seats.append(place)
        self._spawn(self._fill(place))

    async def _fill(self, place: SessionShare) -> None:
        run, held = self.run, False
        try:
            if any(seat.working for seat in self.seats):
                await self._starts.hold_back()
                if self._owner.stopping or not (run.pending or run.suspects):
                    return
            seat = await self._started()
            run.broken_starts = 0
        except MosaicError as exc:
            run.broken_starts, run.broken = run.broken_starts + 1, str(exc)
            _log.warning("a session of %s could not be started: %s", run.operator_id, exc)
            if run.broken_starts >= MAX_BROKEN_STARTS:
                self.give_up()
            return
        finally:
            held = place in self.seats
            if held:
                self.seats.remove(place)
            self._owner.nudge()
        if seat not in self.warm:  # the session has work already, or was stopped
            return
        if held and not self._owner.stopping:
            self.warm.remove(seat)
            self._put_to_work(seat, place.quarantine)
        else:
            self.end(seat)

    def _put_to_work(self, seat: SessionShare, quarantine: bool) -> None:
        seat.quarantine, seat.working, seat.since = quarantine, True, time.monotonic()
        self.seats.append(seat)
        self._owner.nudge()

    def give_up(self) -> None:
        """Let all remaining episodes fail, because no session could be started."""
        run = self.run
        waiting = [*run.suspects, *run.pending]
        run.suspects.clear()
        run.pending.clear()
        error = f"no session could be started: {run.broken}"
        for plan in waiting:
            self._owner.finished(run, plan, run.given_up(plan, error, SESSION))

    def cancel_starts(self) -> None:
        """Cancel all sessions that are starting, for example while a policy takes minutes to load."""
        while self._starting:  # each start is canceled once and then closes its session
            self._starting.pop().cancel()

    # -- sessions that end -------------------------------------------------------------

    def rest(self, seat: SessionShare) -> None:
        """Make a playing session idle."""
        self.seats.remove(seat)
        seat.working = False
        self.warm.append(seat)

    def end(self, seat: SessionShare) -> None:
        """End a session, or keep it idle for the next part of the experiment."""
        for sessions in (self.seats, self.warm):
            if seat in sessions:
                sessions.remove(seat)
        self._spawn(self._close(seat))

    async def _close(self, seat: SessionShare) -> None:
        seat.dead = True
        if seat.session is not None and (self._owner.in_haste or not await self._starts.keep_session(seat)):
            await seat.session.close(in_haste=self._owner.in_haste)

    async def ended(self) -> None:
        """Wait until no session is starting or ending."""
        while self._tasks:
            await asyncio.gather(*self._tasks, return_exceptions=True)

    def _spawn(self, job: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        task = asyncio.get_running_loop().create_task(job)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task
