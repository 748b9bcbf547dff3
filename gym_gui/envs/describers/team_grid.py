"""Describes several agents on one grid as text and pictures; base of MOSAIC's and INI's MultiGrid."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from gym_gui.core.experiment.prompt_inputs import Frame, Mode
from gym_gui.core.paradigms import RelativePosition
from gym_gui.core.types import AgentID
from gym_gui.envs.describers.generic import SpaceDescriber
from gym_gui.envs.describers.grid_words import (
    COLORS,
    COMPASS,
    THINGS,
    GridView,
    absolute,
    in_view,
    relative,
    surroundings,
)
from gym_gui.envs.describers.other_words import Terms
from gym_gui.envs.facts import Fact, fact
from gym_gui.envs.pictures import Picture, framed

Mates = Mapping[tuple[int, int], str]
"""Descriptions of team-mates by relative position: cells ahead and to the right."""
_INSET = 7
"""Inset in pixels of the frame around the agent, so that the frame stays inside the picture."""


class TeamGridDescriber(SpaceDescriber):
    """Base class that describes a grid view: objects by relative position, or a picture of the cells.

    Attributes:
        package: Import name of the package with the grid and the tiles.
        loads: Sentence about how a picture shows the objects that agents carry.
    """

    package: ClassVar[str]
    loads: ClassVar[str]

    def text(self, agent: AgentID, observation: Any, mode: Mode = "egocentric") -> str:
        seen = cast("Mapping[str, Any]", observation)
        view = self.view(seen, self._mates(agent) if mode == "visible_teammates" else {})
        holds = f"You carry a {view.carried}." if view.carried else "You carry nothing."
        return "\n".join([f"You look {COMPASS[int(seen['direction'])]}. {holds}", *surroundings(view)])

    def can_state(self, agent: AgentID) -> bool:
        return True

    def facts(self, agent: AgentID, observation: Any, mode: Mode = "egocentric") -> Sequence[Fact]:
        seen = cast("Mapping[str, Any]", observation)
        view = self.view(seen, self._mates(agent) if mode == "visible_teammates" else {})
        team, mates, others = self.environment.team_and_others(agent)
        return [
            fact("me", agent),
            fact("team", team),
            *(fact("plays_with", mate) for mate in mates),
            *(fact("plays_against", other) for other in others),
            fact("looking", COMPASS[int(seen["direction"])]),
            *view.facts(),
        ]

    def view(self, seen: Mapping[str, Any], mates: Mates) -> GridView:
        """Return the decoded grid of an observation."""
        return GridView(np.asarray(seen["image"]), agents=mates)

    @cached_property
    def bodies(self) -> Mapping[AgentID, Any]:
        """The package's agent objects, by agent name."""
        return dict(zip(self.environment.adapter.possible_agents, self.environment.env.agents, strict=True))

    def _mates(self, agent: AgentID) -> Mates:
        """Return descriptions of visible team-mates by relative position, with direction and load.

        A team-mate at a cell that the view does not show as an agent is left out.
        """
        own = self.bodies[agent]
        mates: dict[tuple[int, int], str] = {}
        for name in self.environment.team_and_others(agent)[1]:
            other = self.bodies.get(name)
            if other is None or other.state.terminated:
                continue
            place = relative(own.state.pos, int(own.state.dir), other.state.pos)
            mates[place] = (
                f"{name}, your team-mate, looking {COMPASS[int(other.state.dir)]}{self.load(other)}"
            )
        return mates

    def load(self, body: Any) -> str:
        """Return a clause about another agent's load; ``""`` if views do not show loads."""
        return ""

    def terms(self, agent: AgentID) -> Terms:
        """Return the names that can be replaced, as in MiniGrid; agents keep their names."""
        things = ("end zone", "switch", *THINGS, *COLORS, self.environment.title)
        return super().terms(agent)._replace(things=things)

    def can_draw(self, agent: AgentID) -> bool:
        return True

    def color(self, agent: AgentID) -> str:
        """Return the color of the agent's triangle."""
        return str(self.bodies[agent].state.color.value)

    def seat_picture(self, agent: AgentID, observation: Any) -> Picture:
        """Return a picture of the agent's view in the package's tiles, turned so that the agent looks up."""
        seen = cast("Mapping[str, Any]", observation)
        rows = view_tiles(self.package, np.asarray(seen["image"]), int(seen["direction"]), self.color(agent))
        picture = np.concatenate([np.concatenate(row, axis=1) for row in rows])
        left, top = len(rows) // 2 * TILE, (len(rows) - 1) * TILE
        return framed(picture, (left + _INSET, top + _INSET, left + TILE - _INSET, top + TILE - _INSET))

    def legend(self, agent: AgentID) -> str:
        return (
            "The picture is what you see, turned so that you look up: the white frame in the middle of the "
            f"lowest row is around you. An agent's triangle points where it looks; {self.loads} "
            "Walls are grey; cells without lines are out of sight."
        )

    def cells(self, agent: AgentID, frame: Frame) -> tuple[int, int]:
        game = self.environment.env
        if frame == "whole":
            return game.height, game.width
        size = int(self.environment.adapter.observation_space(agent)["image"].shape[0])
        return size, size

    def in_picture(self, agent: AgentID, place: RelativePosition, frame: Frame) -> tuple[int, int] | None:
        if frame == "egocentric":
            return in_view(self.cells(agent, frame)[0], *place)
        state = self.bodies[agent].state
        return absolute(state.pos, int(state.dir), *place)


