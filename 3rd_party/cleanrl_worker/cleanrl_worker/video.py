"""A film of the current policy at play."""

# What environments hand out is untyped.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from cleanrl_worker.environments import make_environment
from cleanrl_worker.policy import Policy
from mosaic_worker.film import CannotFilm, film_episode

__all__ = ["CannotFilm", "film"]


def film(policy: Policy, env_id: str, folder: Path, step: int, seed: int) -> Path:
    """Play an episode with the most likely actions; see :func:`mosaic_worker.film.film_episode`."""

    def decide(_: Any, observation: Any, info: dict[str, Any], memory: Any) -> tuple[Any, Any]:
        mask = info.get("action_mask")
        masks = None if mask is None else np.asarray(mask, bool)[None]
        choice = policy.choose(np.asarray(observation)[None], masks, memory=memory)
        return choice.actions[0], choice.memory

    steps = policy.description.preprocessing
    return film_episode(lambda: make_environment(env_id, steps, "rgb_array"), decide, folder, step, seed)
