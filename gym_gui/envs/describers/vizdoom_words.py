"""Describes ViZDoom: the numbers of the status bar, but not the screen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from gym_gui.core.experiment.prompt_inputs import Mode
from gym_gui.core.spaces import to_space
from gym_gui.core.types import AgentID
from gym_gui.envs.describers.describer import ActionWord
from gym_gui.envs.describers.generic import SpaceDescriber
from gym_gui.envs.describers.value_words import action_form, number
from gym_gui.envs.facts import Fact, atom, fact
from gym_gui.envs.pictures import Picture, as_picture

_NAMES = {"ammo2": "bullets", "killcount": "kills", "selected_weapon_ammo": "ammunition of that weapon"}

_WAYS = {
    "turn left right": "turn left or right, in degrees",
    "look up down": "look down or up, in degrees",
    "move left right": "move left or right",
    "move forward backward": "move backward or forward",
    "move up down": "move down or up",
}


class VizdoomDescriber(SpaceDescriber):
    """Describes ViZDoom's game variables by name, and the game's notifications."""

    def text(self, agent: AgentID, observation: Any, mode: Mode = "egocentric") -> str:
        return "\n".join(self._lines(observation))

    def can_say(self, agent: AgentID) -> bool:
        """Return whether an observation contains more than a screen, which no text describes."""
        return bool(self.environment.env.variables) or "notifications" in self._space(agent).spaces

    def can_state(self, agent: AgentID) -> bool:
        return bool(self.environment.env.variables)

    def facts(self, agent: AgentID, observation: Any, mode: Mode = "egocentric") -> Sequence[Fact]:
        """Return ViZDoom's variables as facts with the package's names: ``health(100)``, ``ammo2(26)``."""
        return [fact(atom(name), round(value, 3)) for name, value in self._variables(observation)]

    def reading(self, agent: AgentID, mode: Mode = "egocentric") -> str:
        return (
            "The game is seen through the eyes of a soldier. You are told its numbers; what the screen shows "
            "is not in words."
        )

    def actions(self, agent: AgentID) -> Sequence[ActionWord]:
        words = self.environment.action_meanings(agent)
        return [ActionWord(word, "press nothing" if word == "noop" else "") for word in words]

    def can_draw(self, agent: AgentID) -> bool:
        """Return ``True``, because each player has a screen."""
        return True

    def seat_picture(self, agent: AgentID, observation: Any) -> Picture | None:
        """Return the player's screen, without the additional buffers of the whole picture."""
        return as_picture(observation["screen"])

    def _lines(self, observation: Any) -> Iterator[str]:
        for name, value in self._variables(observation):
            yield f"{_NAMES.get(name, name.replace('_', ' '))}: {number(value)}"
        if said := str(observation.get("notifications", "")).strip():
            yield f"The game says: {said}"

    def _variables(self, observation: Any) -> Iterator[tuple[str, float]]:
        values = np.asarray(observation.get("gamevariables", ()), np.float64).tolist()
        yield from zip(self.environment.env.variables, values, strict=True)

    def _how_to_act(self, agent: AgentID) -> str:
        space, env = to_space(self.environment.adapter.action_space(agent)), self.environment.env
        kinds = {part.kind for part in space.spaces.values()} or {space.kind}
        if not kinds & {"MultiBinary", "Box"}:
            return super()._how_to_act(agent)
        lines = [f"{action_form(space).rstrip('.')}:"]
        if "MultiBinary" in kinds:
            named = (f"{i}. {name}" for i, name in enumerate(env.buttons, 1))
            lines += ["Each button is 1 where it is pressed, else 0:", *named]
        elif env.pressed and space.spaces:
            named = (f"{i}. {' + '.join(each) or 'press nothing'}" for i, each in enumerate(env.pressed))
            lines += ['"binary" is the number of what is pressed:', *named]
        if env.deltas:
            lines += ["Numbers say how far; less than 0 is the first of the two ways:"]
            lines += [f"{i}. {_WAYS.get(name, name)}" for i, name in enumerate(env.deltas, 1)]
        return "\n".join(lines)
