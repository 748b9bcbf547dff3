"""Spaces, observations and masks for the contract test of workers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium import spaces

from gym_gui.core.spaces import Space, spec_to_space, to_space
from gym_gui.core.types import Mask
from gym_gui.workers.capabilities import ANY

UNHEARD_OF = Space("Custom", name="UnheardOf")
"""A space that no worker knows, for the check that a worker refuses such a slot."""


def action_space_for(kinds: Sequence[str]) -> Any:
    """Return a small action space of the first known kind in ``kinds``; ``Discrete`` for ``any``."""
    made: dict[str, Any] = {
        "discrete": spaces.Discrete(4),
        "continuous": spaces.Box(-1.0, 1.0, (2,), np.float32),
        "multi_discrete": spaces.MultiDiscrete([3, 2]),
        "multi_binary": spaces.MultiBinary(3),
        "dict": spaces.Dict({"move": spaces.Discrete(3), "force": spaces.Box(0.0, 1.0, (1,), np.float32)}),
        "tuple": spaces.Tuple((spaces.Discrete(3), spaces.Discrete(2))),
        "text": spaces.Text(8),
        "sequence": spaces.Sequence(spaces.Discrete(3)),
        "graph": spaces.Graph(spaces.Box(0.0, 1.0, (1,), np.float32), None),
    }
    return next((made[kind] for kind in kinds if kind in made), made["discrete"])


def observation_space_for(kinds: Sequence[str]) -> Any:
    """Return a small observation space of the first known kind in ``kinds``; a vector for ``any``."""
    vector = spaces.Box(-1.0, 1.0, (4,), np.float32)
    made: dict[str, Any] = {
        "box": vector,
        "image": spaces.Box(0, 255, (8, 8, 3), np.uint8),
        "discrete": spaces.Discrete(6),
        "multi_discrete": spaces.MultiDiscrete([3, 2]),
        "multi_binary": spaces.MultiBinary(3),
        "dict": spaces.Dict({"near": vector, "place": spaces.Discrete(6)}),
        "tuple": spaces.Tuple((vector, spaces.Discrete(6))),
        "text": spaces.Text(8),
        "sequence": spaces.Sequence(spaces.Discrete(3)),
        "graph": spaces.Graph(spaces.Box(0.0, 1.0, (1,), np.float32), None),
    }
    return next((made[kind] for kind in kinds if kind in made), vector)


def sample_rows(space: Any, episodes: int, steps: int) -> list[list[Any]]:
    """Return ``steps`` random observations for each of ``episodes`` episodes, the same in every call."""
    described = to_space(space)
    if described.kind == "Custom":
        return [[f"observation {e}.{t}" for t in range(steps)] for e in range(episodes)]
    gym_space = spec_to_space(described)
    gym_space.seed(20)
    return [[gym_space.sample() for _ in range(steps)] for _ in range(episodes)]


def sample_masks(space: Space, episodes: int, steps: int) -> list[list[Mask]]:
    """Return random masks for a ``Discrete`` space, each with a legal action; the same in every call."""
    rng = np.random.default_rng(21)
    masks = rng.random((episodes, steps, space.n)) < 0.5
    certain = rng.integers(space.n, size=(episodes, steps))
    for e in range(episodes):
        masks[e, np.arange(steps), certain[e]] = True
    masks[0, 0] = False
    masks[0, 0, space.n - 1] = True  # one mask allows a single action, which is not the first
    return [list(row) for row in masks]


def plays_anything(kinds: Sequence[str]) -> bool:
    """Return whether a worker claims to support every kind of space."""
    return ANY in kinds
