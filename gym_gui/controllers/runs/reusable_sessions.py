"""Sessions that stay when a part of an experiment is over, for the part that is played next.

What a session costs before its first step (its process, imports, environments, policies that are loaded) is
paid once so. Nothing goes from one part to the next that would not go from one episode of a run to the next:
which episodes a session plays is chance, and may not show in any of them.
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
    """Passes a session's events on to the run that has the session at the moment.

    Args:
        listener: The first listener.

    Attributes:
        steps: Environment steps that the session has taken so far.
        ended: Whether the session has ended.
    """

    def __init__(self, listener: OnSessionEvent) -> None:
        self._listener: OnSessionEvent | None = listener
        self.steps = 0
        self.ended = False

    def lead_to(self, listener: OnSessionEvent | None) -> None:
        """Pass events on to another listener; ``None``: to none."""
        self._listener = listener

    def on_event(self, event: SessionEvent) -> None:
        """What the session says."""
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
class KeptSession:
    """A session that may be kept.

    Attributes:
        resolved: Its operator.
        settings: How it plays.
        session: It.
        ready: What it says of itself.
        route: Where its events go.
    """

    resolved: ResolvedOperator
    settings: SessionSettings
    session: Session
    ready: SessionReady
    route: SessionRoute

    def serves(self, resolved: ResolvedOperator, settings: SessionSettings) -> bool:
        """Whether it plays for an operator as is asked, with room for as many episodes at least."""
        here, there = self.settings, settings
        return (
            self.resolved.config == resolved.config
            and (here.max_steps, here.observations) == (there.max_steps, there.observations)
            and here.concurrency >= there.concurrency
        )


class KeptSessions:
    """Sessions between two parts that are played one after the other."""

    def __init__(self) -> None:
        self._idle: list[KeptSession] = []

    def take(
        self, resolved: ResolvedOperator, settings: SessionSettings, on_event: OnSessionEvent
    ) -> KeptSession | None:
        """One that was kept and serves; ``None`` where there is none."""
        for kept in self._idle:
            if kept.serves(resolved, settings) and not kept.route.ended:
                self._idle.remove(kept)
                kept.route.lead_to(on_event)
                return kept
        return None

    async def give(self, kept: KeptSession) -> bool:
        """Keep a session that has nothing left to play; false where the caller is to close it.

        The cost of calls to models goes to the run that made them, even when it is known late: sessions with
        a slot that pays for its decisions end with their part.
        """
        if kept.route.ended or paying_slots(kept.resolved.assignments):
            return False
        await kept.session.settled()  # what is still on its way belongs to the part that is over
        if kept.route.ended:
            return False
        kept.route.lead_to(None)
        self._idle.append(kept)
        return True

    async def keep_only(self, operators: Collection[str]) -> None:
        """End those of operators that are not played next."""
        idle, self._idle = self._idle, []
        over = [kept for kept in idle if kept.resolved.config.operator_id not in operators]
        self._idle += [kept for kept in idle if kept not in over]
        await asyncio.gather(*(kept.session.close() for kept in over))

    async def close(self) -> None:
        """End them all."""
        await self.keep_only(())
