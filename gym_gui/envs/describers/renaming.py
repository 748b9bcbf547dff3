"""Describes a game with replaced names, to test whether a model reads the prompt or remembers the game."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gym_gui.core.experiment.prompt_inputs import Mode
from gym_gui.core.types import AgentID, Choice, Mask
from gym_gui.envs.describers.describer import ActionWord, Describer, Limit
from gym_gui.envs.facts import Fact
from mosaic_worker.renaming import Names


class RenamedDescriber(Describer):
    """Describer that replaces names in the text of another describer.

    Args:
        told: Describer with the standard names.
        names: The replaced names.
    """

    def __init__(self, told: Describer, names: Names) -> None:
        super().__init__(told.environment)
        self._told, self._names = told, names

    def text(self, agent: AgentID, observation: Any, mode: Mode = "egocentric") -> str:
        return self._names.text(self._told.text(agent, observation, mode))

    def facts(self, agent: AgentID, observation: Any, mode: Mode = "egocentric") -> Sequence[Fact]:
        """Return the facts with the standard names, because programs read them."""
        return self._told.facts(agent, observation, mode)

    def can_state(self, agent: AgentID) -> bool:
        return self._told.can_state(agent)

    def measures(self, agent: AgentID) -> bool:
        return self._told.measures(agent)

    def game(self, agent: AgentID) -> str:
        return self._names.text(self._told.game(agent))

    def limit(self, agent: AgentID) -> Limit:
        return self._told.limit(agent)

    def reading(self, agent: AgentID, mode: Mode = "egocentric") -> str:
        return self._names.text(self._told.reading(agent, mode))

    def actions(self, agent: AgentID) -> Sequence[ActionWord]:
        names = self._names
        return [
            ActionWord(names.action(each.word), names.text(each.meaning))
            for each in self._told.actions(agent)
        ]

    def choices(self, agent: AgentID, observation: Any, mask: Mask | None) -> tuple[Choice, ...]:
        choices = self._told.choices(agent, observation, mask)
        return tuple(Choice(each.action, self._names.action(each.word)) for each in choices)

    def briefing(self, agent: AgentID, mode: Mode = "egocentric") -> str:
        return self._names.text(self._told.briefing(agent, mode))
