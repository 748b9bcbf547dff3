"""A view on the grid of MOSAIC's or INI's MultiGrid, cell by cell, in the package's own tiles."""

# The package is untyped: what comes from it is Any.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gym_gui.envs.describers.grid_words import COLOURS
from gym_gui.envs.pictures import Picture

TILE = 64
"""Pixels of a cell's side."""
_UNSEEN, _EMPTY, _BALL, _AGENT = 0, 1, 6, 10
_UP, _CARRIES = 3, 100
"""Number of the direction up; what is added to the direction of an agent that carries a ball."""
_DARK = np.full((TILE, TILE, 3), 40, np.uint8)


def view_tiles(package: str, view: NDArray[Any], facing: int, colour: str) -> list[list[Picture]]:
    """Rows of tiles, the farthest first.

    Args:
        package: Import name of the package that draws them: ``mosaic_multigrid``, which marks who carries a
            ball, or ``multigrid``, which does not: there the thing is in place of who sees it.
        view: (columns, rows, 3): kind, colour and state of each cell, turned so that who sees it looks up
            from the middle of the last row; in its own cell is what it carries.
        facing: Which way it looks, by number; the view has directions as they are on the field.
        colour: What its triangle is drawn in.
    """
    tiles = _Tiles(package)
    columns, rows = view.shape[:2]
    drawn = [[tiles.of(view[x, y], facing) for x in range(columns)] for y in range(rows)]
    own = view[columns // 2, rows - 1]
    drawn[-1][columns // 2] = tiles.agent(colour, _UP, None if own[0] in (_UNSEEN, _EMPTY) else own)
    return drawn


class _Tiles:
    """Draws single cells."""

    def __init__(self, package: str) -> None:
        self._marks = package == "mosaic_multigrid"
        modules = ("agent", "grid", "world_object")
        agents, grids, things = (importlib.import_module(f"{package}.core.{name}") for name in modules)
        self._agent: Any = agents.Agent
        self._grid: Any = grids.Grid
        self._thing: Any = things.WorldObj

    def of(self, cell: NDArray[Any], facing: int) -> Picture:
        """A cell of the view."""
        kind, colour, state = (int(part) for part in cell)
        if kind == _UNSEEN:
            return _DARK
        if kind == _AGENT:
            looks = (state % _CARRIES - facing + _UP) % 4
            return self.agent(COLOURS[colour], looks, np.array([_BALL, 0, 0]) if state >= _CARRIES else None)
        return self._rendered(None if kind == _EMPTY else self._thing.from_array(cell))

    def agent(self, colour: str, looks: int, carries: NDArray[Any] | None) -> Picture:
        """A cell with an agent."""
        agent = self._agent(index=0)
        agent.reset()
        agent.state.color = colour
        agent.state.dir = looks
        thing = None if carries is None else self._thing.from_array(carries)
        if thing is not None and not self._marks:
            return self._rendered(thing)
        agent.state.carrying = thing
        return self._rendered(None, agent)

    def _rendered(self, thing: Any, agent: Any = None) -> Picture:
        return np.asarray(self._grid.render_tile(thing, agent=agent, tile_size=TILE), np.uint8)