# The package has no type annotations, so its objects are Any.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false


# -- picture of a view, drawn with the package's tiles -------------------------------------


TILE = 64
"""Side of a cell in pixels, in pictures of a grid view."""
_UNSEEN, _EMPTY, _BALL, _AGENT = 0, 1, 6, 10
_UP, _CARRIES = 3, 100
"""Code of the direction "up", and the number added to the direction code of an agent with a ball."""
_DARK = np.full((TILE, TILE, 3), 40, np.uint8)


def view_tiles(package: str, view: NDArray[Any], facing: int, color: str) -> list[list[Picture]]:
    """Return the tiles of a grid view row by row, the farthest row first.

    Args:
        package: Import name of the package that draws the tiles: ``mosaic_multigrid``, which marks an agent
            with a ball, or ``multigrid``, which draws a carried object in place of the observing agent.
        view: Array of shape (columns, rows, 3) with kind, color and state of each cell, turned so that the
            observing agent looks up from the middle of the last row. Its own cell holds the carried object.
        facing: Number of the agent's direction; directions in the view are those on the field.
        color: Color of the agent's triangle.
    """
    tiles = _Tiles(package)
    columns, rows = view.shape[:2]
    drawn = [[tiles.of(view[x, y], facing) for x in range(columns)] for y in range(rows)]
    own = view[columns // 2, rows - 1]
    drawn[-1][columns // 2] = tiles.agent(color, _UP, None if own[0] in (_UNSEEN, _EMPTY) else own)
    return drawn


class _Tiles:
    """Draws single cells of a grid view with the package's own code."""

    def __init__(self, package: str) -> None:
        self._marks = package == "mosaic_multigrid"
        modules = ("agent", "grid", "world_object")
        agents, grids, things = (importlib.import_module(f"{package}.core.{name}") for name in modules)
        self._agent: Any = agents.Agent
        self._grid: Any = grids.Grid
        self._thing: Any = things.WorldObj

    def of(self, cell: NDArray[Any], facing: int) -> Picture:
        """Return the tile of a cell in a grid view."""
        kind, color, state = (int(part) for part in cell)
        if kind == _UNSEEN:
            return _DARK
        if kind == _AGENT:
            looks = (state % _CARRIES - facing + _UP) % 4
            return self.agent(COLORS[color], looks, np.array([_BALL, 0, 0]) if state >= _CARRIES else None)
        return self._rendered(None if kind == _EMPTY else self._thing.from_array(cell))

    def agent(self, color: str, looks: int, carries: NDArray[Any] | None) -> Picture:
        """Return the tile of a cell with an agent, which may carry an object."""
        agent = self._agent(index=0)
        agent.reset()
        agent.state.color = color
        agent.state.dir = looks
        thing = None if carries is None else self._thing.from_array(carries)
        if thing is not None and not self._marks:
            return self._rendered(thing)
        agent.state.carrying = thing
        return self._rendered(None, agent)

    def _rendered(self, thing: Any, agent: Any = None) -> Picture:
        return np.asarray(self._grid.render_tile(thing, agent=agent, tile_size=TILE), np.uint8)
