"""How good is a policy of this worker, and what does it do? See
:mod:`mosaic_worker.learning.policy_evaluation`."""

from __future__ import annotations

from typing import Any

from mosaic_worker.learning.policy_evaluation import PolicyEvaluation
from ray_worker.environments import make_environment, make_joint


def _no_mask(_: Any, __: Any) -> None:
    """RLlib's networks know no masks."""


_POLICIES = PolicyEvaluation(make_environment, make_joint, _no_mask, max_steps=20_000)
episode_returns, mean_return, film = _POLICIES.episode_returns, _POLICIES.mean_return, _POLICIES.film
