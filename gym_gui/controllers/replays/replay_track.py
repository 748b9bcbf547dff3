"""Computes what the agents of a recorded episode had done at each position of its replay."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import accumulate
from typing import Any

from gym_gui.controllers.replays.replay_reel import StoredState
from gym_gui.core.config import GOAL_SUFFIX
from gym_gui.core.live import AgentView, LiveView, PlayedMove
from gym_gui.core.record_fields import number, text
from gym_gui.core.records import StepRecord
from gym_gui.core.types import REFUSED, AgentID
from gym_gui.services.runs.recorded_episode import RecordedEpisode

Meanings = Mapping[AgentID, Sequence[str]]
_TEXT = 80
"""Largest number of characters of an action's text."""
_DIGITS = 3


class ReplayTrack:
    """Step rows of a recorded episode, indexed for queries at any position.

    Args:
        recorded: The episode.

    Attributes:
        recorded: The episode.
        steps: Rows of the episode.
        agents: Seats of the episode, in the order of their first rows.
        seats: The game's own name of each agent's seat; seats without such a name are left out.
        moves: Moves in the game's own notation, as far as they have been replayed.
    """

    def __init__(self, recorded: RecordedEpisode) -> None:
        self.recorded = recorded
        self.seats: Mapping[AgentID, str] = {}
        self.moves: Sequence[str] = ()
        self.steps: list[StepRecord] = recorded.steps()
        self.agents = tuple(dict.fromkeys([step.agent_id for step in self.steps]))
        self._rows_of: dict[AgentID, list[int]] = {agent: [] for agent in self.agents}
        for i, step in enumerate(self.steps):
            self._rows_of[step.agent_id].append(i)
        self._totals = {
            agent: list(accumulate(self.steps[i].reward or 0.0 for i in rows))
            for agent, rows in self._rows_of.items()
        }

    @property
    def kinds(self) -> dict[AgentID, str]:
        """Kind of worker of each agent."""
        return {agent: record.worker_type for agent, record in self.recorded.episode.agents.items()}

    @property
    def managed(self) -> bool:
        """Whether a manager chose options for an agent in this episode (hierarchical play)."""
        return any(agent.endswith(GOAL_SUFFIX) for agent in self.agents)

    @cached_property
    def rounds(self) -> int:
        """Number of rounds of decisions in the record; simultaneous decisions are one round."""
        found, step, asked, managed = 0, -1, set[AgentID](), False
        for row in self.steps:
            manages = row.agent_id.endswith(GOAL_SUFFIX)
            if row.step_index != step or row.agent_id in asked or manages != managed:
                found, step, asked = found + 1, row.step_index, set[AgentID]()
            managed = manages
            asked.add(row.agent_id)
        return found

    def total(self, agent: AgentID, rows: int) -> float:
        """Return an agent's return after the first ``rows`` rows."""
        played = bisect_left(self._rows_of.get(agent, []), rows)
        return self._totals[agent][played - 1] if played else 0.0

    def view(self, look: StoredState, meanings: Meanings, *, last: bool = False) -> LiveView:
        """Return a replay position in the form of a live view, for the renderers.

        Args:
            look: The position.
            meanings: Names of discrete actions, by seat.
            last: Whether the position is the end of the episode.
        """
        episode = self.recorded.episode
        return LiveView(
            episode=episode.episode_index,
            seed=episode.seed or 0,
            step=look.step,
            agents=tuple(self._agent(agent, look.rows, meanings) for agent in self.agents),
            turn=() if last else self._turn(look.rows),
            over=str(episode.status) if last else "",
            error=(episode.error or "") if last else "",
            scores=look.scores,
            outcome={t: str(o) for t, o in episode.outcome.items()} if last and episode.outcome else None,
            board=look.board,
            text=look.text,
            frame=look.position + 1,
            result=(last and episode.result) or look.result,
            moves=tuple(
                PlayedMove(step.agent_id, word)
                for step in self.steps[: look.rows]
                if (word := self.notation(step))
            ),
        )

    def notation(self, step: StepRecord) -> str:
        """Return an action in the game's own notation; ``""`` if the game has none."""
        if step.word or step.step_index >= len(self.moves):
            return step.word
        return self.moves[step.step_index]  # games with a notation have one move per step

    def words(self, step: StepRecord, meanings: Meanings) -> str:
        """Return an action as text: in the game's own notation, by its name, or abbreviated."""
        if notation := self.notation(step):
            return notation
        if step.agent_id.endswith(GOAL_SUFFIX) and (asked := self._option_chosen(step)):
            return asked
        words = meanings.get(step.agent_id, ())
        action = step.action
        if isinstance(action, int) and not isinstance(action, bool) and 0 <= action < len(words):
            return words[action] or str(action)
        text = str(_rounded(action))
        return text if len(text) <= _TEXT else f"{text[: _TEXT - 1]}…"

    def _option_chosen(self, choice: StepRecord) -> str:
        """Return the name of the option that a manager chose, as recorded.

        The action's number does not suffice, because versions number options differently.
        """
        agent = choice.agent_id.removesuffix(GOAL_SUFFIX)
        if choice.option is None:
            # Earlier versions recorded the option only in the rows of the controller.
            later = (self.steps[i] for i in self._rows_of.get(agent, ()) if self.steps[i].option is not None)
            choice = next((step for step in later if step.step_index >= choice.step_index), choice)
        return "" if choice.option is None else str(choice.option)

    def _turn(self, rows: int) -> tuple[AgentID, ...]:
        """Return the agents that act next: those of the following rows, up to the next step."""
        if rows >= len(self.steps):
            return ()
        step, found = self.steps[rows].step_index, list[AgentID]()
        for row in self.steps[rows:]:
            if row.step_index != step or row.agent_id in found:
                break
            found.append(row.agent_id)
        return tuple(found)

    def _agent(self, agent: AgentID, rows: int, meanings: Meanings) -> AgentView:
        record = self.recorded.episode.agents.get(agent)
        slot = record.slot if record is not None else agent
        played = bisect_left(self._rows_of[agent], rows)
        if not played:
            return AgentView(agent, slot, name=self.seats.get(agent, ""))
        step = self.steps[self._rows_of[agent][played - 1]]
        action = step.action
        return AgentView(
            agent=agent,
            slot=slot,
            action=self.words(step, meanings),
            number=action if isinstance(action, int) and not isinstance(action, bool) else None,
            source=str(step.action_source),
            reward=step.reward or 0.0,
            total=self._totals[agent][played - 1],
            value=number(step.value),
            option="" if step.option is None or agent.endswith(GOAL_SUFFIX) else str(step.option),
            latency_ms=step.latency_ms or 0.0,
            by=self._taken_over_by(agent, step.step_index),
            option_since=since if isinstance(since := step.extra.get("option_since"), int) else None,
            refused=text(step.extra.get(REFUSED)) or "",
            name=self.seats.get(agent, ""),
        )

    def _taken_over_by(self, agent: AgentID, step: int) -> str:
        """Return the policy that took over a seat before a step; ``""`` if none did."""
        changes = [c for c in self.recorded.episode.rebound if c.agent_id == agent and c.step_index <= step]
        return changes[-1].policy or changes[-1].worker_id if changes else ""


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, _DIGITS)
    if isinstance(value, list):
        return [_rounded(item) for item in value]  # pyright: ignore[reportUnknownVariableType]  # JSON
    return value
