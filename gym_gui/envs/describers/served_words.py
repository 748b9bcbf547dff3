"""Describer that asks a served environment for its own texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gym_gui.core.experiment.prompt_inputs import Mode
from gym_gui.core.types import AgentID
from gym_gui.envs.describers.generic import SpaceDescriber
from gym_gui.envs.facts import Fact, fact


class ServedDescriber(SpaceDescriber):
    """Describes a served environment with the texts that its server returns."""

    def text(self, agent: AgentID, observation: Any, mode: Mode = "egocentric") -> str:
        return str(self._ask("text", agent))

    def can_say(self, agent: AgentID) -> bool:
        return True

    def facts(self, agent: AgentID, observation: Any, mode: Mode = "egocentric") -> Sequence[Fact]:
        """Return the facts that the environment lists, each as a predicate with its terms."""
        return [fact(str(each[0]), *each[1:]) for each in self._ask("facts", agent)]

    def can_state(self, agent: AgentID) -> bool:
        return "facts" in self.environment.env.answers

    def game(self, agent: AgentID) -> str:
        if "briefing" in self.environment.env.answers:
            return str(self._ask("briefing", agent))
        return super().game(agent)

    def reading(self, agent: AgentID, mode: Mode = "egocentric") -> str:
        return ""

    def _ask(self, name: str, agent: AgentID) -> Any:
        return self.environment.env.ask(name, self.environment.adapter.key_of(agent))
