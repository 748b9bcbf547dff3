"""How good is a policy of this worker? See :mod:`mosaic_worker.evaluation`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mosaic_worker import evaluation
from sb3_worker.environments import make_environment
from sb3_worker.policy import Policy

_MOST_STEPS = 20_000


def _mask_of(env: Any, _: Any) -> NDArray[np.bool_] | None:
    mask = env.get_wrapper_attr("action_masks")()
    return None if mask.all() else mask


def episode_returns(
    policy: Policy, env_id: str, seeds: Iterable[int], go_on: Callable[[], bool] = lambda: True
) -> list[float]:
    """Undiscounted return of one episode per seed, as :func:`mosaic_worker.evaluation.episode_returns`.

    Raises:
        ConfigError: The environment cannot be made.
    """
    steps = policy.description.preprocessing
    return evaluation.episode_returns(
        policy, lambda: make_environment(env_id, steps), _mask_of, seeds, _MOST_STEPS, go_on
    )


def mean_return(policy: Policy, env_id: str, go_on: Callable[[], bool] = lambda: True) -> float:
    """Mean over :data:`mosaic_worker.evaluation.EVALUATION_SEEDS`."""
    return float(np.mean(episode_returns(policy, env_id, evaluation.EVALUATION_SEEDS, go_on)))
