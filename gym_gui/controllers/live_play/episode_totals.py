"""What an operator has done since it began, counted while it plays."""

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


class Tally:
    """Adds up what is shown of an operator's episodes, and those that end.

    Play that runs freely is shown in samples. Rewards are then means over the steps between
    two looks; of actions and decision times, those that were seen are counted. Where every
    step is shown (paused, stepping, at a pace), all is exact. Memory is bounded, however long
    it plays.

    Attributes:
        episodes: Episodes that have ended.
        episodes_done: Lines of the last 1,000 of them.
        calls: What models were asked, and what was told of decisions; ``None`` where nothing was.
        returns: (episode counted from 1, return) of the last 5,000 whose return is finite.
        rewards: (step, reward of all agents) of the episode in flight, the last 2,000.
        actions: How often each (number, word) was seen, where actions are numbered.
        changes: Goes up with everything that is counted; what has been drawn at one value
            need not be drawn again.
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

    # -- counted -----------------------------------------------------------------------

    def look(self, view: LiveView) -> None:
        """Count what happened since the look before."""
        last = self._last
        self._asked = len(view.turn) or self._asked  # no agent is asked once it is over
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
        """Keep a call to a model or what was told of a decision; ``None``: the line is neither."""
        if self.calls is None:
            self.calls = CallLog()
        return self.calls.add(line)

    def end(self, row: dict[str, Any], decisions: int) -> None:
        """Count an episode that has ended by itself.

        Args:
            row: Its line, as recorded.
            decisions: Rows of its steps.
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
            self._last = None  # from here on it is counted among those that have ended

    # -- what has come together --------------------------------------------------------

    @property
    def mean_return(self) -> float | None:
        """Mean return of the episodes that have ended."""
        return self._return_sum / self._return_count if self._return_count else None

    @property
    def mean_length(self) -> float | None:
        """Mean length in environment steps of the episodes that have ended."""
        return self._length_sum / self.episodes if self.episodes else None

    @property
    def unusable(self) -> int:
        """Decisions whose last reply could not be played, the running episode's included."""
        running = self._last
        return self._unusable + (
            sum(agent.unusable for agent in running.agents) if running is not None else 0
        )

    @property
    def decisions(self) -> int:
        """Decisions that were taken, the running episode's included."""
        running = self._last
        return self._decisions + (running.step * self._asked if running is not None else 0)

    @property
    def median_s(self) -> float | None:
        """Median time of the last 500 decisions that were seen, in seconds."""
        return statistics.median(self._seconds) if self._seconds else None

    def action_counts(self) -> dict[str, int]:
        """How often each action was seen, in the order of their numbers; those of one word together."""
        counts: dict[str, int] = {}
        for (_, word), count in sorted(self.actions.items()):
            counts[word] = counts.get(word, 0) + count
        return counts

    def last_returns(self, count: int) -> list[float]:
        """Returns of the last episodes, oldest first."""
        shown = list(self.returns)[-count:] if count < len(self.returns) else self.returns
        return [value for _, value in shown]


def _total(view: LiveView) -> float:
    return sum(agent.total for agent in view.agents)


def _acted(before: LiveView | None, view: LiveView, steps: int) -> Sequence[AgentView]:
    """Agents whose last action belongs to the steps since ``before``, as far as can be told."""
    agents = [agent for agent in view.agents if agent.source]
    if steps == 1 and before is not None and before.turn:
        return [agent for agent in agents if agent.agent in before.turn]
    return agents
