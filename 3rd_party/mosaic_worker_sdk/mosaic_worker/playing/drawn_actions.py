"""Turns network outputs into actions: the most likely ones, or ones sampled with given random numbers."""

# numpy annotates only part of its functions.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any, List, Optional

import numpy as np
from numpy.typing import NDArray

from mosaic_worker.playing.checkpoint_worker import Draws
from mosaic_worker.spaces import Space


def choices_of(space: Space) -> List[int]:
    """Return the number of actions of each component of a Discrete or MultiDiscrete space."""
    return [space.n] if space.kind == "Discrete" else [int(n) for n in np.ravel(np.asarray(space.nvec))]


def hide_illegal(outputs: NDArray[Any], masks: NDArray[np.bool_], space: Space) -> NDArray[np.bool_]:
    """Give illegal actions a logit, or value, of minus infinity.

    Args:
        outputs: (N, actions), changed in place; a row without a legal action becomes zeros.
        masks: bool (M, actions), true for legal actions, for the first M rows. In the other rows, all
            actions are legal.
        space: Action space.

    Returns:
        bool (N,): true for rows with a legal action in each component.
    """
    legal = np.ones(outputs.shape, np.bool_)
    legal[: len(masks)] = masks
    parts = np.split(legal, np.cumsum(choices_of(space))[:-1], axis=1)
    able: NDArray[np.bool_] = np.all([part.any(axis=1) for part in parts], axis=0)
    outputs[~legal] = -math.inf
    outputs[~able] = 0.0
    return able


def counted_actions(logits: NDArray[Any], space: Space, draws: Optional[Draws]) -> NDArray[Any]:
    """Choose actions of a Discrete or MultiDiscrete space, (N, *shape).

    ``logits`` has the shape (N, sum of the numbers of actions of all components).
    """
    parts = np.split(logits, np.cumsum(choices_of(space))[:-1], axis=1)
    chosen = [
        part.argmax(axis=1) if draws is None else draw_index(part.astype(np.float64), draws(j))
        for j, part in enumerate(parts)
    ]
    if space.kind == "Discrete":
        return (chosen[0] + space.start).astype(space.dtype)
    stacked = np.stack(chosen, 1).reshape(len(logits), *space.shape)
    return (stacked + np.asarray(space.starts)).astype(space.dtype)


def greedy_index(values: NDArray[Any], draws: Optional[Draws], epsilon: float) -> NDArray[np.int64]:
    """Return the best action of each row (N, actions), or with ``draws`` an epsilon-greedy action.

    An action whose value is minus infinity is never chosen at random.
    """
    best = values.argmax(axis=1)
    if draws is None or not epsilon:
        return best
    level = np.where(np.isfinite(values), 0.0, -math.inf)
    return np.where(draws(0) < epsilon, draw_index(level, draws(1)), best)


def draw_index(logits: NDArray[np.float64], uniforms: NDArray[np.float64]) -> NDArray[np.int64]:
    """Sample an action per row by inverting the cumulative distribution; probability 0 is never chosen."""
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    cumulative = weights.cumsum(axis=1)
    return (cumulative <= (uniforms * cumulative[:, -1])[:, None]).sum(axis=1)


def draw_normals(draws: Draws, count: int) -> NDArray[np.float64]:
    """Return standard normal numbers, (N, count), each computed from a single uniform number."""
    uniforms = np.clip(np.stack([draws(j) for j in range(count)], 1), 2.0**-54, 1 - 2.0**-53)
    normal: Any = _inverse_normal(uniforms)
    return normal.astype(np.float64)


_inverse_normal = np.frompyfunc(NormalDist().inv_cdf, 1, 1)
