"""Observations in words: one describer per family, for agents that read."""

from __future__ import annotations

from gym_gui.envs.describers.describer import ActionWord, Describer
from gym_gui.envs.describers.generic import SpaceDescriber

__all__ = ["ActionWord", "Describer", "SpaceDescriber"]
