"""Progress of one operator in a running experiment: episodes to play, finished and lost."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from gym_gui.controllers.engine.resolved_operator import ResolvedOperator
from gym_gui.controllers.engine.session_events import EpisodeFinished
from gym_gui.core.enums import EpisodeStatus
from gym_gui.core.experiment.execution import EpisodePlan
from gym_gui.core.record_digest import seal
from gym_gui.core.records import IN_PROCESS, AgentRecord, EpisodeRecord

MAX_TRIES = 3
"""Most times that an episode is begun. It fails if its session process died each time."""
MAX_BROKEN_STARTS = 3


@dataclass(frozen=True)
class RunResult:
    """Result of a run.

    Attributes:
        folder: The run folder.
        status: ``completed``, ``failed`` or ``stopped``, as in ``run.json``.
        episodes: Finished episodes.
        failed: Finished episodes that failed.
        problem: Why the run ended early; ``""`` if it did not.
    """

    folder: Path
    status: str
    episodes: int
    failed: int
    problem: str = ""


@dataclass(frozen=True)
class OperatorProgress:
    """Numbers of an operator's episodes and steps, for a progress display."""

    operator_id: str
    name: str
    done: int
    total: int
    failed: int
    live: int
    steps: int
    at_most: bool = False
    """Whether ``total`` is only an upper bound, because fewer episodes may decide the comparisons."""


OnProgress: TypeAlias = Callable[[Sequence[OperatorProgress]], None]


@dataclass
class OperatorExecution:
    """Episodes of one operator in a run: waiting, lost, and counts of finished ones.

    Attributes:
        resolved: The operator.
        total: Episodes of the schedule.
        pending: Episodes that have not begun, in order.
        later: Episodes that may not begin before the next interim look.
        goal: Number of finished episodes at which the next interim look is due.
        suspects: Episodes that were in flight when a session process died. They are played one at a time, so
            that the episode that kills the process is found and the others are not lost again.
        tries: How often each episode was begun and lost.
        done: Finished episodes, including those of an earlier part of the run.
        failed: Finished episodes that failed.
        steps: Environment steps so far.
        broken_starts: Number of sessions in a row that could not be started.
        broken: Why the latest of these sessions could not be started.
        at_most: Whether the operator may end with fewer episodes than ``total``.
    """

    resolved: ResolvedOperator
    total: int
    pending: deque[EpisodePlan]
    later: deque[EpisodePlan] = field(default_factory=deque[EpisodePlan])
    suspects: deque[EpisodePlan] = field(default_factory=deque[EpisodePlan])
    tries: dict[int, int] = field(default_factory=dict[int, int])
    done: int = 0
    failed: int = 0
    steps: int = 0
    broken_starts: int = 0
    broken: str = ""
    at_most: bool = False
    goal: int = 0

    @property
    def operator_id(self) -> str:
        """Id of the operator."""
        return self.resolved.config.operator_id

    @property
    def finished(self) -> bool:
        """Whether every scheduled episode is finished."""
        return self.done >= self.total

    def progress(self, live: int) -> OperatorProgress:
        """Return the operator's progress, with ``live`` episodes in flight."""
        name = self.resolved.config.display_name
        return OperatorProgress(
            self.operator_id, name, self.done, self.total, self.failed, live, self.steps, self.at_most
        )

    def play_up_to(self, episodes: int) -> None:
        """Make only the first ``episodes`` episodes of the schedule available to play for now."""
        waiting = [*self.pending, *self.later]
        self.pending = deque(plan for plan in waiting if plan.index < episodes)
        self.later = deque(plan for plan in waiting if plan.index >= episodes)
        self.goal = self.done + len(self.pending)

    def has_played(self, episodes: int) -> bool:
        """Return whether the first ``episodes`` episodes are done; valid only while none is in flight."""
        return not any(plan.index < episodes for plan in (*self.pending, *self.later))

    def play_no_more(self) -> None:
        """Drop all episodes that have not begun, so that the operator counts as finished."""
        self.pending.clear()
        self.later.clear()
        self.total, self.at_most = self.done, False

    def put_back(self, plan: EpisodePlan) -> None:
        """Queue an episode again at its index, as one that has not begun."""
        waiting = self.pending
        at = next((i for i, other in enumerate(waiting) if other.index > plan.index), len(waiting))
        waiting.insert(at, plan)

    def requeue(self, lost: Iterable[EpisodePlan], begun: Collection[int]) -> list[EpisodePlan]:
        """Queue the episodes of a dead session again.

        Args:
            lost: Episodes that the session had received.
            begun: Indices of the lost episodes that the session had begun.

        Returns:
            Episodes that have been lost :data:`MAX_TRIES` times and are not queued again.
        """
        given_up: list[EpisodePlan] = []
        for plan in sorted(lost, key=lambda p: p.index, reverse=True):
            if plan.index not in begun:
                self.pending.appendleft(plan)
                continue
            self.tries[plan.index] = self.tries.get(plan.index, 0) + 1
            if self.tries[plan.index] >= MAX_TRIES:
                given_up.append(plan)
            else:
                self.suspects.appendleft(plan)
        return given_up

    def given_up(self, plan: EpisodePlan, error: str, lost: str = "") -> EpisodeFinished:
        """Return a failed result for an episode that no session could finish.

        Args:
            plan: The episode.
            error: Why the episode could not be finished.
            lost: Kind of the lost process, if neither the players nor the environment are the cause.
        """
        record = EpisodeRecord(
            operator_id=self.operator_id,
            episode_index=plan.index,
            seed=plan.seed,
            status=EpisodeStatus.FAILED,
            agents={
                agent: AgentRecord(self._worker(slot), self.resolved.worker_type(slot), None, slot)
                for agent, slot in self.resolved.seatings[plan.seating].items()
            },
            error=error,
            lost=lost or None,
        )
        return EpisodeFinished(plan.index, EpisodeStatus.FAILED, b"", seal(record.to_row(), b""))

    def _worker(self, slot: str) -> str:
        definition = self.resolved.workers.get(slot)
        return definition.type_id if definition else IN_PROCESS
