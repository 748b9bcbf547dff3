"""Wraps environments of old gym so that they have Gymnasium's interface.

The differences are described at https://gymnasium.farama.org/introduction/migration_guide/
"""

from __future__ import annotations

import inspect
from typing import Any, Dict, Mapping, Optional, Tuple, cast


def modern(env: Any, render_mode: str = "") -> Any:
    """Return a Gymnasium environment unchanged; wrap any other to get Gymnasium's methods.

    Args:
        env: An environment with one agent.
        render_mode: Render mode for environments whose ``render`` takes it as an argument.
    """
    bases = {cls.__module__.partition(".")[0] for cls in type(env).__mro__}
    return env if "gymnasium" in bases else OldGymWrapper(env, render_mode)


class OldGymWrapper:
    """Wrapper of an environment with old gym's interface.

    Args:
        env: The environment.
        render_mode: ``rgb_array`` or ``ansi``; ``""`` for no rendering.
    """

    def __init__(self, env: Any, render_mode: str = "") -> None:
        self.env = env
        self.observation_space, self.action_space = env.observation_space, env.action_space
        self.render_mode = getattr(env, "render_mode", None) or render_mode or None
        self._seeds_in_reset = _takes(_innermost(env).reset, "seed")
        self._takes_options = _takes(_innermost(env).reset, "options")
        self._asks_mode = _takes(_innermost(env).render, "mode") if hasattr(env, "render") else False

    @property
    def metadata(self) -> Mapping[str, Any]:
        """The environment's metadata, with the render modes under Gymnasium's key."""
        own: Dict[str, Any] = dict(getattr(self.env, "metadata", None) or {})
        own.setdefault("render_modes", own.get("render.modes", []))
        return own

    @property
    def spec(self) -> Any:
        """Specification with which the environment was registered, or ``None``."""
        return getattr(self.env, "spec", None)

    @property
    def unwrapped(self) -> Any:
        """The innermost environment, without wrappers."""
        return _innermost(self.env)

    def reset(
        self, *, seed: Optional[int] = None, options: Optional[Mapping[str, Any]] = None
    ) -> Tuple[Any, Mapping[str, Any]]:
        """Begin an episode and return the observation and the info."""
        known: Dict[str, Any] = {}
        if self._seeds_in_reset:
            known["seed"] = seed
        elif seed is not None and hasattr(self.env, "seed"):
            self.env.seed(seed)
        if self._takes_options:
            known["options"] = options
        shown: Any = self.env.reset(**known)
        pair = cast("Tuple[Any, ...]", shown) if isinstance(shown, tuple) else ()
        if len(pair) == 2 and isinstance(pair[1], dict):
            return pair[0], cast("Dict[str, Any]", pair[1])
        return cast("Any", shown), {}

    def step(self, action: Any) -> Tuple[Any, float, bool, bool, Mapping[str, Any]]:
        """Do one step and return observation, reward, terminated, truncated and info."""
        out = self.env.step(action)
        if len(out) == 5:
            return out
        observation, reward, done, info = out
        cut = bool(info.get("TimeLimit.truncated", False))
        return observation, float(reward), bool(done) and not cut, cut, info

    def render(self) -> Any:
        """Render in the mode ``render_mode``."""
        return self.env.render(mode=self.render_mode) if self._asks_mode else self.env.render()

    def close(self) -> None:
        """Close the environment if it has a method ``close``."""
        if hasattr(self.env, "close"):
            self.env.close()


def _innermost(env: Any) -> Any:
    return getattr(env, "unwrapped", env)


def _takes(function: Any, name: str) -> bool:
    try:
        return name in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False
