"""Makes common spaces without Gymnasium."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np

from mosaic_worker.spaces import Space


def box(shape: Sequence[int], dtype: Any, low: float, high: float) -> Space:
    """Return a ``Box`` with the same bounds for all components."""
    kind, sizes = np.dtype(dtype), tuple(shape)
    return Space("Box", kind, sizes, np.full(sizes, low, kind), np.full(sizes, high, kind))


def text(longest: int, letters: str, shortest: int = 0) -> Space:
    """Return a ``Text`` space of the characters in ``letters``."""
    return Space("Text", charset=letters, min_length=shortest, max_length=longest)


def discrete(count: int) -> Space:
    """Return a ``Discrete`` space of ``count`` numbers from 0 on."""
    return Space("Discrete", np.dtype(np.int64), n=count, start=0)
