"""A joint policy, opened into what each of its agents plays."""

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
    """What one agent of a joint policy plays.

    Attributes:
        agent: Its name.
        about: The policy of this agent alone.
        network: Number of its network, from 1 on; agents with the same share it.
    """

    agent: str
    about: PolicyDescription
    network: int

    @property
    def sees(self) -> str:
        """What its slot has to give."""
        return space_words(self.about.observation_space)

    @property
    def shown(self) -> str:
        """What its network is shown of it."""
        return space_words(self.about.shown_space)

    @property
    def does(self) -> str:
        """Its actions."""
        return space_words(self.about.action_space)

    @property
    def prepared_by(self) -> str:
        """Steps between its slot and the network; empty for none."""
        return describe_steps(self.about.preprocessing) if self.about.preprocessing else ""

    def to_json(self) -> dict[str, Any]:
        """The same, as plain data."""
        return {
            "agent": self.agent,
            "observation_space": self.about.observation_space.to_json(),
            "preprocessing": [dict(step) for step in self.about.preprocessing],
            "input_space": self.about.shown_space.to_json(),
            "action_space": self.about.action_space.to_json(),
            "network": self.network,
        }


def parts_of(policy: PolicyDescription) -> tuple[AgentPart, ...]:
    """The parts of a joint policy, agent by agent; none of a policy that plays one agent."""
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
    """Which agents share a network: ``green_0 and green_1 share one, blue_0 has its own``."""
    sharers: dict[int, list[str]] = {}
    for part in parts:
        sharers.setdefault(part.network, []).append(part.agent)
    if len(sharers) == 1:
        return "both share one" if len(parts) == 2 else f"all {len(parts)} share one"
    if len(sharers) == len(parts):
        return "each agent has its own"
    return ", ".join(map(_sharing, sharers.values()))


def joint_slots(policy: PolicyDescription, row: Mapping[str, Any]) -> dict[str, Any]:
    """The slots of an experiment file in which a policy is played whole, loaded once.

    Args:
        policy: The policy.
        row: The slot of one agent.
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
