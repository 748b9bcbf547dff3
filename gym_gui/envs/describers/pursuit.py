"""Describes SISL's pursuit and multiwalker environments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gym_gui.core.experiment.prompt_inputs import Frame, Mode
from gym_gui.core.types import AgentID
from gym_gui.envs.describers.describer import ActionWord, Limit
from gym_gui.envs.describers.directions import nearest, offset_text
from gym_gui.envs.describers.generic import SpaceDescriber
from gym_gui.envs.describers.value_words import number
from gym_gui.envs.pictures import Picture, framed

Counts = Sequence[Sequence[float]]
"""Numbers of agents or walls per cell of a view: columns from the left, cells from the top."""
_CELL, _WALL, _PURSUER, _EVADER = 48, (150, 150, 150), (220, 30, 30), (60, 90, 255)
"""Side of a cell in pixels, and RGB colors of the background, walls, pursuers and evaders."""
_WAYS = (("left", -1, 0), ("right", 1, 0), ("up", 0, -1), ("down", 0, 1))


_FORWARD = 130 / 30
"""Reward in multiwalker per unit of the package's distance: its factor divided by its scale."""
_SHARED = " What you earn is shared: each of you is paid the mean."


class PursuitDescriber(SpaceDescriber):
    """Describes the surroundings of a pursuer; an observation is (row, column, walls/pursuers/evaders)."""

    def text(self, agent: AgentID, observation: Any, mode: Mode = "egocentric") -> str:
        walls, pursuers, evaders = np.asarray(observation).transpose(2, 1, 0).tolist()
        reach = len(walls) // 2
        lines = [f"Evaders in view: {_places(evaders, reach)}"]
        if mode == "visible_teammates":
            names = self._names(agent, reach).items()
            lines.append("Your team-mates in view:" if names else "Your team-mates in view: none")
            lines += [f"- {name}: {offset_text(*place)}" for name, place in names]
        else:
            lines.append(f"Other pursuers in view: {_places(pursuers, reach, own=True)}")
        ways = ", ".join(f"{word} {n}" for word, n in _ways(walls, reach))
        return "\n".join([*lines, f"Cells free of walls: {ways}", "Map of the walls:", *_map(walls, reach)])

    def can_draw(self, agent: AgentID) -> bool:
        return True

    def seat_picture(self, agent: AgentID, observation: Any) -> Picture:
        """Return a picture of the cells in the pursuer's observation."""
        walls, pursuers, evaders = np.asarray(observation).transpose(2, 1, 0)
        return _drawn(walls, pursuers, evaders)

    def legend(self, agent: AgentID) -> str:
        return (
            "The picture shows the cells around you; you are in the white frame in the middle. Pursuers are "
            "red, evaders blue, with their number where there are several; walls are grey."
        )

    def cells(self, agent: AgentID, frame: Frame) -> tuple[int, int]:
        env: Any = self.environment.env.env
        reach = int(self.environment.adapter.observation_space(agent).shape[0])
        return (reach, reach) if frame == "egocentric" else (env.y_size, env.x_size)

    def _names(self, agent: AgentID, reach: int) -> dict[AgentID, tuple[int, int]]:
        """Return the pursuers inside the view by relative position, read from the environment itself."""
        layer: Any = self.environment.env.env.pursuer_layer
        everybody = self.environment.adapter.possible_agents
        places = {name: layer.get_position(i) for i, name in enumerate(everybody)}
        x, y = (int(n) for n in places[agent])
        found = {name: (int(p[0]) - x, int(p[1]) - y) for name, p in places.items() if name != agent}
        return {name: p for name, p in found.items() if max(abs(p[0]), abs(p[1])) <= reach}

    def game(self, agent: AgentID) -> str:
        env: Any = self.environment.env.env
        others = len(self.environment.adapter.possible_agents) - 1
        catch = (
            "An evader is caught when pursuers stand on all the cells beside it (left, right, up, down) that "
            "are no wall; several pursuers may stand on one cell."
            if env.surround
            else f"An evader is caught when {env.n_catch} pursuers stand on its cell."
        )
        return (
            f"You are {agent}, a pursuer on a field of {env.x_size} by {env.y_size} cells with an obstacle "
            f"in it. Together with {others} others you catch {env.n_evaders} evaders, which "
            f"{'stand still' if env.freeze_evaders else 'move at random'}. {catch} A caught evader is "
            f"worth {env.catch_reward:g} to each of those who caught it, an evader beside you "
            f"{env.tag_reward:g} in each step, and every step {env.urgency_reward:g} to all."
            f"{_SHARED if env.shared_reward else ''} It ends when all are caught."
        )

    def limit(self, agent: AgentID) -> Limit:
        return Limit(int(self.environment.env.env.max_cycles))

    def reading(self, agent: AgentID, mode: Mode = "egocentric") -> str:
        reach = int(self.environment.adapter.observation_space(agent).shape[0]) // 2
        return (
            f"You see {reach} cells to each side, also aslant. Places are counted from where you stand: "
            '"2 left, 1 up". The nearest come first. On the map of the walls @ is you, # a wall or what lies '
            "outside of the field, . a cell without a wall."
        )

    def actions(self, agent: AgentID) -> Sequence[ActionWord]:
        words = self.environment.action_meanings(agent)
        return [
            ActionWord(each, "stay where you are" if each == "noop" else f"go one cell {each}")
            for each in words
        ]


