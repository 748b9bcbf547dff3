"""Slots for agents that appear: ``type0_*`` stands for all whose names begin so, ``*`` for any."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from gym_gui.core.types import AgentID

ANY = "*"


def is_pattern(slot: AgentID) -> bool:
    """Whether a slot stands for agents that appear, not for one."""
    return ANY in slot


def fits(pattern: AgentID, agent: AgentID) -> bool:
    """Whether an agent is one of those that a pattern stands for."""
    return re.fullmatch(".*".join(map(re.escape, pattern.split(ANY))), agent, re.DOTALL) is not None


def slot_for(agent: AgentID, slots: Iterable[AgentID]) -> AgentID | None:
    """The slot that an agent sits in: the one of its own name, else the pattern that says most of it.

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
    """Which agents belong to groups that are named by names and patterns.

    Args:
        patterns: Names and patterns by group.
        agents: Those that have taken part.
    """
    return {
        group: tuple(agent for agent in agents if any(each == agent or fits(each, agent) for each in named))
        for group, named in patterns.items()
    }


def pattern_of(agent: AgentID) -> AgentID:
    """A pattern that an agent fits, for advice: ``type0_*`` for ``type0_3``."""
    return (re.sub(r"\d+$", "", agent) or agent) + ANY
