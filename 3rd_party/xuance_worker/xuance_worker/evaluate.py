"""How good is a policy of a team? See :mod:`mosaic_worker.evaluation`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mosaic_worker import evaluation
from mosaic_worker.joint_env import JointEnv, make_joint
from mosaic_worker.joint_policy import JointPolicy
from xuance_worker.policy import Policy

_MOST_STEPS = 100_000


def mask_of(_: Any, info: Mapping[str, Any]) -> NDArray[np.bool_] | None:
    """Legal actions, bool (agents, actions); ``None`` where all are."""
    return info.get("action_mask")


def team_of(policy: JointPolicy[Policy], env_id: str, render_mode: str | None = None) -> JointEnv:
    """An environment as a policy sees it.

    Raises:
        ConfigError: It cannot be made, or has other agents.
    """
    description = policy.description
    steps = {agent: description.part_of(agent).preprocessing for agent in description.agents}
    return make_joint(env_id, steps, render_mode)


def episode_returns(
    policy: JointPolicy[Policy], env_id: str, seeds: Iterable[int], go_on: Callable[[], bool] = lambda: True
) -> list[float]:
    """Undiscounted return of the team in one episode per seed, of the most likely actions.

    Raises:
        ConfigError: The environment cannot be made.
    """
    return evaluation.episode_returns(
        policy, lambda: team_of(policy, env_id), mask_of, seeds, _MOST_STEPS, go_on
    )


def mean_return(policy: JointPolicy[Policy], env_id: str, go_on: Callable[[], bool] = lambda: True) -> float:
    """Mean over :data:`mosaic_worker.evaluation.EVALUATION_SEEDS`."""
    return float(np.mean(episode_returns(policy, env_id, evaluation.EVALUATION_SEEDS, go_on)))
