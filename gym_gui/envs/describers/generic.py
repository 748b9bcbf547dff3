"""Describer for any environment, which uses only the spaces and the documentation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gym_gui.core.experiment.prompt_inputs import Mode
from gym_gui.core.spaces import Space, to_space
from gym_gui.core.types import AgentID
from gym_gui.envs.describers.describer import Describer
from gym_gui.envs.describers.value_words import has_text, is_memory, value_text
from gym_gui.envs.instance import Instance


class SpaceDescriber(Describer):
    """Describes observations by their space; the default describer of every family."""

    def __init__(self, environment: Instance) -> None:
        super().__init__(environment)
        self._spaces: dict[AgentID, Space] = {}

    def text(self, agent: AgentID, observation: Any, mode: Mode = "egocentric") -> str:
        return value_text(self._space(agent), observation, self.names(agent))

    def game(self, agent: AgentID) -> str:
        environment = self.environment
        title = environment.title
        return " ".join(filter(None, (f"The game is {title}.", environment.summary)))

    def names(self, agent: AgentID) -> Sequence[str]:
        """Return names of a vector's components or of a ``Discrete`` space's values; empty if unknown."""
        return ()

    def reading(self, agent: AgentID, mode: Mode = "egocentric") -> str:
        if not any(is_memory(leaf) for _, leaf in self._space(agent).leaves):
            return ""
        return (
            "You see the memory of the machine: its bytes in hexadecimal, sixteen in a row, after the number "
            "of the first of them. Which byte means what, the game does not say."
        )

    def can_say(self, agent: AgentID) -> bool:
        return any(has_text(leaf) for _, leaf in self._space(agent).leaves)

    def _space(self, agent: AgentID) -> Space:
        known = self._spaces.get(agent)
        if known is None:
            known = self._spaces[agent] = to_space(self.environment.adapter.observation_space(agent))
        return known
