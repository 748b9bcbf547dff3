"""MiniGrid and BabyAI in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from gym_gui.core.types import AgentID
from gym_gui.core.view import Frame, Mode
from gym_gui.envs.describers.babyai_missions import meanings
from gym_gui.envs.describers.base import ActionWord
from gym_gui.envs.describers.generic import SpaceDescriber
from gym_gui.envs.describers.grid_words import COMPASS, GridView, surroundings

if TYPE_CHECKING:
    from gym_gui.envs.pictures import Picture

_AGENT = 10
_TILE = 32
_MEANINGS: Mapping[str, str] = {
    "left": "turn left on the spot",
    "right": "turn right on the spot",
    "forward": "go one cell ahead, if it is free",
    "pickup": "take what lies in the cell directly ahead (key, ball or box), with empty hands",
    "drop": "put what you carry into the free cell directly ahead",
    "toggle": "open or close the door directly ahead (a locked one needs its key in your hands); open a box",
    "done": "say that the task is done",
}


class MiniGridDescriber(SpaceDescriber):
    """The view as things by name and place, relative to the agent."""

    def text(self, agent: AgentID, observation: Any, mode: Mode = "egocentric") -> str:
        if not isinstance(observation, Mapping):
            if not _is_view(observation):
                return super().text(agent, observation, mode)
            observation = {"image": observation}
        seen = cast("Mapping[str, Any]", observation)
        if not _is_view(seen.get("image")):
            return super().text(agent, observation, mode)
        lines: list[str] = []
        if seen.get("mission"):
            lines.append(f"Mission: {seen['mission']}")
        image, whole = np.asarray(seen["image"]), False
        facing = int(seen["direction"]) if "direction" in seen else None
        stands = None
        if len(found := np.argwhere(image[:, :, 0] == _AGENT)) == 1:
            image, facing, stands = _turned(image, *found[0])
            whole = True
        view = GridView(image, stands=stands)
        state = [] if facing is None else [f"You look {COMPASS[facing]}."]
        if not whole:  # of the whole grid, what the agent carries is not in the picture
            state.append(f"You carry {f'a {view.carried}' if view.carried else 'nothing'}.")
        lines.append(" ".join(state))
        return "\n".join(filter(None, lines + surroundings(view)))

    def game(self, agent: AgentID) -> str:
        environment = self.environment
        title, about = (
            environment.family.title_of(environment.spec),
            environment.family.summary(environment.spec),
        )
        game = environment.env
        # BabyAI gives each mission its own time, when it is drawn.
        fixed = getattr(game, "fixed_max_steps", True)
        limit = (
            f"within {game.max_steps} steps" if fixed else "while there is time (more for longer missions)"
        )
        parts = [
            f"You move on a grid of square cells with walls, in the game {title}.",
            about,
            f"Do what the mission says: that alone is rewarded, with more the sooner it is done, {limit}.",
            meanings(environment.spec.id),
        ]
        if "Lava" in environment.spec.id:
            parts.append("Stepping onto lava ends the game without reward.")
        return " ".join(part for part in parts if part)

    def reading(self, agent: AgentID, mode: Mode = "egocentric") -> str:
        return (
            "You see what is in front of you and beside you, but not through walls and closed doors. Places "
            'are counted in cells from where you stand: "2 ahead, 1 left" is two cells in the direction you '
            "look, then one to your left. They change when you turn or move."
        )

    def actions(self, agent: AgentID) -> Sequence[ActionWord]:
        words = self.environment.action_meanings(agent)
        return [ActionWord(word, _MEANINGS.get(word, "")) for word in words]

    def frame(self, agent: AgentID) -> Picture | None:
        return self.environment.env.get_pov_render(_TILE)

    def cells(self, agent: AgentID, frame: Frame) -> tuple[int, int]:
        game = self.environment.env
        own = frame == "egocentric"
        return (game.agent_view_size, game.agent_view_size) if own else (game.height, game.width)


def _is_view(image: Any) -> bool:
    """Whether it is a table of cells and not a picture."""
    shape = getattr(image, "shape", ())
    return len(shape) == 3 and shape[2] == 3 and max(shape) < 64


def _turned(image: NDArray[Any], x: int, y: int) -> tuple[NDArray[Any], int, tuple[int, int]]:
    """The whole grid, turned so that the agent at (x, y) looks up; which way it looks, where it is then."""
    facing = int(image[x, y, 2])
    turned = np.rot90(image, -(facing + 1))
    ((x, y),) = np.argwhere(turned[:, :, 0] == _AGENT)
    return turned, facing, (int(x), int(y))
