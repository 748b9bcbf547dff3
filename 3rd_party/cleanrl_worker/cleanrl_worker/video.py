"""A film of the current policy at play."""

# What environments hand out is untyped.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from pathlib import Path
from typing import Any

from cleanrl_worker.evaluate import environment_of, mask_of
from cleanrl_worker.policy import Policy
from mosaic_worker.evaluation import stacked
from mosaic_worker.film import CannotFilm, film_episode
from mosaic_worker.joint_policy import JointPolicy

__all__ = ["CannotFilm", "film"]


def film(policy: Policy | JointPolicy[Policy], env_id: str, folder: Path, step: int, seed: int) -> Path:
    """Play an episode with the most likely actions; see :func:`mosaic_worker.film.film_episode`."""

    def decide(_: Any, observation: Any, info: dict[str, Any], memory: Any) -> tuple[Any, Any]:
        mask = mask_of(_, info)
        choice = policy.choose(stacked([observation]), None if mask is None else mask[None], memory=memory)
        return choice.actions[0], choice.memory

    return film_episode(lambda: environment_of(policy, env_id, "rgb_array"), decide, folder, step, seed)
