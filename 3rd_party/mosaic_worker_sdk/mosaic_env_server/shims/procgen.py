"""Procgen with the interface of Gymnasium: the seed of an episode is its level.

https://github.com/openai/procgen has the interface of gym3, in which the level of every episode follows from
what the environment was made with; here one is made for each episode.
"""

# What gym3 hands out is untyped.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportMissingImports=false

from __future__ import annotations

from typing import Any, Dict, Mapping, Optional, Tuple

import numpy as np

from mosaic_env_server.shims.shapes import box, discrete

_LEVELS = 1 << 31


class Procgen:
    """One of the sixteen games.

    Args:
        game: Its name, ``coinrun``.
        render_mode: ``rgb_array``, or nothing is drawn.
        options: As ``procgen.ProcgenGym3Env`` takes them: ``distribution_mode``, ``use_backgrounds``, …
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
        """Begin the level that is the seed's; without one, a level that chance picks."""
        level = int(np.random.default_rng(seed).integers(_LEVELS)) if seed is None else int(seed) % _LEVELS
        self._env.close()
        self._env = self._make(level)
        self._solved = False
        return self._observe(), {"level": level}

    def _observe(self) -> Any:
        self._shown = self._env.observe()[1]["rgb"][0]
        return self._shown

    def step(self, action: Any) -> Tuple[Any, float, bool, bool, Dict[str, Any]]:
        """One frame; at the end, what was seen last: gym3 shows the next level in its place."""
        self._env.act(np.array([action]))
        rewards, _, first = self._env.observe()
        over = bool(first[0])
        if over:
            self._solved = bool(self._env.get_info()[0]["prev_level_complete"])
        else:
            self._observe()
        return self._shown, float(rewards[0]), over, False, {}

    def mosaic_success(self) -> bool:
        """Whether the level was completed."""
        return self._solved

    def render(self) -> Any:
        """512 x 512 pixels."""
        return self._env.get_info()[0]["rgb"]

    def close(self) -> None:
        """Release it."""
        self._env.close()


def _meanings(combos: Any) -> Any:
    """``UPLEFT`` for both keys, as Atari's actions are called; ``D`` for a key of that name."""
    return [
        "".join(sorted(combo, key=("UP", "DOWN").__contains__, reverse=True)) or "NOOP" for combo in combos
    ]
