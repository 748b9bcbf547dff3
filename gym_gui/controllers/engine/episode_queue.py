"""Queue of a session's waiting episodes, including episodes to repeat because their worker ended."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from gym_gui.core.experiment.execution import EpisodePlan


class EpisodeQueue:
    """Queue that decides which episode of a session begins next.

    If a worker process ends, all its running episodes are lost, and one of them may be the cause. All of
    them are first played again in parallel, because most ends have other causes. An episode that is lost a
    second time is played alone. So the episode that ends the worker is found, and no other is lost with it.
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
        """Append episodes to the queue."""
        self._waiting.extend(plans)

    def clear(self) -> None:
        """Remove all episodes from the queue."""
        self._waiting.clear()
        self._suspects.clear()

    def take(self, live: int, room: int) -> EpisodePlan | None:
        """Remove and return the next episode to begin; ``None`` if no episode may begin now.

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
        """Return how often an episode was lost because its worker ended."""
        return self._losses.get(index, 0)

    def lose(self, plan: EpisodePlan) -> bool:
        """Count the loss of an episode whose worker ended, and queue the episode again if possible.

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
