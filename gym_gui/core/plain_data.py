"""Converts values of spaces to plain JSON data, and JSON data back to actions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from gym_gui.core.spaces import Space


def to_plain(value: Any) -> Any:
    """Convert a value to JSON data: arrays to nested lists, non-finite numbers to ``None``."""
    if isinstance(value, (bool, int, str)) or value is None:
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, np.ndarray):
        return to_plain(cast("Any", value).tolist())
    if isinstance(value, np.generic):
        return to_plain(value.item())
    if isinstance(value, Mapping):
        return {str(k): to_plain(v) for k, v in cast("Mapping[Any, Any]", value).items()}
    if isinstance(value, Sequence):
        return [to_plain(v) for v in cast("Sequence[Any]", value)]
    return str(value)


def action_from_plain(space: Space, data: Any) -> Any:
    """Convert JSON data that :func:`to_plain` made of an action back to the action.

    Raises:
        ValueError: ``data`` is not an action of ``space``.
    """
    try:
        return _from_plain(space, data)
    except (ValueError, TypeError, LookupError, OverflowError) as exc:
        raise ValueError(f"{data!r:.100} is not an action of a {space.kind} space") from exc


def _from_plain(space: Space, data: Any) -> Any:
    if space.kind == "Discrete":
        if type(data) is not int:
            raise TypeError("no whole number")
        return np.dtype(space.dtype).type(data)
    if space.fixed:
        return np.asarray(data, space.dtype).reshape(space.shape)
    if space.kind == "Dict":
        return {key: _from_plain(child, data[key]) for key, child in space.spaces.items()}
    if space.kind == "Tuple":
        return tuple(_from_plain(child, data[i]) for i, child in enumerate(space.spaces.values()))
    if space.kind == "OneOf":
        return np.int64(data[0]), _from_plain(space.spaces[str(data[0])], data[1])
    if space.kind == "Sequence":
        element = space.spaces["element"]
        return _stack(element, data) if space.stacked else tuple(_from_plain(element, item) for item in data)
    if space.kind == "Graph":
        return _graph(space, *data)
    return data


def _stack(space: Space, data: Any) -> Any:
    """Convert a list of JSON values of one space to stacked arrays."""
    if space.kind == "Dict":
        return {key: _stack(child, data[key]) for key, child in space.spaces.items()}
    if space.kind == "Tuple":
        return tuple(_stack(child, data[i]) for i, child in enumerate(space.spaces.values()))
    if space.fixed:
        return np.asarray(data, space.dtype).reshape((len(data), *space.shape))
    return tuple(_from_plain(space, item) for item in data)


def _graph(space: Space, nodes: Any, edges: Any, links: Any) -> Any:
    from gymnasium.spaces import GraphInstance

    return GraphInstance(
        _stack(space.spaces["node"], nodes),
        None if edges is None else _stack(space.spaces["edge"], edges),
        None if links is None else np.asarray(links, np.int32).reshape(len(links), 2),
    )
