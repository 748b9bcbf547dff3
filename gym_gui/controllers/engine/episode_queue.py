"""Queues the episodes of a session that wait for their turn, also those whose worker was lost."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from gym_gui.core.experiment.execution import EpisodePlan


class EpisodeQueue:
    """Decides which episode begins next.

    A worker that ends takes down all episodes that it had begun, and one of them may be the reason. These
    episodes are played again, all at once, because most ends have other causes. An episode that is lost a
    second time is played alone. So the one that kills the worker is found, and the others are not lost
    with it.
    """

    def __init__(self) -> None:
        self._waiting: deque[EpisodePlan] = deque()
        self._suspects: deque[EpisodePlan] = deque()
        self._losses: dict[int, int] = {}
        self._suspected = False
        self._alone = -1

    def __len__(self) -> int:
        return len(self._waiting) + len(self._suspects)

    def add(self, plans: Iterable[EpisodePlan]) -> None:
        """Queue episodes."""
        self._waiting.extend(plans)

    def clear(self) -> None:
        """Forget the episodes that wait."""
        self._waiting.clear()
        self._suspects.clear()

    def take(self, live: int, room: int) -> EpisodePlan | None:
        """Return the next episode to begin; ``None`` if none may begin now.

        Args:
            live: Number of episodes in flight.
            room: Largest number of episodes that may be in flight.
        """
        if live and (self._suspects or self._suspected):
            return None
        self._suspected = bool(self._suspects)
        if self._suspects:
            plan = self._suspects.popleft()
        elif self._waiting and live < room:
            plan = self._waiting.popleft()
        else:
            return None
        self._alone = -1 if live else plan.index
        return plan

    def losses(self, index: int) -> int:
        """Return how often an episode was lost with its worker."""
        return self._losses.get(index, 0)

    def lose(self, plan: EpisodePlan) -> bool:
        """Note that an episode was lost with its worker.

        Returns:
            Whether the episode is queued again: ``False`` if it was lost before and has now played alone.
        """
        losses = self._losses[plan.index] = self.losses(plan.index) + 1
        if losses == 1:
            self._waiting.appendleft(plan)
        elif self._alone == plan.index:
            return False
        else:
            self._suspects.append(plan)
        return True
