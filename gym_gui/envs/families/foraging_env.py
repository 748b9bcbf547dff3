"""Level-based foraging, with pictures that need no display and with correct truncation."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import gymnasium
import numpy as np

from gym_gui.envs.describers.foraging_picture import draw
from gym_gui.envs.families.tuple_parallel import TupleParallel

_IDLE = 0


def foraging(env_id: str, render_mode: str | None, env_kwargs: Mapping[str, Any]) -> TupleParallel:
    """Make an environment of the package ``lbforaging``.

    Args:
        env_id: Id under which the package registers the environment.
        render_mode: ``"rgb_array"`` or ``None``.
        env_kwargs: Arguments of the package's class.
    """
    import_module("lbforaging")
    made: Any = gymnasium.make(env_id, disable_env_checker=True, **env_kwargs)
    made.unwrapped.render_mode = render_mode
    return TupleParallel(_Foraging(made), _IDLE)


class _Foraging(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Corrects the package, which reports a time limit as termination and renders only in a window."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self.metadata = {"render_modes": ["rgb_array"], "render_fps": 5}

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        """Begin an episode; first clear the players' positions, which would otherwise block cells."""
        for player in self.unwrapped.players:
            player.position = None
        return self.env.reset(seed=seed, options=options)

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        seen, rewards, ended, _, info = self.env.step(action)
        left = bool(self.unwrapped.field.any())
        return seen, rewards, bool(ended) and not left, bool(ended) and left, info

    @property
    def unwrapped(self) -> Any:
        return self.env.unwrapped

    def render(self) -> Any:
        if self.render_mode != "rgb_array":
            return None
        game = self.unwrapped
        food = [(int(r), int(c), int(game.field[r, c])) for r, c in np.argwhere(game.field)]
        players = [(int(each.position[0]), int(each.position[1]), int(each.level)) for each in game.players]
        return draw(game.rows, game.cols, food, players)
