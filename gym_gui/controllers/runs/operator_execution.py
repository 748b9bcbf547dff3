"""Where one operator of a running experiment stands: what is to play, what was lost."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from gym_gui.controllers.engine.resolved_operator import ResolvedOperator
from gym_gui.controllers.engine.session_events import EpisodeFinished
from gym_gui.core.enums import EpisodeStatus
from gym_gui.core.experiment.execution import EpisodePlan
from gym_gui.core.record_digest import seal
from gym_gui.core.records import IN_PROCESS, AgentRecord, EpisodeRecord

MAX_TRIES = 3
"""How often an episode is begun; it has failed when its session process died each time."""
MAX_BROKEN_STARTS = 3


@dataclass(frozen=True)
class RunResult:
    """How a run ended.

    Attributes:
        folder: Its run folder.
        status: ``completed``, ``failed`` or ``stopped``, as in ``run.json``.
        episodes: Finished episodes.
        failed: Of these, failed ones.
        problem: Why the run ended early, or ``""``.
    """

    folder: Path
    status: str
    episodes: int
    failed: int
    problem: str = ""


@dataclass(frozen=True)
class OperatorProgress:
    """Where an operator stands, for a progress display."""

    operator_id: str
    name: str
    done: int
    total: int
    failed: int
    live: int
    steps: int
    at_most: bool = False
    """``total`` is the most that may be played: fewer where that decides it."""


@dataclass
class OperatorExecution:
    """Episodes of one operator.

    Attributes:
        resolved: Who plays.
        total: Episodes of its schedule.
        pending: Not begun, in order.
        later: Not begun, and not before what was played is looked at.
        goal: Episodes that are done then, where anything is ``later`` or ``at_most``.
        suspects: Were in flight when a session process died; played one at a time, so
            that the one that kills it is found and the others are not lost again.
        tries: Times an episode was begun and lost.
        done: Finished episodes, those of an earlier part of the run included.
        failed: Of these, failed ones.
        steps: Environment steps so far.
        broken_starts: Sessions that could not be started, in a row.
        broken: Why the last of these could not.
        at_most: Whether it may end with fewer episodes than ``total``.
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
        """The operator."""
        return self.resolved.config.operator_id

    @property
    def finished(self) -> bool:
        """Whether every episode has its row."""
        return self.done >= self.total

    def progress(self, live: int) -> OperatorProgress:
        """Where it stands, with ``live`` episodes in flight."""
        name = self.resolved.config.display_name
        return OperatorProgress(
            self.operator_id, name, self.done, self.total, self.failed, live, self.steps, self.at_most
        )

    def play_up_to(self, episodes: int) -> None:
        """Have only the first so many of its schedule's episodes played for now."""
        waiting = [*self.pending, *self.later]
        self.pending = deque(plan for plan in waiting if plan.index < episodes)
        self.later = deque(plan for plan in waiting if plan.index >= episodes)
        self.goal = self.done + len(self.pending)

    def has_played(self, episodes: int) -> bool:
        """Whether the first so many of its schedule's episodes are done, while none is in flight."""
        return not any(plan.index < episodes for plan in (*self.pending, *self.later))

    def play_no_more(self) -> None:
        """Leave it at what is done: nothing is open."""
        self.pending.clear()
        self.later.clear()
        self.total, self.at_most = self.done, False

    def put_back(self, plan: EpisodePlan) -> None:
        """An episode is as good as not begun: queue it again, in its place."""
        waiting = self.pending
        at = next((i for i, other in enumerate(waiting) if other.index > plan.index), len(waiting))
        waiting.insert(at, plan)

    def take_back(self, lost: Iterable[EpisodePlan], begun: Collection[int]) -> list[EpisodePlan]:
        """A session died: queue its episodes again.

        Returns:
            Episodes that have now been lost too often.
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
        """An episode that no session could finish.

        Args:
            plan: The episode.
            error: Why.
            lost: The process that was missing, where neither players nor environment are why.
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
