"""Observation and action spaces as plain data, without Gymnasium.

A space is sent as JSON (:meth:`Space.to_json`), a value as one ``bytes`` per *leaf*
(:mod:`mosaic_worker.codec`). ``Dict`` and ``Tuple`` spaces are split into their leaves; every
other space is one leaf.
"""

from __future__ import annotations

import functools
import math
import reprlib
from dataclasses import dataclass, field
from typing import Any, Dict, Iterator, List, Mapping, Optional, Tuple, cast

import numpy as np
from numpy.typing import NDArray

from mosaic_worker.limits import LARGEST_SPACE, MOST_SPACES, Budget, dtype_of, shape_of, size_of

FIXED = ("Box", "Discrete", "MultiDiscrete", "MultiBinary")
"""Kinds whose values all have the same shape and dtype, so that values can be stacked in one array."""
KINDS = (*FIXED, "Text", "Dict", "Tuple", "Sequence", "Graph", "OneOf", "Custom")


@dataclass(frozen=True, eq=False)
class Space:
    """A space as in Gymnasium, as plain data.

    Attributes:
        kind: One of :data:`KINDS`; the Gymnasium class name, ``Custom`` for any other class.
        dtype: Element type of ``FIXED`` kinds.
        shape: Array shape of ``FIXED`` kinds; ``()`` for ``Discrete``.
        low: Lower bounds of a ``Box``, an array of ``shape``.
        high: Upper bounds of a ``Box``, of its shape.
        n: Number of values of a ``Discrete``.
        start: Smallest value of a ``Discrete``.
        nvec: Number of values of each component of a ``MultiDiscrete``.
        starts: Smallest value of each component of a ``MultiDiscrete``.
        spaces: Children of ``Dict``, ``Tuple`` and ``OneOf`` by key (``"0"``, ``"1"``, … for the
            latter two); of ``Sequence`` under ``"element"``; of ``Graph`` under ``"node"`` and ``"edge"``.
        stacked: Whether the values of a ``Sequence`` are stacked arrays instead of tuples.
        charset: Characters of a ``Text``.
        min_length: Smallest length of a ``Text``.
        max_length: Largest length of a ``Text``.
        name: Class name of a ``Custom`` space.
    """

    kind: str
    dtype: Optional[np.dtype[Any]] = None
    shape: Tuple[int, ...] = ()
    low: Optional[NDArray[Any]] = field(default=None, repr=False)
    high: Optional[NDArray[Any]] = field(default=None, repr=False)
    n: int = 0
    start: int = 0
    nvec: Optional[NDArray[np.int64]] = None
    starts: Optional[NDArray[np.int64]] = None
    spaces: Mapping[str, Space] = field(default_factory=lambda: _no_children())
    stacked: bool = False
    charset: str = ""
    min_length: int = 0
    max_length: int = 0
    name: str = ""

    @property
    def fixed(self) -> bool:
        """Whether all values share one shape and dtype."""
        return self.kind in FIXED

    @functools.cached_property
    def leaves(self) -> Tuple[Tuple[str, Space], ...]:
        """Pairs of path and space of every leaf, in wire order; the path of a single leaf is ``""``."""
        return tuple(_leaves(self, ""))

    def to_json(self) -> Dict[str, Any]:
        """Return plain data from which :meth:`from_json` makes an equal space."""
        return _to_json(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Space:
        """Make a space from the data that :meth:`to_json` returns.

        Raises:
            ValueError: ``data`` does not describe a space, or the values of the space are too large.
        """
        try:
            return _from_json(data, _Budgets())
        except (KeyError, TypeError, OverflowError, RecursionError, MemoryError) as exc:
            raise ValueError(f"not a space description ({exc}): {reprlib.repr(data):.200}") from exc

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Space) and self.to_json() == other.to_json()

    __hash__ = None  # type: ignore[assignment]


def _leaves(space: Space, path: str) -> Iterator[Tuple[str, Space]]:
    if space.kind not in ("Dict", "Tuple"):
        yield path, space
        return
    for key, child in space.spaces.items():
        yield from _leaves(child, f"{path}.{key}" if path else key)


def _bound(values: Optional[NDArray[Any]]) -> Any:
    """Return bounds as a scalar if all are equal, else as a nested list; infinities become strings."""
    array = np.asarray(values)
    if not array.size:
        return 0
    if (array == array.flat[0]).all():
        return _without_infinity(array.flat[0].item())
    return _without_infinities(array.tolist())


def _without_infinities(values: Any) -> Any:
    return (
        [_without_infinities(v) for v in cast("List[Any]", values)]
        if isinstance(values, list)
        else _without_infinity(values)
    )


def _without_infinity(value: Any) -> Any:
    if isinstance(value, float) and math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return value


def _unword(value: Any) -> Any:
    if isinstance(value, list):
        return [_unword(v) for v in cast("List[Any]", value)]
    return _INFINITIES.get(value, value) if isinstance(value, str) else value


_INFINITIES = {"Infinity": math.inf, "-Infinity": -math.inf}


def _no_children() -> Mapping[str, Space]:
    return {}


