"""Which agents one policy plays together: a joint policy, loaded once, by one process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from gym_gui.controllers.setup.check_message import listed
from gym_gui.core.experiment.assignment import LinkGroup
from gym_gui.core.live import AgentView
from gym_gui.core.types import AgentID


@dataclass(frozen=True, slots=True)
class Together:
    """Slots that one policy plays.

    Attributes:
        letter: Its mark, as in the table of agents: ``A``.
        color: Of its mark, ``#rrggbb``.
        slots: All of them.
        policy: What its file is called; empty where none is named.
    """

    letter: str
    color: str
    slots: tuple[AgentID, ...]
    policy: str = ""

    def mates(self, agent: AgentID, agents: Sequence[AgentView]) -> list[str]:
        """Who else is played by it, as seats are called.

        Args:
            agent: The agent (seat) that is asked about.
            agents: All that play.
        """
        return [a.name or a.agent for a in agents if a.slot in self.slots and a.agent != agent]

    def sentence(self, agent: AgentID, agents: Sequence[AgentView]) -> str:
        """Which agents share their policy with this agent (seat), and how; empty where no other one plays."""
        mates = self.mates(agent, agents)
        if not mates:
            return ""
        policy = f"one policy ({self.policy})" if self.policy else "one policy"
        return (
            f"{listed(mates)} (link {self.letter}): {policy} plays them and this agent, in one process. "
            "Each takes its own part of it and sees only what is its own."
        )


def letter_of(place: int) -> str:
    """``A`` for the first link, and so on."""
    return chr(ord("A") + place) if place < 26 else str(place + 1)


def together_of(groups: Sequence[LinkGroup]) -> dict[AgentID, Together]:
    """The links of an operator, by slot."""
    found: dict[AgentID, Together] = {}
    for place, group in enumerate(groups):
        policy = PurePath(group.policy_path.partition(":")[2] or group.policy_path).stem
        link = Together(letter_of(place), group.color, group.agents, policy)
        found |= dict.fromkeys(group.agents, link)
    return found


def recorded_together(operator: Mapping[str, object]) -> dict[AgentID, Together]:
    """The same of an operator as the record of a run has it."""
    groups = operator.get("link_groups")
    entries = [each for each in groups if isinstance(each, Mapping)] if isinstance(groups, list) else []
    return together_of([LinkGroup(**entry) for entry in entries])
