"""A film of the current policy at play."""

# What environments hand out is untyped.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from pathlib import Path
from typing import Any

from mosaic_worker.evaluation import stacked
from mosaic_worker.film import CannotFilm, film_episode
from sb3_worker.environments import make_environment
from sb3_worker.policy import Policy

__all__ = ["CannotFilm", "film"]


def film(policy: Policy, env_id: str, folder: Path, step: int, seed: int) -> Path:
    """Play an episode with the most likely actions; see :func:`mosaic_worker.film.film_episode`."""

    def decide(env: Any, observation: Any, _: Any, memory: Any) -> tuple[Any, Any]:
        masks = env.get_wrapper_attr("action_masks")()[None]
        choice = policy.choose(stacked([observation]), None if masks.all() else masks, memory=memory)
        return choice.actions[0], choice.memory

    steps = policy.description.preprocessing
    return film_episode(lambda: make_environment(env_id, steps, "rgb_array"), decide, folder, step, seed)
