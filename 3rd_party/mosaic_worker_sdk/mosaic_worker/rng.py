"""Counter-based random numbers.

The number for (seed, stream, step) does not depend on earlier draws or on the other decisions of
the batch.

The mixing function is the finaliser of SplitMix64 (Steele, Lea, Flood: "Fast splittable
pseudorandom number generators", OOPSLA 2014), applied once per key word.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_M1 = np.uint64(0xBF58476D1CE4E5B9)
_M2 = np.uint64(0x94D049BB133111EB)
_ONE = np.uint64(1)
_GAMMA_INT, _M1_INT, _M2_INT, _ALL = int(_GAMMA), int(_M1), int(_M2), 0xFFFFFFFFFFFFFFFF
_S30, _S27, _S31, _S11 = (np.uint64(n) for n in (30, 27, 31, 11))


def _mix(z: NDArray[np.uint64]) -> NDArray[np.uint64]:
    z = (z ^ (z >> _S30)) * _M1
    z = (z ^ (z >> _S27)) * _M2
    return z ^ (z >> _S31)


def bits(seeds: ArrayLike, steps: ArrayLike, stream: int = 0) -> NDArray[np.uint64]:
    """Return 64 random bits for each (seed, step) pair.

    Args:
        seeds: uint64, shape (N,).
        steps: Non-negative counters, broadcastable with ``seeds``.
        stream: Distinguishes several draws at the same step.

    Returns:
        uint64 of the broadcast shape.
    """
    # Arrays wrap around silently, but scalars would warn, so all values have a dimension.
    key, counter = np.atleast_1d(np.asarray(seeds, np.uint64)), np.atleast_1d(np.asarray(steps, np.uint64))
    if key.shape == counter.shape == (1,):
        # One decision at a time is common, and Python's integers are faster there.
        return np.array([bits_of(int(key[0]), int(counter[0]), stream)], np.uint64)
    key = _mix(key + _GAMMA)
    key = _mix(key + (counter + _ONE) * _GAMMA)
    return _mix(key + np.array([stream], np.uint64) * _M1) if stream else key


def bits_of(seed: int, step: int, stream: int = 0) -> int:
    """Return the same number as :func:`bits` for one (seed, step) pair, as an ``int``."""
    key = _mix_one(seed + _GAMMA_INT)
    key = _mix_one(key + (step + 1) * _GAMMA_INT)
    return _mix_one(key + stream * _M1_INT) if stream else key


def _mix_one(z: int) -> int:
    z &= _ALL
    z = ((z ^ (z >> 30)) * _M1_INT) & _ALL
    z = ((z ^ (z >> 27)) * _M2_INT) & _ALL
    return z ^ (z >> 31)


def uniform(seeds: ArrayLike, steps: ArrayLike, stream: int = 0) -> NDArray[np.float64]:
    """Return a uniform number in [0, 1) for each (seed, step) pair; arguments as in :func:`bits`."""
    return np.multiply(bits(seeds, steps, stream) >> _S11, 1.0 / (1 << 53), dtype=np.float64)
