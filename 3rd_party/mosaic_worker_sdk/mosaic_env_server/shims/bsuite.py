"""Experiments of bsuite with Gymnasium's interface, reproducible by the seed of the episode.

https://github.com/google-deepmind/bsuite seeds an environment when it is created. This module reseeds the
generators of the environment and its wrappers for each episode. Random mappings stay as the settings define
them.
"""

# bsuite and dm_env are untyped.
# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

from typing import Any, Dict, Mapping, Optional, Tuple

import numpy as np

from mosaic_env_server.shims.shapes import box, discrete

_WAYS = ("left", "stay", "right")
_STEERED = ("catch", "cartpole", "mountain_car")


class Experiment:
    """An experiment of bsuite with one of its settings.

    Args:
        bsuite_id: Name in bsuite, for example ``catch/0``.
        options: Values that replace those of the setting.
        render_mode: Ignored; bsuite has no rendering.
    """

    def __init__(self, bsuite_id: str, render_mode: Optional[str] = None, **options: Any) -> None:
        from bsuite import bsuite, sweep

        name = bsuite_id.partition("/")[0]
        self._env: Any = bsuite.load(name, {**sweep.SETTINGS[bsuite_id], **options})
        self.render_mode = None
        shown = self._env.observation_spec()
        self.observation_space = box(shown.shape, shown.dtype, -np.inf, np.inf)
        self.action_space = discrete(int(self._env.action_spec().num_values))
        self.metadata: Mapping[str, Any] = {
            "render_modes": [],
            "action_meanings": list(_WAYS) if name.startswith(_STEERED) else [],
        }

    def reset(
        self, *, seed: Optional[int] = None, options: Optional[Mapping[str, Any]] = None
    ) -> Tuple[Any, Dict[str, Any]]:
        """Begin an episode."""
        layer = self._env
        while layer is not None:
            if hasattr(layer, "_rng"):
                layer._rng = np.random.RandomState(None if seed is None else seed % (1 << 32))
            layer = getattr(layer, "_env", None)
        return np.array(self._env.reset().observation), {}

    def step(self, action: Any) -> Tuple[Any, float, bool, bool, Dict[str, Any]]:
        """Do one step; an end with discount 0 is a termination, any other end a truncation."""
        told = self._env.step(int(action))
        over, cut = told.last() and not told.discount, told.last() and bool(told.discount)
        return np.array(told.observation), float(told.reward), bool(over), cut, {}

    def render(self) -> None:
        """Do nothing; bsuite has no rendering."""

    def close(self) -> None:
        """Do nothing; the environment holds no resources."""
