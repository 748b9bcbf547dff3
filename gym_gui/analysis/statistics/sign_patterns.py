"""Computes sums over subsets of a sample, all or random, for sign-flip tests and subset-mean intervals."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

SEED = 20_210_831
CHUNK = 1 << 20
"""Number of units times patterns that are drawn in one call."""

EXACT_FLIPS = 16
"""Largest number of units for which all 2**n patterns are gone through."""

FLIPS = 19_999
_GATHERED = 1 << 13
"""Numbers that are gathered at a time: few enough that their memory is reused, not allocated each time."""


def all_sums(d: Floats) -> Floats:
    """Return the sum of the chosen values for each of the 2**n ways to choose; the first chooses none."""
    sums = np.zeros(1)
    for value in d:
        sums = np.concatenate([sums, sums + value])
    return sums


def chosen_sums(d: Floats, patterns: int) -> Iterator[Floats]:
    """Yield sums of the chosen values of each random pattern, in chunks."""
    width = -(-len(d) // 8)
    padded = np.zeros(8 * width)
    padded[: len(d)] = d
    # Sum of each byte of a pattern: this covers eight values at once, and patterns stay bytes.
    bits = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).astype(np.float64)
    sums = (padded.reshape(width, 8) @ bits.T).ravel()
    places = np.arange(width) * 256
    rows = max(1, _GATHERED // width)
    for packed in _random_patterns(len(d), patterns):
        for start in range(0, len(packed), rows):
            yield sums.take(packed[start : start + rows] + places).sum(axis=1)


@lru_cache(maxsize=8)
def _random_patterns(n: int, patterns: int) -> tuple[NDArray[np.uint8], ...]:
    """Return random patterns, eight units to a byte; all samples of ``n`` units share them."""
    rng = np.random.default_rng(SEED)
    rows = max(1, CHUNK // n)
    width = -(-n // 8)
    return tuple(
        rng.integers(256, size=(min(rows, patterns - start), width), dtype=np.uint8)
        for start in range(0, patterns, rows)
    )
