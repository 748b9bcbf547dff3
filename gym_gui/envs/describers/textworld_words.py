"""TextWorld's texts, with the commands that the game understands at the moment."""

from __future__ import annotations

from typing import Any

from gym_gui.core.types import AgentID, Choice, Mask
from gym_gui.core.view import Mode
from gym_gui.envs.describers.generic import SpaceDescriber


class TextWorldDescriber(SpaceDescriber):
    """What the game wrote; its commands are the choices, though others may be written too."""

    def text(self, agent: AgentID, observation: Any, mode: Mode = "egocentric") -> str:
        return str(observation)

    def game(self, agent: AgentID) -> str:
        return (
            "You play a text adventure: the game writes where you are and what happens, and you write "
            "what you do. What is wanted stands at its beginning; solving it is worth 1 point. It ends "
            "when that is done, when it cannot be done any more, or after "
            f"{self.environment.env.max_steps} commands."
        )

    def reading(self, agent: AgentID, mode: Mode = "egocentric") -> str:
        return (
            '"look" tells where you are, "inventory" what you carry. A container has to be opened before '
            "something is taken from it; a locked one needs its key."
        )

    def choices(self, agent: AgentID, observation: Any, mask: Mask | None) -> tuple[Choice, ...]:
        state = self.environment.env.state
        commands: list[str] = [] if state is None else list(state.admissible_commands or ())
        return tuple(Choice(i, command) for i, command in enumerate(commands))

    def _how_to_act(self, agent: AgentID) -> str:
        return 'Your action is one command in words, for example "open red box".'
