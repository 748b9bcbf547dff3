"""Draws values of any space from counter-based random numbers.

Each value has its own 64-bit key, from which all its components derive. Therefore a value does not depend on
other values drawn in the same call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mosaic_worker.codec import GraphInstance, stack
from mosaic_worker.rng import bits, uniform
from mosaic_worker.spaces import Space, take

Keys = NDArray[np.uint64]

_MOST_ELEMENTS = 8
"""Largest length of a drawn Sequence and largest number of drawn Graph nodes or edges; the spaces have no
bound.
"""


def samplable(space: Space) -> bool:
    """Return whether every part of ``space`` is of a known kind."""
    return space.kind != "Custom" and all(samplable(child) for child in space.spaces.values())


def sample(space: Space, keys: Keys) -> Any:
    """Draw one value of ``space`` per key, stacked as in :data:`mosaic_worker.spaces.Stacked`.

    Distributions are Gymnasium's: uniform on bounded intervals and finite sets, shifted exponential with one
    infinite bound, standard normal with two.

    Args:
        space: Any space without ``Custom`` parts.
        keys: uint64 (N,), one per value.
    """
    if space.kind == "Dict":
        return {k: sample(child, bits(keys, i)) for i, (k, child) in enumerate(space.spaces.items())}
    if space.kind == "Tuple":
        return tuple(sample(child, bits(keys, i)) for i, child in enumerate(space.spaces.values()))
    if space.kind in _ONE_BY_ONE:
        draw = _ONE_BY_ONE[space.kind]
        return [draw(space, keys[i : i + 1]) for i in range(len(keys))]
    return _FIXED[space.kind](space, keys)


def _uniforms(keys: Keys, count: int, stream: int = 0) -> NDArray[np.float64]:
    """Draw uniform numbers of shape (N, count)."""
    return uniform(keys[:, None], np.arange(count), stream)


def _discrete(space: Space, keys: Keys) -> NDArray[Any]:
    return (space.start + uniform(keys, 0) * space.n).astype(space.dtype)


def _multi_discrete(space: Space, keys: Keys) -> NDArray[Any]:
    nvec, starts = np.asarray(space.nvec), np.asarray(space.starts)
    drawn = np.floor(_uniforms(keys, nvec.size) * nvec.reshape(-1)) + starts.reshape(-1)
    return drawn.astype(space.dtype).reshape(len(keys), *space.shape)


def _multi_binary(space: Space, keys: Keys) -> NDArray[Any]:
    drawn = _uniforms(keys, int(np.prod(space.shape, dtype=np.int64))) < 0.5
    return drawn.astype(space.dtype).reshape(len(keys), *space.shape)


def _box(space: Space, keys: Keys) -> NDArray[Any]:
    dtype = np.dtype(space.dtype)
    bounds_low, bounds_high = np.asarray(space.low).reshape(-1), np.asarray(space.high).reshape(-1)
    low, high = bounds_low.astype(np.float64), bounds_high.astype(np.float64)
    u, v = _uniforms(keys, low.size), _uniforms(keys, low.size, stream=1)
    has_low, has_high = np.isfinite(low), np.isfinite(high)
    low, high = np.where(has_low, low, 0.0), np.where(has_high, high, 0.0)
    above = 1.0 if dtype.kind in "iub" else 0.0  # integers include their upper bound
    exponential = -np.log1p(-u)
    # The normal is Box and Muller's, from two uniforms; a weighted mean avoids overflow of high - low.
    normal = np.sqrt(2.0 * exponential) * np.cos(2.0 * np.pi * v)
    half = np.where(has_low, low + exponential, np.where(has_high, high - exponential, normal))
    drawn = np.where(has_low & has_high, low * (1.0 - u) + (high + above) * u, half)
    if above:
        drawn = np.floor(drawn)
    # Clipping before the cast keeps integers from wrapping, after it floats from rounding over a bound.
    drawn = np.clip(drawn, bounds_low.astype(np.float64), bounds_high.astype(np.float64)).astype(dtype)
    return np.clip(drawn, bounds_low, bounds_high).reshape(len(keys), *space.shape)


def _text(space: Space, key: Keys) -> str:
    length = _integer(key, space.min_length, space.max_length)
    picks = (_uniforms(key, length, stream=1)[0] * len(space.charset)).astype(np.int64)
    return "".join(space.charset[i] for i in picks)


def _sequence(space: Space, key: Keys) -> Any:
    element = space.spaces["element"]
    length = _integer(key, 0, _MOST_ELEMENTS)
    values = _elements(element, key, length, stream=1)
    return values if space.stacked else tuple(take(element, values, i) for i in range(length))


def _oneof(space: Space, key: Keys) -> tuple[np.int64, Any]:
    index = _integer(key, 0, len(space.spaces) - 1)
    child = space.spaces[str(index)]
    return np.int64(index), take(child, sample(child, bits(key, 1)), 0)


def _graph(space: Space, key: Keys) -> GraphInstance:
    nodes = _integer(key, 1, _MOST_ELEMENTS)
    node_values = _elements(space.spaces["node"], key, nodes, stream=1)
    edge = space.spaces.get("edge")
    if edge is None:
        return GraphInstance(node_values, None, None)
    edges = _integer(bits(key, 1), 0, _MOST_ELEMENTS)
    # int32, as Gymnasium samples them.
    links = (_uniforms(key, 2 * edges, stream=2)[0] * nodes).astype(np.int32).reshape(edges, 2)
    return GraphInstance(node_values, _elements(edge, key, edges, stream=3), links)


def _elements(space: Space, key: Keys, count: int, stream: int) -> Any:
    """Draw ``count`` values of ``space``, stacked."""
    if count == 0:
        return stack(space, [])
    return sample(space, bits(key, np.arange(count), stream))


def _integer(key: Keys, low: int, high: int) -> int:
    """Draw a uniform integer from [low, high]."""
    return low + int(uniform(key, 0)[0] * (high - low + 1))


_FIXED: dict[str, Callable[[Space, Keys], NDArray[Any]]] = {
    "Discrete": _discrete,
    "MultiDiscrete": _multi_discrete,
    "MultiBinary": _multi_binary,
    "Box": _box,
}
_ONE_BY_ONE: dict[str, Callable[[Space, Keys], Any]] = {
    "Text": _text,
    "Sequence": _sequence,
    "OneOf": _oneof,
    "Graph": _graph,
}
