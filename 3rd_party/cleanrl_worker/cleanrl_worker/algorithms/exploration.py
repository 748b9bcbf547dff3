"""Random numbers and schedules for exploration during training and for sampled play."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray


def linear_schedule(start: float, end: float, duration: float, step: int) -> float:
    """Return the value at ``step``: linear from ``start`` to ``end`` until ``duration``, then ``end``."""
    if step >= duration:
        return end
    return start + (end - start) * step / duration


def random_legal(masks: NDArray[np.bool_], uniforms: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the legal action that each uniform number selects, all equally likely.

    Args:
        masks: bool (N, actions); a row without a legal action gives action 0.
        uniforms: Numbers in [0, 1), shape (N,).
    """
    legal = masks.sum(axis=1)
    rank = np.minimum((uniforms * legal).astype(np.int64), legal - 1)
    return (masks.cumsum(axis=1) > rank[:, None]).argmax(axis=1)


def normals(draws: Callable[[int], NDArray[np.float64]], count: int) -> NDArray[np.float64]:
    """Return standard normal numbers made from uniform ones, by the transform of Box and Muller (1958).

    Args:
        draws: Returns the j-th uniform number in [0, 1) of each of N rows; each normal number uses two.
        count: Numbers for each row.

    Returns:
        float64 (N, count).
    """
    columns = [
        np.sqrt(-2.0 * np.log1p(-draws(2 * i))) * np.cos(2.0 * np.pi * draws(2 * i + 1)) for i in range(count)
    ]
    return np.stack(columns, axis=1)