def _to_json(s: Space) -> Dict[str, Any]:
    out: Dict[str, Any] = {"kind": s.kind}
    if s.fixed:
        out["dtype"] = str(s.dtype)
    if s.kind in ("Box", "MultiBinary"):
        out["shape"] = list(s.shape)
    if s.kind == "Box":
        out["low"], out["high"] = _bound(s.low), _bound(s.high)
    elif s.kind == "Discrete":
        out["n"], out["start"] = s.n, s.start
    elif s.kind == "MultiDiscrete":
        out["nvec"] = np.asarray(s.nvec).tolist()
        out["start"] = np.asarray(s.starts).tolist()
    elif s.kind == "Text":
        out.update(charset=s.charset, min_length=s.min_length, max_length=s.max_length)
    elif s.kind == "Sequence":
        out.update(element=_to_json(s.spaces["element"]), stacked=s.stacked)
    elif s.kind == "Graph":
        edge = s.spaces.get("edge")
        out.update(node=_to_json(s.spaces["node"]), edge=None if edge is None else _to_json(edge))
    elif s.kind == "Dict":
        out["spaces"] = [[key, _to_json(child)] for key, child in s.spaces.items()]
    elif s.kind in ("Tuple", "OneOf"):
        out["spaces"] = [_to_json(child) for child in s.spaces.values()]
    elif s.kind == "Custom":
        out["name"] = s.name
    return out


class _Budgets:
    """Budgets for reading one description: bytes of a value of the space, and number of its nested spaces."""

    def __init__(self) -> None:
        self.size = Budget(LARGEST_SPACE, "the bytes of its values are")
        self.count = Budget(MOST_SPACES, "its spaces are")


def _from_json(d: Mapping[str, Any], budgets: _Budgets) -> Space:
    kind = d["kind"]
    if kind not in KINDS:
        raise ValueError(f"unknown space kind {kind!r:.60}")
    budgets.count.take(1)
    dtype = dtype_of(d["dtype"]) if kind in FIXED else None
    shape = tuple(shape_of(d["shape"])) if kind in ("Box", "MultiBinary") else ()
    if dtype is not None:
        budgets.size.take(size_of(shape, dtype))
    if kind == "Box":
        low, high = (np.broadcast_to(np.asarray(_unword(d[k]), dtype), shape) for k in ("low", "high"))
        return Space(kind, dtype, shape, low, high)
    if kind == "Discrete":
        return Space(kind, dtype, n=int(d["n"]), start=int(d["start"]))
    if kind == "MultiDiscrete":
        nvec = np.asarray(d["nvec"], np.int64)
        budgets.size.take(nvec.nbytes)
        return Space(kind, dtype, nvec.shape, nvec=nvec, starts=np.asarray(d["start"], np.int64))
    if kind == "MultiBinary":
        return Space(kind, dtype, shape)
    if kind == "Text":
        return Space(kind, charset=d["charset"], min_length=d["min_length"], max_length=d["max_length"])
    if kind == "Sequence":
        return Space(kind, spaces={"element": _from_json(d["element"], budgets)}, stacked=bool(d["stacked"]))
    if kind == "Graph":
        children = {k: _from_json(d[k], budgets) for k in ("node", "edge") if d[k] is not None}
        return Space(kind, spaces=children)
    if kind == "Dict":
        return Space(kind, spaces={key: _from_json(child, budgets) for key, child in d["spaces"]})
    if kind in ("Tuple", "OneOf"):
        return Space(kind, spaces={str(i): _from_json(child, budgets) for i, child in enumerate(d["spaces"])})
    return Space("Custom", name=str(d.get("name", "")))


Stacked = Any
"""N values of one space: an array ``(N, *shape)`` for fixed kinds, a dict of stacked values for
``Dict``, a tuple of stacked values for ``Tuple``, a list of N values for every other kind."""


def take(space: Space, stacked: Stacked, i: int) -> Any:
    """Return the ``i``-th value of a stack."""
    if space.kind == "Dict":
        return {key: take(child, stacked[key], i) for key, child in space.spaces.items()}
    if space.kind == "Tuple":
        return tuple(take(child, stacked[k], i) for k, child in enumerate(space.spaces.values()))
    return stacked[i]


def words_of(space: Space, *, bounds: bool = False) -> str:
    """Return a space as text; ``bounds`` adds the bounds of a ``Box``, also of a nested one."""
    if space.kind == "Discrete":
        return f"Discrete({space.n}{f', start={space.start}' if space.start else ''})"
    if space.kind == "MultiDiscrete" and space.nvec is not None:
        starts = np.zeros(0) if space.starts is None else space.starts
        begin = f", start={starts.tolist()}" if starts.any() else ""
        return f"MultiDiscrete({space.nvec.tolist()}{begin})"
    if space.kind == "Box":
        return f"Box{space.shape}" + (
            f" from {_bound_words(space.low)} to {_bound_words(space.high)}" if bounds else ""
        )
    if space.kind == "MultiBinary":
        return f"MultiBinary{space.shape}"
    if space.kind in ("Dict", "Tuple"):
        parts = (f"{key}: {words_of(part, bounds=bounds)}" for key, part in space.spaces.items())
        return f"{space.kind}({', '.join(parts)})"
    return f"kind {space.kind}"


def _bound_words(values: Any) -> Any:
    array = np.asarray(values, np.float32)
    return array.flat[0].item() if array.size and (array == array.flat[0]).all() else array.tolist()
