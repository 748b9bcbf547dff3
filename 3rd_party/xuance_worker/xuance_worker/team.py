"""Helpers for environments of teams: episode length, kinds of actions, evaluation."""

# Values returned by environments are untyped.

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from mosaic_worker.learning.joint_env import make_joint
from mosaic_worker.learning.policy_evaluation import PolicyEvaluation

_LIMITS = ("max_episode_steps", "max_cycles", "max_steps")
LONGEST = 1000
"""Longest episode, in steps, if neither a setting nor the environment has a limit."""


EVALUATION = PolicyEvaluation(make_joint)  # all its policies are joint policies
"""Evaluates policies of teams."""


def longest_episode(parallel: Any, asked: int | None) -> int:
    """Return the largest number of steps of an episode."""
    if asked is not None:
        return asked
    environment = getattr(parallel, "environment", None)
    places = (
        getattr(environment, "spec", None),
        parallel,
        getattr(getattr(environment, "adapter", None), "env", None),
    )
    inner = [getattr(place, "unwrapped", None) for place in places]
    for place in (*places, *inner):
        for name in _LIMITS:
            found = getattr(place, name, None)
            if isinstance(found, int) and found > 0:
                return found
    return LONGEST


def action_kind(space: Any) -> str:
    """Return ``discrete`` or ``continuous``; for other actions, which no algorithm of this worker learns, the
    class name.
    """
    if isinstance(space, spaces.Discrete):
        return "discrete"
    bounded = isinstance(space, spaces.Box) and space.is_bounded() and np.issubdtype(space.dtype, np.floating)  # pyright: ignore[reportArgumentType]
    return "continuous" if bounded else type(space).__name__
