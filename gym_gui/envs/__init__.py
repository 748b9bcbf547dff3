"""Environment families: what there is, and how to make it."""

from __future__ import annotations

from gym_gui.envs.checking import check
from gym_gui.envs.environment import Environment
from gym_gui.envs.family import Family
from gym_gui.envs.registry import families, list_specs, make, register, resolve
from gym_gui.envs.spec import EnvSpec

__all__ = [
    "EnvSpec",
    "Environment",
    "Family",
    "check",
    "families",
    "list_specs",
    "make",
    "register",
    "resolve",
]
