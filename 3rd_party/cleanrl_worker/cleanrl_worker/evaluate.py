"""How good is a policy of this worker, and what does it do? See
:mod:`mosaic_worker.learning.policy_evaluation`."""

from __future__ import annotations

from cleanrl_worker.environments import make_environment
from mosaic_worker.learning.policy_evaluation import PolicyEvaluation

_POLICIES = PolicyEvaluation(make_environment)
episode_returns, mean_return, film = _POLICIES.episode_returns, _POLICIES.mean_return, _POLICIES.film
