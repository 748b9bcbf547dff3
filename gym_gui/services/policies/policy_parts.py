"""Splits a joint policy into the parts of its agents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gym_gui.core.config import SINGLE_AGENT
from gym_gui.services.compatibility import space_words
from mosaic_worker.checkpoint import PolicyDescription
from mosaic_worker.preprocessing import describe_steps


@dataclass(frozen=True)
class AgentPart:
    """The part of one agent in a joint policy.

    Attributes:
        agent: Name of the agent.
        about: Description of this agent's policy alone.
        network: Number of its network, from 1. Agents with the same number share a network.
    """

    agent: str
    about: PolicyDescription
    network: int

    @property
    def sees(self) -> str:
        """Observation space that the slot must have, as text."""
        return space_words(self.about.observation_space)

    @property
    def shown(self) -> str:
        """Space of the network's input after preprocessing, as text."""
        return space_words(self.about.shown_space)

    @property
    def does(self) -> str:
        """Action space, as text."""
        return space_words(self.about.action_space)

    @property
    def prepared_by(self) -> str:
        """Preprocessing steps between slot and network, as text; empty if there are none."""
        return describe_steps(self.about.preprocessing) if self.about.preprocessing else ""

    def to_json(self) -> dict[str, Any]:
        """Return the part as plain data."""
        return {
            "agent": self.agent,
            "observation_space": self.about.observation_space.to_json(),
            "preprocessing": [dict(step) for step in self.about.preprocessing],
            "input_space": self.about.shown_space.to_json(),
            "action_space": self.about.action_space.to_json(),
            "network": self.network,
        }


def parts_of(policy: PolicyDescription) -> tuple[AgentPart, ...]:
    """Return the parts of a joint policy by agent; empty for a policy of a single agent."""
    if len(policy.agents) < 2:
        return ()
    numbers: dict[str, int] = {}
    parts: list[AgentPart] = []
    for agent in policy.agents:
        about = policy.part_of(agent)
        number = numbers.setdefault(about.weights_prefix, len(numbers) + 1)
        parts.append(AgentPart(agent, about, number))
    return tuple(parts)


def networks_in_words(parts: Sequence[AgentPart]) -> str:
    """Return which agents share a network, as text: ``green_0 and green_1 share one, blue_0 has its own``."""
    sharers: dict[int, list[str]] = {}
    for part in parts:
        sharers.setdefault(part.network, []).append(part.agent)
    if len(sharers) == 1:
        return "both share one" if len(parts) == 2 else f"all {len(parts)} share one"
    if len(sharers) == len(parts):
        return "each agent has its own"
    return ", ".join(map(_sharing, sharers.values()))


def joint_slots(policy: PolicyDescription, row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the slots of an experiment file that play a joint policy with one loaded copy.

    Args:
        policy: The policy.
        row: Slot settings of the first agent.
    """
    first, *others = policy.agents
    if not others:
        return {"workers": {"agent" if first == SINGLE_AGENT else first: dict(row)}}
    return {
        "workers": {first: dict(row)},
        "link_groups": [{"primary_agent": first, "linked_agents": others}],
    }


def _sharing(agents: Sequence[str]) -> str:
    if len(agents) == 1:
        return f"{agents[0]} has its own"
    return f"{', '.join(agents[:-1])} and {agents[-1]} share one"
