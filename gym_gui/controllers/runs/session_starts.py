"""Starts the sessions of a run's operators."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from gym_gui.controllers.engine.resolved_operator import ResolvedOperator
from gym_gui.controllers.engine.session_interface import (
    OpenSession,
    SessionReady,
    SessionSettings,
    default_concurrency,
)
from gym_gui.controllers.runs.operator_execution import OperatorExecution
from gym_gui.controllers.runs.reusable_sessions import ReusableSession, ReusableSessions, SessionRoute
from gym_gui.controllers.runs.session_shares import SessionShare, ShareOwner
from gym_gui.core.config import Experiment
from gym_gui.processes.child import start_with_retry

_log = logging.getLogger(__name__)

WORTH_A_START_S = 0.25
"""Seconds of play after which an operator with episodes left gets further sessions on free cores."""


class SessionStarts:
    """Starts the sessions of all operators of a run.

    Args:
        owner: Assigns episodes to the sessions.
        experiment: The experiment.
        open_session: Makes a session.
        introduce: Called with each session's operator and description once the session is ready.
        kept: Idle sessions of an earlier part of the experiment; sessions of this part are added at the end.
    """

    def __init__(
        self,
        owner: ShareOwner,
        experiment: Experiment,
        open_session: OpenSession,
        introduce: Callable[[OperatorExecution, SessionReady], None],
        kept: ReusableSessions | None = None,
    ) -> None:
        self._owner, self._experiment = owner, experiment
        self._open_session, self._introduce, self._kept = open_session, introduce, kept
        self._over = asyncio.Event()

    async def start(self, run: OperatorExecution) -> SessionShare:
        """Return a session for an operator, ready for episodes.

        If the session's process is lost during the start, it is started again.

        Raises:
            UsageError: The experiment has an error that the user can fix.
            MosaicError: The session could not be started although the experiment has no error.
        """
        return await start_with_retry(lambda: self._start_once(run), _log.warning)

    async def _start_once(self, run: OperatorExecution) -> SessionShare:
        seat = SessionShare(self._owner, run)
        resolved = self._isolated(run.resolved)
        settings = SessionSettings(
            self.episodes_in_flight(run),
            self._experiment.max_steps(resolved.config),
            self._experiment.execution.record.observations,
        )
        kept = None if self._kept is None else self._kept.take(resolved, settings, seat.on_event)
        if kept is not None:
            seat.session, seat.ready, seat.steps, seat.kept = kept.session, kept.ready, kept.route.steps, kept
            self._introduce(run, seat.ready)
            return seat
        route = SessionRoute(seat.on_event)
        on_event = seat.on_event if self._kept is None else route.on_event
        seat.session = session = self._open_session(resolved, settings, on_event)
        try:
            seat.ready = await session.start()
        except BaseException:
            seat.dead = True
            await session.close(in_haste=self._owner.stopping)
            raise
        if self._kept is not None:
            seat.kept = ReusableSession(resolved, settings, session, seat.ready, route)
        self._introduce(run, seat.ready)
        return seat

    def _isolated(self, resolved: ResolvedOperator) -> ResolvedOperator:
        """Return the operator with the experiment's setting for slots that share a process."""
        config = resolved.config
        isolation = self._experiment.isolation(config)
        if isolation == (config.isolation or "slot"):
            return resolved
        return replace(resolved, config=replace(config, isolation=isolation))

    async def keep_session(self, seat: SessionShare) -> bool:
        """Keep a session for the next part of the experiment; return ``False`` if it must be closed."""
        if self._kept is None or seat.kept is None or seat.assigned:
            return False
        return await self._kept.give(seat.kept)

    def episodes_in_flight(self, run: OperatorExecution) -> int:
        """Return how many episodes a session of an operator has in flight at most."""
        return self._experiment.execution.concurrency or default_concurrency(run.resolved, run.total)

    async def hold_back(self) -> None:
        """Wait :data:`WORTH_A_START_S` before the next session, or until the run starts no more sessions."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._over.wait(), WORTH_A_START_S)

    def close(self) -> None:
        """Stop starting sessions."""
        self._over.set()
