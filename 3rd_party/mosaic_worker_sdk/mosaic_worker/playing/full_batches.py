"""Splits rows into batches of one size, so that a network gives the same result for a row in any batch."""

from __future__ import annotations

from typing import Any, Callable, Dict, Optional, cast

import numpy as np
from numpy.typing import NDArray

from mosaic_worker.playing.checkpoint_worker import Choices, Draws

BATCH = 64
"""Number of rows of every forward call. The last bits of a row's result depend on the number of rows in
the batch, so batches are always filled up to this number."""

Decide = Callable[[Any, Optional[NDArray[np.bool_]], Optional[Draws], Optional[NDArray[np.float32]]], Choices]
"""Function from observations, masks, draws and memory of at most :data:`BATCH` rows to their choices."""


def in_batches(
    decide: Decide,
    observations: Any,
    masks: Optional[NDArray[np.bool_]] = None,
    draws: Optional[Draws] = None,
    memory: Optional[NDArray[np.float32]] = None,
) -> Choices:
    """Choose actions for any number of rows, at most :data:`BATCH` rows per call of ``decide``.

    Args:
        decide: Chooses actions for a batch; only its draws are filled up to :data:`BATCH`.
        observations: An array (N, …), or a dict of arrays.
        masks: bool (N, actions); ``None`` if every action is legal.
        draws: Random numbers to sample with, each of shape (N,); ``None`` for the most likely action.
        memory: (N, M); ``None`` for a policy without memory.
    """
    by_key = isinstance(observations, dict)
    count = len(next(iter(cast("Dict[str, Any]", observations).values())) if by_key else observations)
    return Choices.join(
        [
            decide(
                _part_of(observations, part),
                None if masks is None else masks[part],
                None if draws is None else _filled_up(draws, part),
                None if memory is None else memory[part],
            )
            for part in (slice(begin, begin + BATCH) for begin in range(0, count, BATCH))
        ]
    )


def _part_of(observations: Any, part: slice) -> Any:
    if isinstance(observations, dict):
        return {key: rows[part] for key, rows in cast("Dict[str, Any]", observations).items()}
    return observations[part]


def _filled_up(draws: Draws, part: slice) -> Draws:
    def drawn(j: int) -> NDArray[np.float64]:
        numbers = np.zeros(BATCH)
        rows = draws(j)[part]
        numbers[: len(rows)] = rows
        return numbers

    return drawn
