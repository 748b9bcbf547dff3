"""Keeps sessions at the end of one part of an experiment, so that the next part can use them.

So the cost of a session before its first step (process, imports, environments, policies) is paid once. The
parts share no more state than episodes of one run share. Which session plays an episode is chance and must
not influence the episode.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from dataclasses import dataclass

from gym_gui.controllers.engine.resolved_operator import ResolvedOperator
from gym_gui.controllers.engine.session_events import OnSessionEvent, SessionEnded, SessionEvent, StepsTaken
from gym_gui.controllers.engine.session_interface import Session, SessionReady, SessionSettings
from gym_gui.controllers.runs.model_slots import paying_slots


class SessionRoute:
    """Forwards a session's events to the run that uses the session.

    Args:
        listener: The first receiver of events.

    Attributes:
        steps: Environment steps that the session has taken so far.
        ended: Whether the session has ended.
    """

    def __init__(self, listener: OnSessionEvent) -> None:
        self._listener: OnSessionEvent | None = listener
        self.steps = 0
        self.ended = False

    def lead_to(self, listener: OnSessionEvent | None) -> None:
        """Forward events to another listener from now on; ``None`` drops them."""
        self._listener = listener

    def on_event(self, event: SessionEvent) -> None:
        """Handle an event of the session and forward it."""
        match event:
            case StepsTaken(total):
                self.steps = total
            case SessionEnded():
                self.ended = True
            case _:
                pass
        if self._listener is not None:
            self._listener(event)


@dataclass(frozen=True)
class ReusableSession:
    """Session that may be kept for the next part of an experiment.

    Attributes:
        resolved: The session's operator.
        settings: How the session plays.
        session: The session.
        ready: Description that the session sent when it became ready.
        route: Route of the session's events.
    """

    resolved: ResolvedOperator
    settings: SessionSettings
    session: Session
    ready: SessionReady
    route: SessionRoute

    def serves(self, resolved: ResolvedOperator, settings: SessionSettings) -> bool:
        """Return whether the session can play an operator with these settings.

        The session's concurrency may be larger than the requested concurrency.
        """
        here, there = self.settings, settings
        return (
            self.resolved.config == resolved.config
            and (here.max_steps, here.observations) == (there.max_steps, there.observations)
            and here.concurrency >= there.concurrency
        )


class ReusableSessions:
    """Idle sessions between two parts of an experiment that are played one after the other."""

    def __init__(self) -> None:
        self._idle: list[ReusableSession] = []

    def take(
        self, resolved: ResolvedOperator, settings: SessionSettings, on_event: OnSessionEvent
    ) -> ReusableSession | None:
        """Return a kept session that fits and send its events to ``on_event``; ``None`` if none fits."""
        for kept in self._idle:
            if kept.serves(resolved, settings) and not kept.route.ended:
                self._idle.remove(kept)
                kept.route.lead_to(on_event)
                return kept
        return None

    async def give(self, kept: ReusableSession) -> bool:
        """Keep a session without episodes left; return ``False`` if the caller must close it.

        A session with a slot whose decisions cost money or tokens is not kept, because the cost of a call
        belongs to the run that made the call, even if it is reported late.
        """
        if kept.route.ended or paying_slots(kept.resolved.assignments):
            return False
        await kept.session.settled()  # events on their way belong to the part that is over
        if kept.route.ended:
            return False
        kept.route.lead_to(None)
        self._idle.append(kept)
        return True

    async def keep_only(self, operators: Collection[str]) -> None:
        """End the kept sessions of operators that are not played next."""
        idle, self._idle = self._idle, []
        over = [kept for kept in idle if kept.resolved.config.operator_id not in operators]
        self._idle += [kept for kept in idle if kept not in over]
        await asyncio.gather(*(kept.session.close() for kept in over))

    async def close(self) -> None:
        """End all kept sessions."""
        await self.keep_only(())
