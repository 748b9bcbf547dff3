"""Episodes that wait for their turn in a session, those that a lost worker took along among them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from gym_gui.core.experiment.execution import EpisodePlan


class EpisodeQueue:
    """Says which episode is begun next.

    A worker that ends takes all episodes along that it had begun, and one of them may be why. They
    are played again, all at once: most ends have other causes. What is lost a second time is played
    alone, so that the one that kills is found and the others are not lost again with it.
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
        """Forget those that wait."""
        self._waiting.clear()
        self._suspects.clear()

    def take(self, live: int, room: int) -> EpisodePlan | None:
        """The next episode to begin; ``None``: none now.

        Args:
            live: Episodes in flight.
            room: How many there may be.
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
        """How often an episode's worker was lost."""
        return self._losses.get(index, 0)

    def lose(self, plan: EpisodePlan) -> bool:
        """An episode's worker was lost.

        Returns:
            Whether it is queued again; not where it was lost before and has now played alone.
        """
        losses = self._losses[plan.index] = self.losses(plan.index) + 1
        if losses == 1:
            self._waiting.appendleft(plan)
        elif self._alone == plan.index:
            return False
        else:
            self._suspects.append(plan)
        return True
