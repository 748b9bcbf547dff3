"""Agents that appear during an episode, with the stand-in episode numbers that their policies see."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from gym_gui.core.types import AgentID, Answer, Decision
from gym_gui.workers.team_context import JoinedAgent

_LAST_EPISODE = 2**32 - 1
"""First stand-in episode number. Later ones are lower; no run has enough episodes to reach them."""


class AppearedAgent(NamedTuple):
    """An agent that appeared during an episode, with the episode number that its policy sees.

    Attributes:
        slot: The slot whose policy plays the agent.
        episode: Stand-in number: the episode number that the policy sees instead of the real one.
        seed: Policy seed of the agent.
        agent: The agent.
        joined: The real episode, and the context that the agent gets.
    """

    slot: AgentID
    episode: int
    seed: int
    agent: AgentID
    joined: JoinedAgent


class AppearedAgents:
    """Assigns stand-in episode numbers to appeared agents, because policies keep their state by episode."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, AgentID], AppearedAgent] = {}
        self._asked_as: dict[int, Decision] = {}
        self._unused = _LAST_EPISODE

    def __bool__(self) -> bool:
        return bool(self._known)

    def add(self, slot: AgentID, seed: int, agent: AgentID, joined: JoinedAgent) -> AppearedAgent:
        """Add an agent that has appeared in an episode, and return it with its stand-in number."""
        found = self._known[joined.episode, agent] = AppearedAgent(slot, self._unused, seed, agent, joined)
        self._unused -= 1
        return found

    def replace_context(self, agent: AgentID, joined: JoinedAgent) -> None:
        """Replace the context of an agent, because another policy plays its slot now."""
        key = joined.episode, agent
        self._known[key] = self._known[key]._replace(joined=joined)

    def get(self, episode: int, agent: AgentID) -> AppearedAgent | None:
        """Return the entry of an agent, or ``None`` if the agent was in the episode from its start."""
        return self._known.get((episode, agent))

    def of_slot(self, slot: AgentID) -> list[AppearedAgent]:
        """Return the appeared agents that a slot plays."""
        return [each for each in self._known.values() if each.slot == slot]

    def pop(self, episode: int, agent: AgentID) -> AppearedAgent | None:
        """Remove an agent and its open decisions, and return its entry or ``None``."""
        found = self._known.pop((episode, agent), None)
        if found is not None:
            asked = self._asked_as.items()
            self._asked_as = {i: d for i, d in asked if (d.episode, d.agent_id) != (episode, agent)}
        return found

    def translated(self, decisions: list[Decision]) -> list[Decision]:
        """Return decisions with stand-in numbers instead of the real episode numbers."""
        return [self._translated(each) for each in decisions] if self._known else decisions

    def _translated(self, decision: Decision) -> Decision:
        found = self._known.get((decision.episode, decision.agent_id))
        if found is None:
            return decision
        self._asked_as[decision.id] = decision
        return msgspec.structs.replace(decision, episode=found.episode)

    def restored(self, answers: Sequence[Answer]) -> Sequence[Answer]:
        """Return answers whose decisions have the real episode numbers again."""
        if not self._asked_as:
            return answers
        return [
            answer
            if (asked := self._asked_as.pop(answer.decision.id, None)) is None
            else msgspec.structs.replace(answer, decision=asked)
            for answer in answers
        ]
