"""A film of the current policy at play."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mosaic_worker.evaluation import stacked
from mosaic_worker.film import CannotFilm, film_episode
from mosaic_worker.joint_policy import JointPolicy
from ray_worker.evaluate import environment_of
from ray_worker.policy import Policy

__all__ = ["CannotFilm", "film"]


def film(policy: Policy | JointPolicy[Policy], env_id: str, folder: Path, step: int, seed: int) -> Path:
    """Play an episode with the most likely actions; see :func:`mosaic_worker.film.film_episode`."""

    def decide(env: Any, observation: Any, _: Any, memory: Any) -> tuple[Any, Any]:
        return policy.choose(stacked([observation])).actions[0], memory

    return film_episode(lambda: environment_of(policy, env_id, "rgb_array"), decide, folder, step, seed)
