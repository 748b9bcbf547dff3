"""Computes sums over all or random subsets of a sample, for sign-flip tests and subset-mean intervals."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

SEED = 20_210_831
CHUNK = 1 << 20
"""Number of random values (units times patterns) in one array."""

EXACT_FLIPS = 16
"""Largest number of units for which all 2**n patterns are evaluated."""

FLIPS = 19_999
_GATHERED = 1 << 13
"""Number of values in one temporary array, small enough that its memory is reused."""


def all_sums(d: Floats) -> Floats:
    """Return the sum of each of the 2**n subsets of the values; the first subset is empty."""
    sums = np.zeros(1)
    for value in d:
        sums = np.concatenate([sums, sums + value])
    return sums


def chosen_sums(d: Floats, patterns: int) -> Iterator[Floats]:
    """Yield the sums of random subsets of the values, in chunks."""
    width = -(-len(d) // 8)
    padded = np.zeros(8 * width)
    padded[: len(d)] = d
    # Look up the sum of each byte of a pattern, which selects among eight values at once.
    bits = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).astype(np.float64)
    sums = (padded.reshape(width, 8) @ bits.T).ravel()
    places = np.arange(width) * 256
    rows = max(1, _GATHERED // width)
    for packed in _random_patterns(len(d), patterns):
        for start in range(0, len(packed), rows):
            yield sums.take(packed[start : start + rows] + places).sum(axis=1)


@lru_cache(maxsize=8)
def _random_patterns(n: int, patterns: int) -> tuple[NDArray[np.uint8], ...]:
    """Return random patterns as bytes of eight units each, cached for all samples of ``n`` units."""
    rng = np.random.default_rng(SEED)
    rows = max(1, CHUNK // n)
    width = -(-n // 8)
    return tuple(
        rng.integers(256, size=(min(rows, patterns - start), width), dtype=np.uint8)
        for start in range(0, patterns, rows)
    )
