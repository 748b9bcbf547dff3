"""Agents that appear in an episode, and the episode numbers under which their slot's policy knows them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from gym_gui.core.types import AgentID, Answer, Decision
from gym_gui.workers.team_context import Joined

_LAST_EPISODE = 2**32 - 1
"""Stand-in numbers are counted down from here: no run has so many episodes."""


class AppearedAgent(NamedTuple):
    """An agent that has appeared, as the policy of its slot knows it.

    Attributes:
        slot: The slot.
        episode: The stand-in: the episode number shown to the slot's policy in place of the real one.
        seed: Its policy seed.
        agent: The agent.
        joined: The real episode, and the agent's context.
    """

    slot: AgentID
    episode: int
    seed: int
    agent: AgentID
    joined: Joined


class AppearedAgents:
    """Gives agents that appear stand-in episode numbers: a policy keeps what it remembers by episode."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, AgentID], AppearedAgent] = {}
        self._asked_as: dict[int, Decision] = {}
        self._unused = _LAST_EPISODE

    def __bool__(self) -> bool:
        return bool(self._known)

    def add(self, slot: AgentID, seed: int, agent: AgentID, joined: Joined) -> AppearedAgent:
        """An agent has appeared in an episode."""
        found = self._known[joined.episode, agent] = AppearedAgent(slot, self._unused, seed, agent, joined)
        self._unused -= 1
        return found

    def tell(self, agent: AgentID, joined: Joined) -> None:
        """Give an agent another context from now on: its slot has another player."""
        key = joined.episode, agent
        self._known[key] = self._known[key]._replace(joined=joined)

    def get(self, episode: int, agent: AgentID) -> AppearedAgent | None:
        """What is known of an agent; ``None`` where it was there from the beginning."""
        return self._known.get((episode, agent))

    def of_slot(self, slot: AgentID) -> list[AppearedAgent]:
        """Those that a slot plays now."""
        return [each for each in self._known.values() if each.slot == slot]

    def pop(self, episode: int, agent: AgentID) -> AppearedAgent | None:
        """Forget an agent and what it was asked."""
        found = self._known.pop((episode, agent), None)
        if found is not None:
            asked = self._asked_as.items()
            self._asked_as = {i: d for i, d in asked if (d.episode, d.agent_id) != (episode, agent)}
        return found

    def translated(self, decisions: list[Decision]) -> list[Decision]:
        """Decisions with the stand-in numbers."""
        return [self._translated(each) for each in decisions] if self._known else decisions

    def _translated(self, decision: Decision) -> Decision:
        found = self._known.get((decision.episode, decision.agent_id))
        if found is None:
            return decision
        self._asked_as[decision.id] = decision
        return msgspec.structs.replace(decision, episode=found.episode)

    def restored(self, answers: Sequence[Answer]) -> Sequence[Answer]:
        """Answers with the session's own decisions put back."""
        if not self._asked_as:
            return answers
        return [
            answer
            if (asked := self._asked_as.pop(answer.decision.id, None)) is None
            else msgspec.structs.replace(answer, decision=asked)
            for answer in answers
        ]
