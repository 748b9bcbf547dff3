"""Describes TextWorld: the game's text, with the commands that the game accepts at the moment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gym_gui.core.experiment.prompt_inputs import Mode
from gym_gui.core.types import AgentID, Mask
from gym_gui.envs.describers.describer import Limit
from gym_gui.envs.describers.generic import SpaceDescriber


class TextWorldDescriber(SpaceDescriber):
    """Describes TextWorld's text and commands; commands are no ``choices``, because they have no numbers."""

    def text(self, agent: AgentID, observation: Any, mode: Mode = "egocentric") -> str:
        state = self.environment.env.state
        if state is None:
            return str(observation)
        # The game states the task only at the start of an episode, which not every reader remembers.
        task = "" if state.objective in observation else f"Your task: {state.objective}\n\n"
        commands = ", ".join(state.admissible_commands or ())
        return f"{task}{observation}\n\nLegal moves: {commands}"

    def any_action(self, agent: AgentID, mask: Mask | None, draw: int) -> str:
        """Return one of the commands that the game accepts now; other words do nothing."""
        commands: Sequence[str] = self.environment.env.state.admissible_commands or ("look",)
        return commands[draw % len(commands)]

    def game(self, agent: AgentID) -> str:
        return (
            "You play a text adventure: the game writes where you are and what happens, and you write "
            "what you do. Solving your task is worth 1 point. It ends "
            "when that is done and when it cannot be done any more."
        )

    def limit(self, agent: AgentID) -> Limit:
        return Limit(int(self.environment.env.max_steps), "commands")

    def reading(self, agent: AgentID, mode: Mode = "egocentric") -> str:
        return (
            '"look" tells where you are, "inventory" what you carry. A container has to be opened before '
            "something is taken from it; a locked one needs its key. Legal moves are the commands that the "
            "game understands at the moment."
        )

    def can_hide_legal(self, agent: AgentID) -> bool:
        """Return ``False``: the list of accepted commands is part of the text."""
        return False

    def _how_to_act(self, agent: AgentID) -> str:
        return 'Your action is one command in words, for example "open red box".'