def _drawn(walls: NDArray[Any], pursuers: NDArray[Any], evaders: NDArray[Any]) -> Picture:
    """Return a picture of a view in pursuit; each array has shape (columns, rows)."""
    from PIL import Image, ImageDraw

    size = len(walls)
    image = Image.new("RGB", (size * _CELL, size * _CELL))
    draw = ImageDraw.Draw(image)
    for x, y in np.argwhere(walls).tolist():
        draw.rectangle((x * _CELL, y * _CELL, (x + 1) * _CELL - 1, (y + 1) * _CELL - 1), _WALL)
    for counts, color, aside in ((evaders, _EVADER, _CELL // 4), (pursuers, _PURSUER, 0)):
        for x, y in np.argwhere(counts).tolist():
            middle = (x * _CELL + _CELL // 2 + aside, y * _CELL + _CELL // 2)
            draw.circle(middle, _CELL // 5, color)
            if (many := int(counts[x][y])) > 1:
                draw.text(middle, str(many), fill=(255, 255, 255), anchor="mm")
    own = size // 2 * _CELL
    return framed(np.array(image), (own + 3, own + 3, own + _CELL - 4, own + _CELL - 4))


def _places(counts: Counts, reach: int, *, own: bool = False) -> str:
    """Return the cells with agents as text, with their number if several; ``own`` excludes the viewer."""
    found = {
        (x - reach, y - reach): int(n) - (own and x == reach and y == reach)
        for x, column in enumerate(counts)
        for y, n in enumerate(column)
        if n
    }
    said = [
        f"{offset_text(*place)} ({found[place]} of them)" if found[place] > 1 else offset_text(*place)
        for place in nearest(place for place, n in found.items() if n > 0)
    ]
    return "; ".join(said) or "none"


def _ways(walls: Counts, reach: int) -> Iterator[tuple[str, str]]:
    """Yield each direction with the number of cells that are free of walls."""
    for word, right, down in _WAYS:
        free = 0
        while free < reach and not walls[reach + right * (free + 1)][reach + down * (free + 1)]:
            free += 1
        yield word, f"{free} or more" if free == reach else str(free)


def _map(walls: Counts, reach: int) -> Iterator[str]:
    """Yield the rows of a text map of walls from the top, with the viewer's own cell."""
    for y in range(len(walls)):
        cells = ("#" if column[y] else "." for column in walls)
        yield "".join("@" if (x, y) == (reach, reach) else cell for x, cell in enumerate(cells))


_LEG = ("hip angle", "hip speed", "knee angle", "knee speed", "touches the ground")
WALKER_SEES = (
    *("hull angle", "hull angular speed", "speed to the right", "speed upward"),
    *(f"{leg} {part}" for leg in ("first", "second") for part in _LEG),
    *(f"distance to the ground, ray {i + 1} of 10 (from straight down to ahead)" for i in range(10)),
    *("left neighbour, to the right", "left neighbour, up"),
    *("right neighbour, to the right", "right neighbour, up"),
    *("package, to the right", "package, up", "package angle"),
)
"""Names of the components of a multiwalker observation, in order."""


class WalkerDescriber(SpaceDescriber):
    """Describes multiwalker: a walker's vector with the names of its documentation."""

    def names(self, agent: AgentID) -> Sequence[str]:
        return WALKER_SEES

    def game(self, agent: AgentID) -> str:
        env: Any = self.environment.env.env
        falling, lost = -env.fall_reward, -env.terminate_reward
        falls = (
            f"Who falls costs itself {falling:g}, and all {lost:g} as the game ends then."
            if env.terminate_on_fall
            else f"Who falls loses {falling + lost:g} and is out."
        )
        return (
            f"{super().game(agent)} You are {agent}. Each step pays all "
            f"{number(_FORWARD * env.forward_reward)} x how far the package came to the right, and you 5 x "
            f"how much nearer to upright your hull came, in radians. {falls} The game also ends when the "
            f"package lies on the ground or is behind the start, which costs all {lost:g}, and when it is at "
            f"the far end.{'' if env.local_ratio else _SHARED}"
        )

    def limit(self, agent: AgentID) -> Limit:
        return Limit(int(self.environment.env.env.max_cycles))

    def reading(self, agent: AgentID, mode: Mode = "egocentric") -> str:
        return (
            "Angles are in radians; places of the neighbours and the package are from where you are, in the "
            "package's lengths."
        )
