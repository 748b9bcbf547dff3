"""Procgen with Gymnasium's interface: the seed of an episode determines its level.

https://github.com/openai/procgen has gym3's interface, in which the arguments of an environment determine the
levels of all its episodes. This module creates a new Procgen environment for each episode.
"""

# Values returned by gym3 are untyped.

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportMissingImports=false

from __future__ import annotations

from typing import Any, Dict, Mapping, Optional, Tuple

import numpy as np

from mosaic_env_server.shims.shapes import box, discrete

_LEVELS = 1 << 31


class Procgen:
    """One of Procgen's sixteen games.

    Args:
        game: Name of the game, for example ``coinrun``.
        render_mode: ``rgb_array``, or ``None`` for no rendering.
        options: Arguments of ``procgen.ProcgenGym3Env``: ``distribution_mode``, ``use_backgrounds``, …
    """

    def __init__(self, game: str, render_mode: Optional[str] = None, **options: Any) -> None:
        self.render_mode = render_mode
        self._game, self._options = game, options
        self.observation_space, self.action_space = box((64, 64, 3), np.uint8, 0, 255), discrete(15)
        self._env = self._make(0)
        self.metadata: Mapping[str, Any] = {
            "render_modes": ["rgb_array"],
            "render_fps": 15,
            "action_meanings": _meanings(self._env.get_combos()),
        }
        self._shown: Any = None
        self._solved = False

    def _make(self, level: int) -> Any:
        from procgen import ProcgenGym3Env

        return ProcgenGym3Env(
            num=1,
            env_name=self._game,
            start_level=level,
            num_levels=1,
            rand_seed=level,
            num_threads=0,
            render_mode=self.render_mode,
            **self._options,
        )

    def reset(
        self, *, seed: Optional[int] = None, options: Optional[Mapping[str, Any]] = None
    ) -> Tuple[Any, Dict[str, Any]]:
        """Begin the level of the seed; without a seed, a random level."""
        level = int(np.random.default_rng(seed).integers(_LEVELS)) if seed is None else int(seed) % _LEVELS
        self._env.close()
        self._env = self._make(level)
        self._solved = False
        return self._observe(), {"level": level}

    def _observe(self) -> Any:
        self._shown = self._env.observe()[1]["rgb"][0]
        return self._shown

    def step(self, action: Any) -> Tuple[Any, float, bool, bool, Dict[str, Any]]:
        """Do one step; after the last one, return the previous observation again, because gym3 already shows
        the next level.
        """
        self._env.act(np.array([action]))
        rewards, _, first = self._env.observe()
        over = bool(first[0])
        if over:
            self._solved = bool(self._env.get_info()[0]["prev_level_complete"])
        else:
            self._observe()
        return self._shown, float(rewards[0]), over, False, {}

    def mosaic_success(self) -> bool:
        """Return whether the level was completed."""
        return self._solved

    def render(self) -> Any:
        """Return an image of 512 x 512 pixels."""
        return self._env.get_info()[0]["rgb"]

    def close(self) -> None:
        """Close the environment."""
        self._env.close()


def _meanings(combos: Any) -> Any:
    """Return the names of the actions by keys: ``UPLEFT`` for two keys, as in Atari games; ``D`` for the key
    D.
    """
    return [
        "".join(sorted(combo, key=("UP", "DOWN").__contains__, reverse=True)) or "NOOP" for combo in combos
    ]
