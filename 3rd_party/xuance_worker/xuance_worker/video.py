"""A film of the current policy at play."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mosaic_worker.evaluation import stacked
from mosaic_worker.film import film_episode
from mosaic_worker.joint_policy import JointPolicy
from xuance_worker.evaluate import mask_of, team_of
from xuance_worker.policy import Policy


def film(policy: JointPolicy[Policy], env_id: str, folder: Path, step: int, seed: int) -> Path:
    """Play an episode with the most likely actions; see :func:`mosaic_worker.film.film_episode`."""

    def decide(env: Any, observation: Any, info: Mapping[str, Any], memory: Any) -> tuple[Any, Any]:
        masks = mask_of(env, info)
        choice = policy.choose(stacked([observation]), None if masks is None else masks[None], memory=memory)
        return choice.actions[0], choice.memory

    return film_episode(lambda: team_of(policy, env_id, "rgb_array"), decide, folder, step, seed)
