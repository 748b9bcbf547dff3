"""Describers that express observations as text for agents that read; each family has its own describer."""

from __future__ import annotations

from gym_gui.envs.describers.describer import ActionWord, Describer
from gym_gui.envs.describers.generic import SpaceDescriber

__all__ = ["ActionWord", "Describer", "SpaceDescriber"]
