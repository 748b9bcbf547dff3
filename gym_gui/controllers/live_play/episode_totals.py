"""Statistics of one operator since its last start or reset, counted while it plays."""

from __future__ import annotations

import math
import statistics
from collections import Counter, deque
from collections.abc import Sequence
from typing import Any, Final

from gym_gui.analysis.transcripts.turn import Turn
from gym_gui.controllers.live_play.call_log import CallLog
from gym_gui.core.live import AgentView, LiveView

REMEMBERED_EPISODES: Final = 5000
REMEMBERED_LINES: Final = 1000
REMEMBERED_STEPS: Final = 2000
REMEMBERED_DECISIONS: Final = 500


class EpisodeTotals:
    """Statistics of one live operator, from views of its running episode and from finished episodes.

    An episode that runs freely is shown in samples. Rewards are then means over the steps between two views,
    and only the actions and decision times in the views are counted. If every step is shown (paused,
    stepping, at a pace), all numbers are exact. Memory is bounded, however long the operator plays.

    Attributes:
        episodes: Number of episodes that have ended.
        episodes_done: Lines of the last 1,000 episodes that have ended.
        calls: Model calls and reported decisions; ``None`` if there are none.
        returns: Pairs (episode counted from 1, return) of the last 5,000 episodes with a finite return.
        rewards: Pairs (step, reward of all agents) of the episode in flight, the last 2,000.
        actions: How often each (number, word) was counted, if actions are numbered.
        changes: Counter that rises with everything that is counted. A chart need not be drawn again while the
            counter stays the same.
    """

    def __init__(self) -> None:
        self.episodes = self.changes = 0
        self.episodes_done: list[dict[str, Any]] = []
        self.calls: CallLog | None = None
        self.returns: deque[tuple[int, float]] = deque(maxlen=REMEMBERED_EPISODES)
        self.rewards: deque[tuple[int, float]] = deque(maxlen=REMEMBERED_STEPS)
        self.actions: Counter[tuple[int, str]] = Counter()
        self._return_sum, self._return_count = 0.0, 0
        self._length_sum = self._decisions = self._unusable = 0
        self._seconds: deque[float] = deque(maxlen=REMEMBERED_DECISIONS)
        self._last: LiveView | None = None
        self._asked = 1

    # -- counting -----------------------------------------------------------------------

    def count_view(self, view: LiveView) -> None:
        """Count the steps, rewards and actions since the previous view."""
        last = self._last
        self._asked = len(view.turn) or self._asked  # no agent is asked in an episode that is over
        if last is not None and last.episode == view.episode and view.step == last.step:
            self._last = view
            return
        same = last is not None and last.episode == view.episode and view.step > last.step
        if not same:
            self.rewards.clear()
        before = last if same else None
        self._last = view
        self.changes += 1
        steps = view.step - (before.step if before is not None else 0)
        if steps <= 0:
            return
        gained = _total(view) - (_total(before) if before is not None else 0.0)
        if math.isfinite(gained):
            self.rewards.append((view.step, gained / steps))
        for agent in _acted(before, view, steps):
            self._seconds.append(agent.latency_ms / 1000.0)
            if agent.number is not None:
                self.actions[agent.number, agent.action] += 1

    def call(self, line: bytes) -> Turn | None:
        """Add a log line and return its turn; ``None`` if the line is neither a model call nor a decision."""
        if self.calls is None:
            self.calls = CallLog()
        return self.calls.add(line)

    def end(self, row: dict[str, Any], decisions: int) -> None:
        """Count an episode that has ended without being aborted.

        Args:
            row: Line of the episode, as recorded.
            decisions: Number of rows of the episode.
        """
        self.episodes += 1
        self.changes += 1
        self.episodes_done.append(row)
        del self.episodes_done[:-REMEMBERED_LINES]
        self._length_sum += int(row.get("length", 0))
        self._decisions += decisions
        self._unusable += sum(row.get("unusable_decisions", {}).values())
        total = row.get("total_reward")
        if isinstance(total, (int, float)) and math.isfinite(total):
            self.returns.append((self.episodes, float(total)))
            self._return_sum += total
            self._return_count += 1
        if self._last is not None and self._last.episode == row.get("episode_index"):
            self._last = None  # the episode now counts as ended

    # -- statistics --------------------------------------------------------

    @property
    def mean_return(self) -> float | None:
        """Mean return of the finished episodes; ``None`` without any."""
        return self._return_sum / self._return_count if self._return_count else None

    @property
    def mean_length(self) -> float | None:
        """Mean length of the finished episodes in environment steps; ``None`` without any."""
        return self._length_sum / self.episodes if self.episodes else None

    @property
    def unusable(self) -> int:
        """Number of decisions whose last reply could not be played, including the running episode's."""
        running = self._last
        return self._unusable + (
            sum(agent.unusable for agent in running.agents) if running is not None else 0
        )

    @property
    def decisions(self) -> int:
        """Number of decisions, including those of the running episode."""
        running = self._last
        return self._decisions + (running.step * self._asked if running is not None else 0)

    @property
    def median_s(self) -> float | None:
        """Median time in seconds of the last 500 counted decisions; ``None`` without any."""
        return statistics.median(self._seconds) if self._seconds else None

    def action_counts(self) -> dict[str, int]:
        """Return how often each action was counted, by name and in the order of the action numbers.

        Actions with the same name are counted together.
        """
        counts: dict[str, int] = {}
        for (_, word), count in sorted(self.actions.items()):
            counts[word] = counts.get(word, 0) + count
        return counts

    def last_returns(self, count: int) -> list[float]:
        """Return the returns of the last ``count`` episodes, oldest first."""
        shown = list(self.returns)[-count:] if count < len(self.returns) else self.returns
        return [value for _, value in shown]


def _total(view: LiveView) -> float:
    return sum(agent.total for agent in view.agents)


def _acted(before: LiveView | None, view: LiveView, steps: int) -> Sequence[AgentView]:
    """Return the agents that acted in the steps since ``before``.

    All agents with an action if that is unclear.
    """
    agents = [agent for agent in view.agents if agent.source]
    if steps == 1 and before is not None and before.turn:
        return [agent for agent in agents if agent.agent in before.turn]
    return agents
