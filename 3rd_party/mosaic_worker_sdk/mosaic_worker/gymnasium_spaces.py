"""Converts Gymnasium spaces to the SDK's space descriptions and back.

Gymnasium is imported only when a space is built.
"""

# Gymnasium's spaces are typed only in part.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections import OrderedDict
from typing import Any, Dict, Union

import numpy as np

from mosaic_worker.spaces import Space

_ARRAYS = ("Box", "Discrete", "MultiDiscrete", "MultiBinary")
_LIBRARIES = ("gymnasium.spaces", "gym.spaces")
"""Modules that define standard spaces: those of Gymnasium and of its predecessor, Gym."""


def describe(space: Any) -> Space:
    """Describe a Gymnasium space.

    A space class that Gymnasium does not define, or a subclass whose values differ from those of its base
    class, is described as ``Custom``.

    Raises: ValueError: ``space`` is no Gymnasium space.
    """
    if isinstance(space, Space):
        return space
    if not hasattr(space, "contains"):
        raise ValueError(f"{space!r} is no Gymnasium space")
    kind = kind_of(space)
    if kind == "Box":
        return Space(kind, space.dtype, tuple(space.shape), space.low, space.high)
    if kind == "Discrete":
        return Space(kind, np.dtype(space.dtype), n=int(space.n), start=int(getattr(space, "start", 0)))
    if kind == "MultiDiscrete":
        start = np.broadcast_to(np.asarray(getattr(space, "start", 0), np.int64), space.nvec.shape)
        nvec = np.asarray(space.nvec, np.int64)
        return Space(kind, np.dtype(space.dtype), tuple(nvec.shape), nvec=nvec, starts=start)
    if kind == "MultiBinary":
        return Space(kind, np.dtype(space.dtype), tuple(space.shape))
    if kind == "Text":
        return Space(
            kind, charset=str(space.characters), min_length=space.min_length, max_length=space.max_length
        )
    return _describe_nested(kind, space)


def kind_of(space: Any) -> str:
    """Return the name of the Gymnasium class that ``space`` is an instance of, or ``"Custom"``.

    A subclass with its own ``contains`` or ``sample`` may have other values than its base class; for example,
    MultiGrid's ``MissionSpace`` derives from ``MultiDiscrete`` and its values are missions.
    """
    for cls in type(space).__mro__:
        if cls.__module__.startswith(_LIBRARIES):
            return cls.__name__ if cls.__name__ != "Space" else "Custom"
        if "contains" in vars(cls) or "sample" in vars(cls):
            return "Custom"
    return "Custom"


def _describe_nested(kind: str, space: Any) -> Space:
    if kind == "Dict":
        return Space(kind, spaces={str(k): describe(s) for k, s in space.spaces.items()})
    if kind in ("Tuple", "OneOf"):
        return Space(kind, spaces={str(i): describe(s) for i, s in enumerate(space.spaces)})
    if kind == "Sequence":
        stacked = bool(getattr(space, "stack", False))
        return Space(kind, spaces={"element": describe(space.feature_space)}, stacked=stacked)
    if kind == "Graph":
        children = {"node": space.node_space, "edge": space.edge_space}
        return Space(kind, spaces={k: describe(s) for k, s in children.items() if s is not None})
    return Space("Custom", name=type(space).__name__)


def build(description: Union[Space, Any]) -> Any:
    """Return the Gymnasium space for a description; return a Gymnasium space unchanged.

    The description of a custom space holds only its name, so the result is a space that contains
    every value.
    """
    if not isinstance(description, Space):
        return description
    children = {key: build(child) for key, child in description.spaces.items()}
    return _build_array(description) if description.kind in _ARRAYS else _build(description, children)


def _build(s: Space, children: Dict[str, Any]) -> Any:
    from gymnasium import spaces

    if s.kind == "Text":
        return spaces.Text(s.max_length, min_length=s.min_length, charset=s.charset)
    if s.kind == "Dict":
        return spaces.Dict(OrderedDict(children))  # a plain dict's keys would be sorted
    if s.kind == "Tuple":
        return spaces.Tuple(tuple(children.values()))
    if s.kind == "OneOf":
        return spaces.OneOf(tuple(children.values()))
    if s.kind == "Sequence":
        return spaces.Sequence(children["element"], stack=s.stacked)
    if s.kind == "Graph":
        return spaces.Graph(children["node"], children.get("edge"))
    return _opaque(s.name)


def _build_array(s: Space) -> Any:
    from gymnasium import spaces

    dtype: Any = s.dtype
    if s.kind == "Box":
        return spaces.Box(np.asarray(s.low), np.asarray(s.high), s.shape, dtype.type)
    if s.kind == "Discrete":
        return _discrete(s, dtype.type)
    if s.kind == "MultiDiscrete":
        return spaces.MultiDiscrete(np.asarray(s.nvec), dtype=dtype.type, start=np.asarray(s.starts))
    return spaces.MultiBinary(s.shape[0] if len(s.shape) == 1 else list(s.shape))


def _discrete(s: Space, element: Any) -> Any:
    from gymnasium import spaces

    if element is np.int64:
        return spaces.Discrete(s.n, start=s.start)
    return spaces.Discrete(s.n, start=s.start, dtype=element)  # not known before Gymnasium 1.1


def _opaque(name: str) -> Any:
    """Return a stand-in for a custom space, with the same name; it contains every value."""
    from gymnasium import spaces

    class Opaque(spaces.Space):  # type: ignore[type-arg]  # generic only in later versions
        def contains(self, x: Any) -> bool:
            return True  # only the environment knows which values belong to its space

        def __repr__(self) -> str:
            return name

    return Opaque(None, None)
