"""What of an environment a team has to be told before it is trained there."""

# What environments hand out is untyped.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from mosaic_worker.learning.joint_env import make_joint
from mosaic_worker.learning.policy_evaluation import PolicyEvaluation
from mosaic_worker.learning.training_settings import TrainingSettings
from mosaic_worker.preprocessing import check_steps

_KEYS = ("image", "observation", "rgb")
_LIMITS = ("max_episode_steps", "max_cycles", "max_steps")
LONGEST = 1000
"""Steps of an episode where neither a setting nor the environment says."""


EVALUATION = PolicyEvaluation(make_joint)  # none of its policies is of one agent
"""How good the policies of teams are, and what they do."""


def longest_episode(parallel: Any, asked: int | None) -> int:
    """Steps after which an episode is over at the latest."""
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


def vector_steps(config: TrainingSettings, space: Any) -> list[dict[str, Any]]:
    """The steps that make a vector of what an agent sees, as the settings ask."""
    steps: list[dict[str, Any]] = []
    if isinstance(space, spaces.Dict):
        main = next((key for key in _KEYS if isinstance(space.get(key), spaces.Box)), "")
        keys = config.selected or ([main] if main else [])
        if len(keys) == 1:
            steps.append({"step": "select", "key": keys[0]})
            space = space.get(keys[0])
        else:
            steps.append({"step": "keep", "keys": keys or _numbers_in(space)})
    if config.grayscale:
        steps.append({"step": "grayscale"})
    if config.resize:
        steps.append({"step": "resize", "shape": [config.resize, config.resize]})
    if config.frame_stack > 1:
        steps.append({"step": "frame_stack", "size": config.frame_stack})
    flat = isinstance(space, spaces.Box) and len(space.shape) == 1 and config.frame_stack == 1
    return check_steps([*steps, *([] if flat else [{"step": "flatten"}])])


def _numbers_in(space: Any, within: str = "") -> list[str]:
    """Paths of all that is made of numbers: a text that stands beside them is left out."""
    paths: list[str] = []
    for key, entry in space.spaces.items():
        if isinstance(entry, spaces.Dict):
            paths += _numbers_in(entry, f"{within}{key}/")
        elif isinstance(entry, (spaces.Box, spaces.Discrete, spaces.MultiDiscrete, spaces.MultiBinary)):
            paths.append(f"{within}{key}")
    return paths


def action_kind(space: Any) -> str:
    """``discrete``, ``continuous``, or the class's name where no algorithm here learns such actions."""
    if isinstance(space, spaces.Discrete):
        return "discrete"
    bounded = isinstance(space, spaces.Box) and space.is_bounded() and np.issubdtype(space.dtype, np.floating)  # pyright: ignore[reportArgumentType]
    return "continuous" if bounded else type(space).__name__
