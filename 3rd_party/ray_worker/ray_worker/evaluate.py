"""How good is a policy of this worker? See :mod:`mosaic_worker.evaluation`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from mosaic_worker import evaluation
from mosaic_worker.joint_policy import JointPolicy
from ray_worker.environments import make_environment, make_joint
from ray_worker.policy import Policy

_MOST_STEPS = 20_000


def _no_mask(_: Any, __: Any) -> None:
    """RLlib's networks know no masks."""


def episode_returns(
    policy: Policy | JointPolicy[Policy],
    env_id: str,
    seeds: Iterable[int],
    go_on: Callable[[], bool] = lambda: True,
) -> list[float]:
    """Undiscounted return of one episode per seed, as :func:`mosaic_worker.evaluation.episode_returns`.

    Raises:
        ConfigError: The environment cannot be made.
    """
    return evaluation.episode_returns(
        policy, lambda: environment_of(policy, env_id), _no_mask, seeds, _MOST_STEPS, go_on
    )


def environment_of(policy: Policy | JointPolicy[Policy], env_id: str, render_mode: str | None = None) -> Any:
    """An environment as a policy sees it, of a joint policy one with all its agents."""
    about = policy.description
    if isinstance(policy, JointPolicy):
        steps = {agent: about.part_of(agent).preprocessing for agent in about.agents}
        return make_joint(env_id, steps, render_mode)
    return make_environment(env_id, about.preprocessing, render_mode)


def mean_return(
    policy: Policy | JointPolicy[Policy], env_id: str, go_on: Callable[[], bool] = lambda: True
) -> float:
    """Mean over :data:`mosaic_worker.evaluation.EVALUATION_SEEDS`."""
    return float(np.mean(episode_returns(policy, env_id, evaluation.EVALUATION_SEEDS, go_on)))
