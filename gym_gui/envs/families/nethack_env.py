"""NetHack and MiniHack, with reproducible episodes, copied observations, and pictures."""

# NLE and MiniHack have no type annotations, so their objects are Any.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

import importlib
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.envs.registration import load_env_creator

from gym_gui.envs.describers.nethack_words import LINE

INVENTORY = ("inv_strs", "inv_letters")
DESCRIPTIONS = "screen_descriptions"
_SEEDS = 2**31 - 1
_LETTERS = 24
"""Font size in pixels of the text below the map."""


def import_packages() -> None:
    """Import MiniHack and NLE; suppress the warning that MiniHack's use of setuptools causes."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="pkg_resources is deprecated")
        importlib.import_module("minihack")


class NetHackEnv(gymnasium.Wrapper[dict[str, Any], int, dict[str, Any], int]):
    """Gymnasium wrapper of an NLE or MiniHack environment.

    - NetHack's seeds are derived from the seed that ``reset`` gets; the phase of the moon is fixed. -
    Observations are copies, because NLE reuses one buffer. - The game's description of each cell
    (``screen_descriptions``, 132 kB) is left out unless requested. - MiniHack's observations contain the
    inventory, which most of its tasks need. - An episode that is cut off is ``truncated`` and not also
    ``terminated``. - Pictures show the map as tiles above the message and two status lines (``rgb_array``),
    or a text terminal (``ansi``).

    Args:
        env_id: Id under which the package registers the environment.
        render_mode: ``"rgb_array"``, ``"ansi"`` or ``None``.
        options: Keyword arguments of the environment.
    """

    def __init__(
        self, env_id: str, render_mode: str | None = None, options: Mapping[str, Any] | None = None
    ) -> None:
        import_packages()
        kwargs: dict[str, Any] = {"fix_moon_phase": True, **(options or {})}
        asked = tuple(kwargs.get("observation_keys", ()))
        if env_id.startswith("MiniHack-") and not asked:
            base: Any = importlib.import_module("minihack.base")
            kwargs["observation_keys"] = (*base.MH_DEFAULT_OBS_KEYS, *INVENTORY)
        mode = "pixel" if render_mode == "rgb_array" else "ansi"
        known = gymnasium.spec(env_id)
        maker: Any = load_env_creator(str(known.entry_point))  # make() would not pass on max_episode_steps
        with warnings.catch_warnings():
            # MiniHack takes its walls from versions of MiniGrid's environments that are not the newest.
            warnings.filterwarnings("ignore", message=".*is out of date")
            super().__init__(maker(**{**known.kwargs, "render_mode": mode, **kwargs}))
        self.metadata = {"render_modes": ["rgb_array", "ansi"], "render_fps": 5}
        self._mode = render_mode
        whole: Any = self.env.observation_space
        self._keys = [key for key in whole.spaces if key != DESCRIPTIONS or DESCRIPTIONS in asked]
        self.observation_space = spaces.Dict({key: whole.spaces[key] for key in self._keys})

    @property
    def render_mode(self) -> str | None:
        """Render mode with which the environment was made."""
        return self._mode

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        game: Any = self.unwrapped
        if seed is not None:
            gymnasium.Env.reset(game, seed=seed)
        core, display = (int(game.np_random.integers(_SEEDS)) for _ in range(2))
        game.nethack.set_initial_seeds(core, display, False, None)
        maze: Any = getattr(game, "minigrid_env", None)
        if maze is not None:  # MiniHack uses its walls
            maze.reset(seed=core)
        seen, _ = game.reset()
        return self._copied(seen), {}

    def step(self, action: int) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        game: Any = self.unwrapped
        seen, reward, done, _, told = game.step(int(action))
        status = told["end_status"]
        cut = bool(done) and status.name == "ABORTED"
        info = {"end_status": status.name.lower()}
        if done and hasattr(game.StepStatus, "TASK_SUCCESSFUL"):
            info["success"] = status.name == "TASK_SUCCESSFUL"
        return self._copied(seen), float(reward), bool(done) and not cut, cut, info

    def render(self) -> Any:
        game: Any = self.unwrapped
        if self._mode == "rgb_array":
            lines = self._screen()
            return _with_lines(game.render(), (lines[0], *lines[-2:]))
        if self._mode == "ansi":
            return "\n".join(self._screen())
        return None

    def _screen(self) -> list[str]:
        """Return the lines of NetHack's text terminal: the message, the map and two status lines."""
        game: Any = self.unwrapped
        screen = game.last_observation[game._observation_keys.index("tty_chars")]
        return [bytes(row).decode("latin-1").rstrip() for row in screen]

    def _copied(self, seen: Mapping[str, Any]) -> dict[str, Any]:
        return {key: seen[key].copy() for key in self._keys}


def _with_lines(tiles: Any, lines: Sequence[str]) -> Any:
    """Return the map's picture, a ``uint8`` array (H, W, 3), with lines of text added below."""
    from PIL import Image, ImageDraw, ImageFont

    height, width, _ = tiles.shape
    picture = Image.new("RGB", (width, height + LINE * len(lines)))
    picture.paste(Image.fromarray(tiles), (0, 0))
    draw, font = ImageDraw.Draw(picture), ImageFont.load_default(_LETTERS)
    for i, line in enumerate(lines):
        draw.text((LINE // 4, height + i * LINE), line, fill=(255, 255, 255), font=font)
    return np.array(picture)
