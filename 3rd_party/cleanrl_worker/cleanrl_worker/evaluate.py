"""How good is a policy of this worker? See :mod:`mosaic_worker.evaluation`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cleanrl_worker.environments import make_environment
from cleanrl_worker.policy import Policy
from mosaic_worker import evaluation
from mosaic_worker.joint_env import make_joint
from mosaic_worker.joint_policy import JointPolicy

_MOST_STEPS = 100_000


def mask_of(_: Any, info: Mapping[str, Any]) -> NDArray[np.bool_] | None:
    """Legal actions, from the info of an environment; ``None`` where all are."""
    mask = info.get("action_mask")
    return None if mask is None else np.asarray(mask, bool)


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
        policy, lambda: environment_of(policy, env_id), mask_of, seeds, _MOST_STEPS, go_on
    )


def environment_of(policy: Policy | JointPolicy[Policy], env_id: str, render_mode: str | None = None) -> Any:
    """An environment as a policy sees it, of a joint policy one with all its agents.

    Raises:
        ConfigError: It cannot be made.
    """
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
