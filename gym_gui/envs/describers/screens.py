"""Describes Butterfly's games whose agents observe the screen: the position of each agent on the screen."""

from __future__ import annotations

from typing import Any

from gym_gui.core.types import AgentID
from gym_gui.envs.describers.generic import SpaceDescriber
from gym_gui.envs.pictures import Picture, framed


class PongDescriber(SpaceDescriber):
    """Describes cooperative_pong, in which both paddles see the whole screen."""

    def sees_all(self, agent: AgentID) -> bool:
        return True

    def seat_picture(self, agent: AgentID, observation: Any) -> Picture | None:
        whole = super().seat_picture(agent, observation)
        if whole is None:
            return None
        game: Any = self.environment.env.env
        paddle = game.p0 if agent == self.environment.adapter.possible_agents[0] else game.p1
        body = paddle.rects[0].unionall(paddle.rects[1:])
        return framed(whole, (body.left, body.top, body.right, body.bottom))

    def legend(self, agent: AgentID) -> str:
        return "In the picture a white frame is around your paddle."


class PistonDescriber(SpaceDescriber):
    """Describes pistonball, in which a piston observes the part of the screen around it."""

    def legend(self, agent: AgentID) -> str:
        return "The picture shows what is above you and beside you: you are the piston in the middle."
