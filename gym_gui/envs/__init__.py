"""Environment families: list, resolve and make environments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gym_gui.envs.environment import Environment
from gym_gui.envs.environment_page import EnvironmentPage, document, keys, render_modes
from gym_gui.envs.environment_registry import (
    arguments,
    families,
    list_specs,
    make,
    needs_of,
    register,
    resolve,
    trouble,
)
from gym_gui.envs.family import Family
from gym_gui.envs.keymaps import Axis, KeyScheme
from gym_gui.envs.spec import EnvSpec
from gym_gui.lazy_imports import lazy_names

if TYPE_CHECKING:
    from gym_gui.envs.contract import check

__all__ = [
    "Axis",
    "EnvSpec",
    "Environment",
    "EnvironmentPage",
    "Family",
    "KeyScheme",
    "arguments",
    "check",
    "document",
    "families",
    "keys",
    "list_specs",
    "make",
    "needs_of",
    "register",
    "render_modes",
    "resolve",
    "trouble",
]

__getattr__ = lazy_names(__name__, {"contract": ("check",)})
