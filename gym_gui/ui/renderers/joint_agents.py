"""Links between agents that one joint policy plays in one process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from gym_gui.controllers.setup.check_message import listed
from gym_gui.core.experiment.assignment import LinkGroup
from gym_gui.core.live import AgentView
from gym_gui.core.types import AgentID


@dataclass(frozen=True, slots=True)
class JointGroup:
    """Group of slots that one joint policy plays.

    Attributes:
        letter: Letter of the group in the table of agents, such as ``A``.
        color: Color of the letter, ``#rrggbb``.
        slots: All slots of the group.
        policy: Name of the policy's file without suffix; ``""`` if there is no file.
    """

    letter: str
    color: str
    slots: tuple[AgentID, ...]
    policy: str = ""

    def other_agents(self, agent: AgentID, agents: Sequence[AgentView]) -> list[str]:
        """Return the names of the other agents that the joint policy plays.

        Args:
            agent: Agent to leave out.
            agents: All agents of the episode.
        """
        return [a.name or a.agent for a in agents if a.slot in self.slots and a.agent != agent]

    def sentence(self, agent: AgentID, agents: Sequence[AgentView]) -> str:
        """Return a sentence about the agents that share a policy with an agent; ``""`` if there are none."""
        mates = self.other_agents(agent, agents)
        if not mates:
            return ""
        policy = f"one policy ({self.policy})" if self.policy else "one policy"
        return (
            f"{listed(mates)} (link {self.letter}): {policy} plays them and this agent in one process. "
            "Each agent receives only its own observation."
        )


def letter_of(place: int) -> str:
    """Return the letter of a link by its index, ``A`` for 0; from 26 on, return a number."""
    return chr(ord("A") + place) if place < 26 else str(place + 1)


def joint_groups_of(groups: Sequence[LinkGroup]) -> dict[AgentID, JointGroup]:
    """Return the link of each slot that shares a joint policy with other slots."""
    found: dict[AgentID, JointGroup] = {}
    for place, group in enumerate(groups):
        policy = PurePath(group.policy_path.partition(":")[2] or group.policy_path).stem
        link = JointGroup(letter_of(place), group.color, group.agents, policy)
        found |= dict.fromkeys(group.agents, link)
    return found


def recorded_joint_groups(operator: Mapping[str, object]) -> dict[AgentID, JointGroup]:
    """Return the link of each slot, from an operator as a run's record stores it."""
    groups = operator.get("link_groups")
    entries = [each for each in groups if isinstance(each, Mapping)] if isinstance(groups, list) else []
    return joint_groups_of([LinkGroup(**entry) for entry in entries])
