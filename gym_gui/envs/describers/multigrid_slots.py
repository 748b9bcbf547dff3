"""Names of the slots of a MultiGrid environment."""

from __future__ import annotations

import importlib
from typing import Any


def slot_names(env: Any) -> dict[int, str]:
    """Return MultiGrid's slot names by agent index: the team's color and a number within the team."""
    names: dict[int, str] = {}
    size: dict[str, int] = {}
    for agent in env.agents:
        color = team_color(agent.team_index)
        names[agent.index] = f"{color}_{size.get(color, 0)}"
        size[color] = size.get(color, 0) + 1
    return names


def team_color(team: int) -> str:
    """Return a MultiGrid team's color: team ``t`` has the package's ``t``-th color (1 green, 2 blue, …)."""
    colors: Any = importlib.import_module("mosaic_multigrid.core.constants").Color
    return str(colors.from_index(int(team) % len(colors)).value)
