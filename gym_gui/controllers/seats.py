"""A session at work for one operator: what it was given, what it still owes."""

from __future__ import annotations

import logging
import time
from typing import Protocol

from gym_gui.controllers.operator_run import OperatorRun
from gym_gui.controllers.sessions import QuietListener, Session, SessionReady
from gym_gui.core.execution import EpisodePlan

_log = logging.getLogger(__name__)

_NEWS_TRIP_S = 0.25
"""Longest time, generously, between an episode's end and the next one's arrival."""


class SeatOwner(Protocol):
    """Who gives out episodes and takes what comes back."""

    @property
    def stopping(self) -> bool:
        """Whether no more episodes are given out."""
        ...

    def seats_of(self, run: OperatorRun) -> int:
        """Sessions at work for an operator."""
        ...

    def admit(self, run: OperatorRun, plan: EpisodePlan) -> EpisodePlan | None:
        """An episode as it is to be played; ``None``: the run's budgets do not carry it now."""
        ...

    def finished(self, run: OperatorRun, plan: EpisodePlan, steps: bytes, episode: bytes) -> None:
        """An episode is over."""
        ...

    def retried(self, run: OperatorRun, index: int, reason: str) -> None:
        """An episode is begun again, because a worker was lost."""
        ...

    def called(self, run: OperatorRun, line: bytes) -> None:
        """A paid call was made."""
        ...

    def lost(self, seat: Seat, reason: str) -> None:
        """The session died."""
        ...

    def nudge(self) -> None:
        """Have a look: something has changed."""
        ...


class Seat(QuietListener):
    """One session and its share of an operator's episodes; listens to the session."""

    def __init__(self, owner: SeatOwner, run: OperatorRun) -> None:
        self.run, self._owner = run, owner
        self.session: Session | None = None
        self.ready = SessionReady(0)
        self.assigned: dict[int, EpisodePlan] = {}
        self.begun: set[int] = set()
        self.quarantine = False
        self.working = False
        self.dead = False
        self.steps = 0
        self._finished = 0
        self.since = time.monotonic()

    def on_started(self, index: int) -> None:
        self.begun.add(index)

    def on_finished(self, index: int, steps: bytes, episode: bytes) -> None:
        plan = self.assigned.pop(index, None)
        self._finished += 1
        self.begun.discard(index)
        if plan is not None:
            self._owner.finished(self.run, plan, steps, episode)
            self.feed()

    def on_retried(self, index: int, reason: str) -> None:
        self._owner.retried(self.run, index, reason)

    def on_steps(self, total: int) -> None:
        self.run.steps += total - self.steps
        self.steps = total

    def on_call(self, line: bytes) -> None:
        self._owner.called(self.run, line)

    def on_log(self, level: int, logger: str, text: str) -> None:
        _log.log(level, "%s: %s: %s", self.run.operator_id, logger, text)

    def on_ended(self, reason: str) -> None:
        self.dead = True
        self._owner.lost(self, reason)

    def feed(self) -> None:
        """Keep the session supplied: enough to stay full, little enough to share the rest."""
        if not self.working or self.dead or self.session is None or self._owner.stopping:
            return
        queue = self.run.suspects if self.quarantine else self.run.pending
        room = self.ready.concurrency
        ahead = 0 if self.quarantine else self._ahead(room)
        window = 1 if self.quarantine else room + ahead
        if self.assigned and len(self.assigned) > window - (ahead + 1) // 2:
            return  # half the reserve at a time: a message for every episode would cost more than the episode
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
        """Episodes to keep waiting in the session: what it finishes while news is on its way."""
        rate = self._finished / max(time.monotonic() - self.since, _NEWS_TRIP_S)
        return max(1, room // 2, int(rate * _NEWS_TRIP_S) + 1)
