"""ViZDoom's Gymnasium environments, with what their package leaves undone."""

# ViZDoom's stubs leave much out.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from gym_gui.core.errors import UsageError

_LEFT = Path("_vizdoom")
"""A folder that the engine makes where it is started."""


def doom(env_id: str, render_mode: str | None, env_kwargs: Mapping[str, Any]) -> gymnasium.Env[Any, Any]:
    """Make an environment of the package.

    Args:
        env_id: As the package registers it.
        render_mode: ``"rgb_array"`` or ``None``.
        env_kwargs: For the package's class; ``delta`` bounds what is turned and moved by numbers, and 0
            leaves these buttons out.

    Raises:
        UsageError: The game's file is not there (the package has Freedoom's, not Doom's), or ``delta`` is no
            bound.
    """
    import_module("vizdoom.gymnasium_wrapper")
    kwargs = dict(env_kwargs)
    delta = kwargs.pop("delta", None)
    if delta is not None and not (isinstance(delta, (int, float)) and delta >= 0):
        raise UsageError(f"delta is {delta!r}", fix="It is a number of 0 or more")
    made: Any = gymnasium.make(env_id, render_mode=render_mode, disable_env_checker=True, **kwargs)
    game = str(made.unwrapped.game.get_doom_game_path())
    # The engine also looks in the package itself, where Freedoom's are.
    places = [Path(game), Path(game).parents[1] / Path(game).name] if game else []
    if places and not any(place.is_file() for place in places):
        raise UsageError(f"{env_id}: there is no {game}", fix="Put it there, or play a map of Freedoom")
    return _Doom(made.unwrapped, delta)


class _Doom(gymnasium.Wrapper[Any, Any, Any, Any]):
    """A game whose time that is up is a cut alone, with observations of the caller's own; it leaves no files.

    Args:
        env: Of the package.
        delta: Most that is turned or moved by a number, or 0 for not at all; ``None`` as the package has it.
    """

    def __init__(self, env: Any, delta: float | None) -> None:
        super().__init__(env)
        self._folder = Path(tempfile.mkdtemp(prefix="mosaic-doom-"))
        # Else it writes settings and what it works out of maps into the working directory.
        env.game.set_doom_config_path(str(self._folder / "doom.ini"))
        env.game.add_game_args("+gl_cachenodes 0")
        names = [button.name.lower().replace("_", " ") for button in env.game.get_available_buttons()]
        buttons = [name.replace("weapon", "weapon ") if name[-1].isdigit() else name for name in names]
        self._still: Any = None
        if delta is not None and env.num_delta_buttons:
            self._bound(delta)
        env.buttons = tuple(buttons[env.num_delta_buttons :])
        env.pressed = [
            tuple(name for name, on in zip(env.buttons, each, strict=True) if on)
            for each in getattr(env, "button_map", ())
        ]
        env.variables = [each.name.lower() for each in env.game.get_available_game_variables()]

    def _bound(self, delta: float) -> None:
        env: Any = self.env
        bounded = spaces.Box(-delta, delta, (env.num_delta_buttons,), np.float32)
        if not env.num_binary_buttons:
            self.action_space = bounded
        elif delta:
            self.action_space = spaces.Dict({**env.action_space.spaces, "continuous": bounded})
        else:
            self.action_space = env.action_space["binary"]
            self._still = np.zeros(env.num_delta_buttons, np.float32)

    @property
    def unwrapped(self) -> Any:
        return self.env

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        env: Any = self.env
        if env.automap and not env.game.is_running():
            env.reset(seed=seed, options=options)  # the first map of all is drawn otherwise than later ones
        seen, info = env.reset(seed=seed, options=options)
        return _copied(seen), info

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        whole = action if self._still is None else {"binary": action, "continuous": self._still}
        seen, reward, over, cut, info = self.env.step(whole)
        return _copied(seen), float(reward), bool(over) and not cut, bool(cut), info

    def close(self) -> None:
        self.env.close()
        shutil.rmtree(self._folder, ignore_errors=True)
        with contextlib.suppress(OSError):  # not empty, in use, or somebody has removed it
            _LEFT.rmdir()


def _copied(seen: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value.copy() if hasattr(value, "copy") else value for name, value in seen.items()}
