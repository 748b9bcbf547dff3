"""How good is a policy of this worker, and what does it do? See
:mod:`mosaic_worker.learning.policy_evaluation`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mosaic_worker.learning.policy_evaluation import PolicyEvaluation
from sb3_worker.environments import make_environment


def _mask_of(env: Any, _: Any) -> NDArray[np.bool_] | None:
    mask = env.get_wrapper_attr("action_masks")()
    return None if mask.all() else mask


_POLICIES = PolicyEvaluation(make_environment, mask_of=_mask_of, max_steps=20_000)
episode_returns, mean_return, film = _POLICIES.episode_returns, _POLICIES.mean_return, _POLICIES.film
