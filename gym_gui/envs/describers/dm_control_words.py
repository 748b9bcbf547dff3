"""Describes DM Control environments with the suite's own names of observations and actuators."""

from __future__ import annotations

from gym_gui.core.spaces import to_space
from gym_gui.core.types import AgentID
from gym_gui.envs.describers.generic import SpaceDescriber
from gym_gui.envs.describers.value_words import action_form


class DmControlDescriber(SpaceDescriber):
    """Describes DM Control: numbers by the suite's names, and actions by their actuators."""

    def game(self, agent: AgentID) -> str:
        spec, game = self.environment.spec, self.environment.env
        paid = "" if spec.traits["domain"] == "lqr" else "Each step is worth between 0 and 1."
        return f"{super().game(agent)} {paid} A step lasts {game.control_timestep() * 1000:.3g} ms.".replace(
            "  ", " "
        )

    def _how_to_act(self, agent: AgentID) -> str:
        space = to_space(self.environment.adapter.action_space(agent))
        parts = self.environment.env.actuators
        said = action_form(space)
        if space.shape != (len(parts),):
            return said
        return "\n".join((f"{said.rstrip('.')}:", *(f"{i}. {name}" for i, name in enumerate(parts, 1))))
