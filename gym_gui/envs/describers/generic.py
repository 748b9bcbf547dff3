"""A sound description of any environment, from its spaces and its documentation alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gym_gui.core.spaces import Space, to_space
from gym_gui.core.types import AgentID
from gym_gui.core.view import Mode
from gym_gui.envs.describers.base import Describer
from gym_gui.envs.describers.spaces import is_picture, say


class SpaceDescriber(Describer):
    """Says values as their space names them; the default of every family."""

    def text(self, agent: AgentID, observation: Any, mode: Mode = "egocentric") -> str:
        return say(self._space(agent), observation, self.names(agent))

    def game(self, agent: AgentID) -> str:
        environment = self.environment
        title = environment.family.title_of(environment.spec)
        return " ".join(filter(None, (f"The game is {title}.", environment.family.summary(environment.spec))))

    def names(self, agent: AgentID) -> Sequence[str]:
        """Names of the components of a vector, or of a ``Discrete`` space's values; empty where unknown."""
        return ()

    def can_say(self, agent: AgentID) -> bool:
        leaves = self._space(agent).leaves
        return not all(is_picture(leaf) for _, leaf in leaves)

    def _space(self, agent: AgentID) -> Space:
        return to_space(self.environment.adapter.observation_space(agent))
