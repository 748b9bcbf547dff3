"""A view on MOSAIC MultiGrid's field, cell by cell, in the package's own tiles."""

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


def view_tiles(view: NDArray[Any], facing: int, colour: str) -> list[list[Picture]]:
    """Rows of tiles, the farthest first.

    Args:
        view: (columns, rows, 3): kind, colour and state of each cell, turned so that who sees it looks up
            from the middle of the last row; in its own cell is what it carries.
        facing: Which way it looks, by number; the view has directions as they are on the field.
        colour: What its triangle is drawn in.
    """
    columns, rows = view.shape[:2]
    tiles = [[_tile(view[x, y], facing) for x in range(columns)] for y in range(rows)]
    own = view[columns // 2, rows - 1]
    tiles[-1][columns // 2] = _agent(COLOURS.index(colour), _UP, own if own[0] == _BALL else None)
    return tiles


def _tile(cell: NDArray[Any], facing: int) -> Picture:
    kind, colour, state = (int(part) for part in cell)
    if kind == _UNSEEN:
        return _DARK
    if kind == _AGENT:
        looks = (state % _CARRIES - facing + _UP) % 4
        return _agent(colour, looks, np.array([_BALL, 0, 0]) if state >= _CARRIES else None)
    things: Any = importlib.import_module("mosaic_multigrid.core.world_object")
    return _rendered(None if kind == _EMPTY else things.WorldObj.from_array(cell))


def _agent(colour: int, looks: int, ball: NDArray[Any] | None) -> Picture:
    agents: Any = importlib.import_module("mosaic_multigrid.core.agent")
    things: Any = importlib.import_module("mosaic_multigrid.core.world_object")
    agent = agents.Agent(index=0, team_index=colour)
    agent.reset()
    agent.state.dir = looks
    agent.state.carrying = None if ball is None else things.WorldObj.from_array(ball)
    return _rendered(None, agent)


def _rendered(thing: Any, agent: Any = None) -> Picture:
    grids: Any = importlib.import_module("mosaic_multigrid.core.grid")
    return np.asarray(grids.Grid.render_tile(thing, agent=agent, tile_size=TILE), np.uint8)
