"""Slots whose name is a pattern, for agents that appear during play: ``type0_*``, or ``*`` for any agent."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from gym_gui.core.types import AgentID

ANY = "*"


def is_pattern(slot: AgentID) -> bool:
    """Return whether a slot's name is a pattern for agents that appear, not the name of one agent."""
    return ANY in slot


def fits(pattern: AgentID, agent: AgentID) -> bool:
    """Return whether an agent's name matches a pattern."""
    return re.fullmatch(".*".join(map(re.escape, pattern.split(ANY))), agent, re.DOTALL) is not None


def slot_for(agent: AgentID, slots: Iterable[AgentID]) -> AgentID | None:
    """Return the slot of an agent: the one with its own name, else the most specific pattern that it matches.

    Args:
        agent: The agent.
        slots: Names and patterns.
    """
    named = list(slots)
    if agent in named:
        return agent
    fitting = [slot for slot in named if is_pattern(slot) and fits(slot, agent)]
    return max(fitting, key=lambda slot: len(slot) - slot.count(ANY), default=None)


def members(
    patterns: Mapping[str, Sequence[AgentID]], agents: Sequence[AgentID]
) -> dict[str, tuple[AgentID, ...]]:
    """Return the agents of each group, for groups that are given as names and patterns.

    Args:
        patterns: Names and patterns by group.
        agents: Agents that have taken part.
    """
    return {
        group: tuple(agent for agent in agents if any(each == agent or fits(each, agent) for each in named))
        for group, named in patterns.items()
    }


def pattern_of(agent: AgentID) -> AgentID:
    """Return a pattern to suggest for an agent: ``type0_*`` for ``type0_3``."""
    return (re.sub(r"\d+$", "", agent) or agent) + ANY
