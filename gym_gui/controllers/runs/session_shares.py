"""Tracks the episodes that one session has received and not finished."""

from __future__ import annotations

import logging
import time
from typing import Protocol

from gym_gui.controllers.engine.session_events import (
    CallMade,
    EpisodeFinished,
    EpisodeRetried,
    EpisodeStarted,
    FrameDrawn,
    LogLine,
    OnSessionEvent,
    RequestAnnounced,
    SessionEnded,
    SessionEvent,
    StepsTaken,
)
from gym_gui.controllers.engine.session_interface import Session, SessionReady
from gym_gui.controllers.runs.operator_execution import OperatorExecution
from gym_gui.controllers.runs.reusable_sessions import ReusableSession
from gym_gui.core.experiment.execution import EpisodePlan
from gym_gui.core.experiment.spending import Amount
from gym_gui.core.live import LiveView

_log = logging.getLogger(__name__)

_NEWS_TRIP_S = 0.25
"""Upper bound in seconds on the time from an episode's end to the arrival of the next episode."""


class ShareOwner(Protocol):
    """Assigns episodes to sessions and receives their results."""

    @property
    def stopping(self) -> bool:
        """Whether no more episodes are assigned."""
        ...

    @property
    def in_haste(self) -> bool:
        """Whether sessions end at once, without finishing their episodes."""
        ...

    @property
    def queues_ahead(self) -> bool:
        """Whether a session gets more episodes than it can begin at once."""
        ...

    def seats_of(self, run: OperatorExecution) -> int:
        """Return the number of sessions that play an operator."""
        ...

    def admit(self, run: OperatorExecution, plan: EpisodePlan) -> EpisodePlan | None:
        """Return an episode's plan with its allowances; ``None`` if the run's budgets do not suffice now."""
        ...

    def finished(self, run: OperatorExecution, plan: EpisodePlan, episode: EpisodeFinished) -> None:
        """Handle a finished episode."""
        ...

    def retried(self, run: OperatorExecution, index: int, reason: str, lost: str) -> None:
        """Handle an episode that begins again because a worker was lost."""
        ...

    def called(self, run: OperatorExecution, line: bytes) -> None:
        """Handle a paid call."""
        ...

    def announced(self, run: OperatorExecution, index: int, slot: str, most: Amount) -> bool:
        """Record a paid request that a slot is about to send; return whether the slot may send it."""
        ...

    def lost(self, seat: SessionShare, reason: str) -> None:
        """Handle a session that died."""
        ...

    def nudge(self) -> None:
        """Wake the main loop, because something has changed."""
        ...


class SessionShare:
    """One session with its assigned episodes of an operator; receives the session's events."""

    def __init__(self, owner: ShareOwner, run: OperatorExecution) -> None:
        self.run, self._owner = run, owner
        self.session: Session | None = None
        self.kept: ReusableSession | None = None
        self.ready = SessionReady(0)
        self.assigned: dict[int, EpisodePlan] = {}
        self.begun: set[int] = set()
        self.quarantine = False
        self.working = False
        self.dead = False
        self.watcher: OnSessionEvent | None = None
        self.steps = 0
        self._finished = 0
        self.since = time.monotonic()

    def on_event(self, event: SessionEvent) -> None:
        """Handle an event of the session."""
        match event:
            case EpisodeStarted(index):
                self.begun.add(index)
            case EpisodeFinished(index):
                self._on_finished(self.assigned.pop(index, None), event)
            case EpisodeRetried(index, reason, lost):
                self._owner.retried(self.run, index, reason, lost)
            case StepsTaken(total):
                self.run.steps += total - self.steps
                self.steps = total
            case CallMade(line):
                self._owner.called(self.run, line)
            case RequestAnnounced(number, slot, episode, most):
                if self._owner.announced(self.run, episode, slot, most) and self.session is not None:
                    self.session.noted(number)
            case LogLine(level, logger, text):
                _log.log(level, "%s: %s: %s", self.run.operator_id, logger, text)
            case SessionEnded(reason):
                self.dead = True
                self._owner.lost(self, reason)
            case FrameDrawn() | LiveView() if self.watcher is not None:
                self.watcher(event)
            case _:  # the session has no viewer
                pass

    def _on_finished(self, plan: EpisodePlan | None, episode: EpisodeFinished) -> None:
        self._finished += 1
        self.begun.discard(episode.index)
        if plan is not None:
            self._owner.finished(self.run, plan, episode)
            self.feed()

    def feed(self) -> None:
        """Assign enough episodes to keep the session busy, but leave a fair share to other sessions."""
        if not self.working or self.dead or self.session is None or self._owner.stopping:
            return
        queue = self.run.suspects if self.quarantine else self.run.pending
        room = self.ready.concurrency
        ahead = self._ahead(room) if self._owner.queues_ahead and not self.quarantine else 0
        window = 1 if self.quarantine else room + ahead
        if self.assigned and len(self.assigned) > window - (ahead + 1) // 2:
            return  # half the reserve at once: a message for each episode would cost more than the episode
        fair = -(-len(queue) // self._owner.seats_of(self.run)) if queue else 0
        count = min(window - len(self.assigned), max(fair, 1), len(queue))
        if count > 0:
            plans: list[EpisodePlan] = []
            while len(plans) < count and (plan := self._owner.admit(self.run, queue[0])) is not None:
                queue.popleft()
                plans.append(plan)
            self.assigned.update((p.index, p) for p in plans)
            if plans:
                self.session.play(plans)
        if not self.assigned:
            self._owner.nudge()

    def _ahead(self, room: int) -> int:
        """Return how many episodes to queue in the session, so that it need not wait for messages."""
        rate = self._finished / max(time.monotonic() - self.since, _NEWS_TRIP_S)
        return max(1, room // 2, int(rate * _NEWS_TRIP_S) + 1)
