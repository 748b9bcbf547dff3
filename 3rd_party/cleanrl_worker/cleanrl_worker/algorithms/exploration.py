"""How much chance is in the actions of a training, and what a played policy makes of its numbers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray


def linear_schedule(start: float, end: float, duration: float, step: int) -> float:
    """From ``start`` at step 0 to ``end`` at step ``duration`` in a straight line, then ``end``."""
    if step >= duration:
        return end
    return start + (end - start) * step / duration


def random_legal(masks: NDArray[np.bool_], uniforms: NDArray[np.float64]) -> NDArray[np.int64]:
    """The legal action that each uniform number points at, all of them equally likely.

    Args:
        masks: bool (N, actions); a row without a legal action gives action 0.
        uniforms: Numbers in [0, 1), shape (N,).
    """
    legal = masks.sum(axis=1)
    rank = np.minimum((uniforms * legal).astype(np.int64), legal - 1)
    return (masks.cumsum(axis=1) > rank[:, None]).argmax(axis=1)


def normals(draws: Callable[[int], NDArray[np.float64]], count: int) -> NDArray[np.float64]:
    """Standard normal numbers out of uniform ones, by the transform of Box and Muller (1958).

    Args:
        draws: Gives the j-th uniform number in [0, 1) of each of N rows; two are taken for each.
        count: Numbers for each row.

    Returns:
        float64 (N, count).
    """
    columns = [
        np.sqrt(-2.0 * np.log1p(-draws(2 * i))) * np.cos(2.0 * np.pi * draws(2 * i + 1)) for i in range(count)
    ]
    return np.stack(columns, axis=1)
