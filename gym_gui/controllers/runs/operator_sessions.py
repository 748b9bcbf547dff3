"""The sessions of one operator of a run, from their start to their end."""

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
    """Starts, keeps and ends one operator's sessions; the operator's handle for ``MultiOperatorService``.

    Args:
        owner: Gives the sessions episodes.
        starts: Starts a session.
        run: The operator's episodes.

    Attributes:
        run: The operator's episodes.
        seats: Sessions at work; a session that is starting to work at once holds its place with a share
            that has no session yet.
        warm: Sessions that wait for work.
    """

    def __init__(self, owner: ShareOwner, starts: SessionStarts, run: OperatorExecution) -> None:
        self.run, self._owner, self._starts = run, owner, starts
        self.seats: list[SessionShare] = []
        self.warm: list[SessionShare] = []
        self._begun: list[asyncio.Task[SessionShare]] = []
        self._starting: set[asyncio.Task[SessionShare]] = set()
        self._tasks: set[asyncio.Task[Any]] = set()

    # -- what the service asks of it ---------------------------------------------------

    def start(self) -> None:
        """Begin a session, which waits for work as soon as it has started."""
        task = self._spawn(self._start())
        self._begun.append(task)
        self._starting.add(task)
        task.add_done_callback(self._starting.discard)

    def is_running(self) -> bool:
        """Whether a session starts, plays or waits for work."""
        return bool(self.seats or self.warm or self._starting)

    def stop(self) -> None:
        """End all sessions; :meth:`ended` waits until they have."""
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
        """Wait until a session has started.

        Args:
            keep: Let it wait for work; otherwise it ends.

        Raises:
            UsageError: Something the person can fix.
            MosaicError: It could not be started although nothing is wrong with the experiment.
        """
        seat = await self._started()
        if not keep and seat in self.warm:
            self.warm.remove(seat)
            await self._close(seat)

    def occupy(self, quarantine: bool) -> None:
        """Have one more session at work: one that waits, or one that has yet to start.

        Args:
            quarantine: Whether it plays the operator's suspects, one at a time.
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
        if seat not in self.warm:  # it has work already, or was stopped
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
        """Have all episodes that are left fail: no session could be started."""
        run = self.run
        waiting = [*run.suspects, *run.pending]
        run.suspects.clear()
        run.pending.clear()
        error = f"no session could be started: {run.broken}"
        for plan in waiting:
            self._owner.finished(run, plan, run.given_up(plan, error, SESSION))

    def cancel_starts(self) -> None:
        """Wait no longer for sessions that start, such as one whose policy takes minutes to load."""
        while self._starting:  # each is cancelled once: it closes its session then
            self._starting.pop().cancel()

    # -- sessions that end -------------------------------------------------------------

    def rest(self, seat: SessionShare) -> None:
        """Have a session that was at work wait for more."""
        self.seats.remove(seat)
        seat.working = False
        self.warm.append(seat)

    def end(self, seat: SessionShare) -> None:
        """End a session, or leave it to the part of the experiment that is played next."""
        for sessions in (self.seats, self.warm):
            if seat in sessions:
                sessions.remove(seat)
        self._spawn(self._close(seat))

    async def _close(self, seat: SessionShare) -> None:
        seat.dead = True
        if seat.session is not None and (self._owner.in_haste or not await self._starts.keep(seat)):
            await seat.session.close(in_haste=self._owner.in_haste)

    async def ended(self) -> None:
        """Wait until nothing starts or ends any more."""
        while self._tasks:
            await asyncio.gather(*self._tasks, return_exceptions=True)

    def _spawn(self, job: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        task = asyncio.get_running_loop().create_task(job)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task
