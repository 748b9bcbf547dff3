"""How good is a policy of a team, and what does it do? See
:mod:`mosaic_worker.learning.policy_evaluation`."""

from __future__ import annotations

from mosaic_worker.learning.joint_env import make_joint
from mosaic_worker.learning.policy_evaluation import PolicyEvaluation

_POLICIES = PolicyEvaluation(make_joint)  # none of its policies is of one agent
episode_returns, mean_return, film = _POLICIES.episode_returns, _POLICIES.mean_return, _POLICIES.film
