"""ViZDoom's Gymnasium environments, with corrections of the package."""

# ViZDoom's stubs leave much out.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from gym_gui.core.errors import UsageError
from gym_gui.envs.families.vizdoom_engine import Engine

_ACTIONS: Mapping[str, int] = {"buttons": 0, "numbered": 1, "combinations": 2}
"""Maximum number of buttons pressed at once, by the value of ``actions``.

With 0, buttons are separate and any number of them can be pressed.
"""
_DELTA = " delta"
BOUND = 10.0
"""Default bound of the numbers for delta buttons: degrees, or running speed per step."""


def doom(env_id: str, render_mode: str | None, env_kwargs: Mapping[str, Any]) -> gymnasium.Env[Any, Any]:
    """Make an environment of the package ``vizdoom``.

    Args:
        env_id: Id under which the package registers the environment.
        render_mode: ``"rgb_array"`` or ``None``.
        env_kwargs: Arguments of the package's class, and three more. ``actions`` is ``"buttons"`` (separate,
            any number at once), ``"combinations"`` (numbered pairs, or more with ``max_buttons_pressed``) or
            ``"numbered"`` (one at a time). ``deltas`` names the delta buttons (``"turn left right"``) in
            place of the scenario's. ``delta`` bounds their numbers; 0 removes the delta buttons.

    Raises:
        UsageError: The game's file is missing (the package contains Freedoom's, not Doom's), or one of the
            three arguments is invalid.
    """
    import_module("vizdoom.gymnasium_wrapper")
    kwargs = dict(env_kwargs)
    delta = bound_of(kwargs.pop("delta", None))
    kwargs |= action_arguments(kwargs.pop("actions", None), kwargs)
    deltas = kwargs.pop("deltas", None)

    def make() -> Any:
        return gymnasium.make(env_id, render_mode=render_mode, disable_env_checker=True, **kwargs)

    made = make()
    if deltas is not None:
        wanted = delta_buttons(deltas)
        kwargs["available_buttons"] = [*wanted, *_binary(made.unwrapped.game.get_available_buttons())]
        made, delta = make(), BOUND if delta is None else delta
    game = str(made.unwrapped.game.get_doom_game_path())
    # The engine also searches the package itself, which contains Freedoom's files.
    places = [Path(game), Path(game).parents[1] / Path(game).name] if game else []
    if places and not any(place.is_file() for place in places):
        raise UsageError(
            f"{env_id}: there is no file {game}", fix="Copy the file there, or play a map of Freedoom"
        )
    return _Doom(made.unwrapped, delta)


def bound_of(delta: Any) -> float | None:
    """Return the bound of delta buttons; raise :class:`UsageError` if it is invalid."""
    if delta is not None and not (isinstance(delta, (int, float)) and delta >= 0):
        raise UsageError(f"delta is {delta!r}", fix="Write a number of at least 0")
    return delta


def action_arguments(actions: Any, kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the package's arguments for a value of ``actions``; raise :class:`UsageError` if unknown."""
    if actions is None:
        return {}
    if actions not in _ACTIONS:
        raise UsageError(f"actions is {actions!r}", fix=f"Write one of {', '.join(_ACTIONS)}")
    most = kwargs.get("max_buttons_pressed", _ACTIONS[actions])
    if (most != _ACTIONS[actions]) if actions != "combinations" else (most < 1):
        raise UsageError(
            f"actions is {actions!r}, and max_buttons_pressed {most}", fix="Leave one of the two out"
        )
    return {"max_buttons_pressed": most, "use_multi_binary_action_space": True}


def delta_buttons(names: Any) -> list[Any]:
    """Return the engine's delta buttons with the given names.

    Args:
        names: List of names such as ``"turn left right"`` and ``"look up down"``.

    Raises:
        UsageError: A name is unknown.
    """
    engine: Any = import_module("vizdoom")
    known = {
        name_of(button).removesuffix(_DELTA): button
        for button in engine.Button.__members__.values()
        if engine.is_delta_button(button)
    }
    wanted = [str(name).lower().replace("_", " ").removesuffix(_DELTA) for name in names]
    if isinstance(names, str) or not set(wanted) <= set(known):
        raise UsageError(f"deltas is {names!r}", fix=f"Write a list with some of: {', '.join(known)}")
    return [known[name] for name in dict.fromkeys(wanted)]


def name_of(button: Any) -> str:
    """Return the name of an engine's button in words: ``turn left``, ``select weapon 1``."""
    name = str(button.name).lower().replace("_", " ")
    return name.replace("weapon", "weapon ") if name[-1].isdigit() else name


def _binary(buttons: Any) -> list[Any]:
    engine: Any = import_module("vizdoom")
    return [button for button in buttons if not engine.is_delta_button(button)]


class _Doom(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Wrapper that reports a time limit only as truncation, copies observations, and removes files.

    Args:
        env: Environment of the package.
        delta: Bound of the delta buttons' numbers, or 0 to remove these buttons; ``None`` keeps the bound.
    """

    def __init__(self, env: Any, delta: float | None) -> None:
        super().__init__(env)
        self._engine = Engine(env.game)
        names = [name_of(button) for button in env.game.get_available_buttons()]
        self._still: Any = None
        if delta is not None and env.num_delta_buttons:
            self._bound(delta)
        env.buttons = tuple(names[env.num_delta_buttons :])
        left = () if self._still is not None else names[: env.num_delta_buttons]
        env.deltas = tuple(name.removesuffix(_DELTA) for name in left)
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
            env.reset(seed=seed, options=options)  # the very first map is drawn differently from later ones
        seen, info = env.reset(seed=seed, options=options)
        return _copied(seen), info

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        whole = action if self._still is None else {"binary": action, "continuous": self._still}
        seen, reward, over, cut, info = self.env.step(whole)
        return _copied(seen), float(reward), bool(over) and not cut, bool(cut), info

    def close(self) -> None:
        self.env.close()
        self._engine.remove()


def _copied(seen: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value.copy() if hasattr(value, "copy") else value for name, value in seen.items()}
