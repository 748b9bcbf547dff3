"""Registers environments in Gymnasium whose ids only MOSAIC defines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium

from gym_gui.envs import environment_registry
from gym_gui.envs.families.derived import DerivedFamily


def _maker_of(env_id: str) -> Callable[..., Any]:
    def make(render_mode: str | None = None, **env_kwargs: Any) -> Any:
        return environment_registry.make(env_id, render_mode=render_mode, env_kwargs=env_kwargs).env

    return make


for _family in environment_registry.families().values():
    if isinstance(_family, DerivedFamily):
        for _id in _family.ids():
            gymnasium.register(_id, _maker_of(_id))  # pyright: ignore[reportUnknownMemberType]
