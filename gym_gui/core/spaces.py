"""Converts Gymnasium spaces to plain data and back, and encodes values of spaces for sending.

The data form and the value codec are those of the worker SDK (:mod:`mosaic_worker.spaces`,
:mod:`mosaic_worker.codec`), so that both ends of a connection run the same code.

A space that Gymnasium does not define is *custom* (see :func:`to_space`). A value of such a space is sent
as JSON: the result of the space's own ``to_jsonable``, or ``str(value)`` if the space has no such method or
the result is not JSON. An action is converted back with the space's ``from_jsonable``. Within a
``Sequence``, ``Graph`` or ``OneOf``, values of custom spaces are sent as ``str(value)``.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from gym_gui.core.errors import SpaceError
from mosaic_worker.codec import Codec, Column, GraphInstance, NotInSpace, Parts
from mosaic_worker.gymnasium_spaces import build, describe, kind_of
from mosaic_worker.spaces import Space

__all__ = [
    "Codec",
    "Column",
    "GraphInstance",
    "NotInSpace",
    "Parts",
    "Space",
    "SpaceCodec",
    "non_finite_row",
    "sample_legal",
    "short_space",
    "space_to_spec",
    "spec_to_space",
    "to_space",
    "zero_action",
]


def to_space(space: Any) -> Space:
    """Describe a Gymnasium space.

    Raises:
        SpaceError: ``space`` is no Gymnasium space.
    """
    try:
        return describe(space)
    except ValueError as error:
        raise SpaceError(str(error)) from None


def short_space(space: Any) -> str:
    """Return a short text for a space, for people: ``Discrete(8)``, ``Box(3, 3, 4)``, ``Dict of 3``."""
    described = to_space(space)
    if described.kind == "Discrete":
        return f"Discrete({described.n})"
    if described.kind in ("Box", "MultiBinary"):
        return f"{described.kind}({', '.join(map(str, described.shape))})"
    if described.kind in ("Dict", "Tuple"):
        return f"{described.kind} of {len(described.spaces)}"
    return described.name if described.kind == "Custom" else described.kind


def space_to_spec(space: Any) -> dict[str, Any]:
    """Return a Gymnasium space (or a :class:`Space`) as JSON data."""
    return to_space(space).to_json()


def spec_to_space(spec: Mapping[str, Any] | Space) -> Any:
    """Make the Gymnasium space that ``spec`` describes.

    Raises:
        SpaceError: ``spec`` describes a custom space, which only its own class can make.
    """
    described = spec if isinstance(spec, Space) else Space.from_json(spec)
    custom = _custom(described)
    if custom is not None:
        raise SpaceError(f"a custom space ({custom.name}) cannot be rebuilt from its description")
    return build(described)


def _custom(space: Space) -> Space | None:
    """Return a custom space within ``space``, or ``None``."""
    if space.kind == "Custom":
        return space
    return next((found for child in space.spaces.values() if (found := _custom(child))), None)


class SpaceCodec(Codec):
    """Codec for values of a Gymnasium space, including custom spaces; extends the SDK's codec.

    Args:
        space: A Gymnasium space or a :class:`Space`.
    """

    def __init__(self, space: Any) -> None:
        super().__init__(to_space(space), _gymnasium_graph)
        own = [(j, leaf) for j, leaf in enumerate(_leaves(space)) if _defines_json(leaf)]
        for j, leaf in own:
            self._encoders[j] = _json_encoder(leaf, self._encoders[j])
            self._decoders[j] = _json_decoder(leaf, self._decoders[j])
        if own:
            self.encode = self._make_encode()


def _leaves(space: Any) -> Iterator[Any]:
    """Yield the leaves of a Gymnasium space in the order of :attr:`Space.leaves`."""
    kind = "" if isinstance(space, Space) else kind_of(space)
    if kind not in ("Dict", "Tuple"):
        yield space
        return
    for child in space.spaces.values() if kind == "Dict" else space.spaces:
        yield from _leaves(child)


def _defines_json(space: Any) -> bool:
    """Return whether a custom space defines ``to_jsonable`` itself; inherited ones are for other values."""
    if isinstance(space, Space) or kind_of(space) != "Custom":
        return False
    own = itertools.takewhile(
        lambda cls: not cls.__module__.startswith("gymnasium.spaces"), type(space).__mro__
    )
    return any("to_jsonable" in vars(cls) for cls in own)


def _json_encoder(space: Any, encode: Callable[[Any], bytes]) -> Callable[[Any], bytes]:
    def said(value: Any) -> bytes:
        try:
            data: Any = value if isinstance(value, str) else space.to_jsonable([value])[0]
        except Exception as exc:  # the border to a person's own space
            raise NotInSpace(
                f"{type(space).__name__} cannot convert a value of type {type(value).__name__}: {exc}"
            ) from exc
        return encode(data)

    return said


def _json_decoder(space: Any, decode: Callable[[bytes], Any]) -> Callable[[bytes], Any]:
    def heard(data: bytes) -> Any:
        value = decode(data)
        try:
            return space.from_jsonable([value])[0]
        except Exception as exc:  # the border to a person's own space
            raise NotInSpace(f"{type(space).__name__} cannot read {value!r:.60}: {exc}") from exc

    return heard


def _gymnasium_graph(nodes: Any, edges: Any, edge_links: Any) -> Any:
    from gymnasium.spaces import GraphInstance as Graph

    return Graph(nodes, edges, edge_links)


def non_finite_row(codec: Codec, rows: Sequence[Parts]) -> int | None:
    """Return the index of the first encoded value that contains NaN, or ``None``.

    Infinities are allowed, because a ``Box`` may be unbounded, but no space contains NaN.
    """
    for j, dtype in codec.float_leaves:
        flat = np.frombuffer(rows[0][j] if len(rows) == 1 else b"".join([row[j] for row in rows]), dtype)
        # The minimum is NaN if and only if a value is, and costs less than a check of each value.
        if flat.size and (least := np.minimum.reduce(flat)) != least:
            return int(np.flatnonzero(np.isnan(flat))[0]) // max(1, flat.size // len(rows))
    return None


def zero_action(space: Space) -> Any:
    """Return the action that counts as "do nothing" if an environment has no no-op of its own.

    This is zero (or the nearest bound) for arrays, the lowest value for discrete spaces, and recursively so
    for containers.
    """
    if space.kind == "Discrete":
        return space.start
    if space.kind == "Box":
        return np.asarray(np.clip(np.zeros(space.shape, space.dtype), space.low, space.high)).astype(
            np.dtype(space.dtype)
        )
    if space.kind == "MultiDiscrete":
        return np.asarray(space.starts).astype(np.dtype(space.dtype))
    if space.kind == "MultiBinary":
        return np.zeros(space.shape, space.dtype)
    if space.kind == "Dict":
        return {key: zero_action(child) for key, child in space.spaces.items()}
    if space.kind == "Tuple":
        return tuple(zero_action(child) for child in space.spaces.values())
    if space.kind == "OneOf":
        return np.int64(0), zero_action(space.spaces["0"])
    return "" if space.kind == "Text" else ()


def sample_legal(space: Space, mask: Any, seed: int) -> Any:
    """Draw a legal action uniformly, the same action for the same ``seed``.

    Args:
        space: The slot's action space.
        mask: Action mask of the slot, or ``None``.
        seed: Any 64-bit number; callers derive it from (policy seed, step).
    """
    if space.kind == "Discrete" and mask is not None:
        legal = np.flatnonzero(mask)
        return int(legal[seed % len(legal)]) + space.start if len(legal) else space.start
    if space.kind == "Discrete":
        return space.start + seed % space.n
    gym_space = spec_to_space(space)
    gym_space.seed(seed % 2**32)
    if space.kind == "MultiDiscrete" and mask is not None:
        ends = np.cumsum(np.asarray(space.nvec).ravel())[:-1]
        return gym_space.sample(mask=tuple(np.split(np.asarray(mask, np.int8), ends)))
    return gym_space.sample()
