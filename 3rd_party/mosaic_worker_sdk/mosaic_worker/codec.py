"""Encodes values of a space as bytes and decodes them, exact in dtype and shape.

A value is encoded as one ``bytes`` per leaf of its space:

* fixed kinds: the raw little-endian array (``Discrete``: one integer of its dtype);
* ``Text``: UTF-8;
* ``Custom``: JSON text; a value that JSON cannot represent is sent as ``str(value)``;
* ``Sequence``: a ``u32`` count, then the elements; ``OneOf``: a ``u32`` index, then the value.
  Inside both, a fixed leaf has no prefix and any other leaf is preceded by its ``u32`` size;
* ``Graph``: nodes, edges (a single zero byte if absent) and edge links, each as an array
  preceded by its dtype and shape.

A :class:`Column` holds the bytes of many values of one leaf end to end, and their sizes if the
sizes differ.
"""

from __future__ import annotations

import json
import math
import struct
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Protocol, Sequence, Tuple, cast

import numpy as np
from numpy.typing import NDArray

from mosaic_worker.limits import Budget, dtype_of
from mosaic_worker.spaces import Space, take

Parts = Tuple[bytes, ...]
_U32 = struct.Struct("<I")
MAX_EMPTY = 1 << 16
"""Largest element count of a ``Sequence`` whose elements occupy no bytes; data with a larger count is
damaged.
"""
MOST_ELEMENTS = 1 << 18
"""Largest number of elements of all sequences in one value.

Without this limit, nested sequences could multiply elements that occupy no bytes.
"""


class Column(NamedTuple):
    """Many encoded values of one leaf.

    Attributes:
        data: Bytes of the values, end to end.
        sizes: Size of each value in bytes; empty if the leaf has a fixed size.
    """

    data: bytes
    sizes: Sequence[int] = ()


class AnyColumn(Protocol):
    """A :class:`Column` or the protobuf message ``Column``."""

    @property
    def data(self) -> bytes: ...
    @property
    def sizes(self) -> Sequence[int]: ...


class GraphInstance(NamedTuple):
    """A value of a ``Graph`` space, with the fields of Gymnasium's ``GraphInstance``."""

    nodes: NDArray[Any]
    edges: Optional[NDArray[Any]]
    edge_links: Optional[NDArray[Any]]


class NotInSpace(ValueError):
    """A value does not belong to its space, or bytes do not encode a value of it."""


_STRANGE = (
    *(ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError),
    *(MemoryError, struct.error),
)
"""Exceptions that encoding or decoding may raise for values or bytes of another kind."""


def _little(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return dtype.newbyteorder("<")


def _guarded(encode: Callable[[Any], bytes], space: Space) -> Callable[[Any], bytes]:
    """Return ``encode`` as a function that raises :class:`NotInSpace` if it cannot handle a value."""

    def guarded(value: Any) -> bytes:
        try:
            return encode(value)
        except NotInSpace:
            raise
        except _STRANGE as exc:
            raise NotInSpace(
                f"a {type(value).__name__} is not a value of a {space.kind} space ({exc})"
            ) from exc

    return guarded


def _encode_array(space: Space) -> Callable[[Any], bytes]:
    dtype, shape = _little(np.dtype(space.dtype)), space.shape

    def convert(value: Any) -> bytes:
        array = np.asarray(value)
        if array.shape != shape:
            raise NotInSpace(f"shape {array.shape} where {shape} is needed")
        if array.dtype != dtype and not np.can_cast(array.dtype, dtype, "same_kind"):
            exact = array.astype(dtype)
            if not (exact == array).all():
                raise NotInSpace(f"dtype {array.dtype} where {dtype} is needed")
        return array.astype(dtype, copy=False).tobytes()

    def encode(value: Any) -> bytes:
        if type(value) is np.ndarray and value.dtype == dtype and value.shape == shape:
            return value.tobytes()
        return careful(value)

    careful = _guarded(convert, space)
    return encode


def _encode_discrete(space: Space) -> Callable[[Any], bytes]:
    kind = np.dtype(space.dtype)
    size = kind.itemsize
    signed = kind.kind == "i"

    def encode(value: Any) -> bytes:
        if isinstance(value, (float, str)):
            raise NotInSpace(f"{value!r} where an integer is needed")
        try:
            return int(value).to_bytes(size, "little", signed=signed)
        except (TypeError, ValueError, OverflowError) as exc:
            raise NotInSpace(f"{value!r:.100} where an integer is needed") from exc

    return encode


def _encode_text(value: Any) -> bytes:
    if not isinstance(value, str):
        raise NotInSpace(f"{type(value).__name__} where text is needed")
    return value.encode()


def _encode_custom() -> Callable[[Any], bytes]:
    last: List[Any] = [None, b"null"]

    def encode(value: Any) -> bytes:
        # Keep the last result, because an environment repeats the same mission object at every step.
        if value is not last[0] or isinstance(value, (list, dict)):
            last[:] = [value, dump(value)]
        return last[1]

    dump = _guarded(lambda value: json.dumps(value, default=str).encode(), Space("Custom"))
    return encode


def _encode_sequence(space: Space) -> Callable[[Any], bytes]:
    element = space.spaces["element"]
    codec = Codec(element)

    def encode(value: Any) -> bytes:
        if space.stacked:
            items: Sequence[Any] = [take(element, value, i) for i in range(_length(value))]
        else:
            items = value
        return _U32.pack(len(items)) + b"".join(codec.pack(item) for item in items)

    return encode


def _length(stacked: Any) -> int:
    """Return the number of values in a stack."""
    if isinstance(stacked, dict):
        return _length(next(iter(cast("Dict[str, Any]", stacked).values())))
    return _length(cast("Tuple[Any, ...]", stacked)[0]) if isinstance(stacked, tuple) else len(stacked)


def _pack_array(array: Optional[NDArray[Any]]) -> bytes:
    if array is None:
        return b"\0"
    array = np.asarray(array)
    name = _little(array.dtype).str.encode()
    head = bytes([len(name)]) + name + bytes([array.ndim]) + struct.pack(f"<{array.ndim}I", *array.shape)
    return head + array.astype(_little(array.dtype), copy=False).tobytes()


def _unpack_array(data: memoryview[int], at: int) -> Tuple[Optional[NDArray[Any]], int]:
    size = data[at]
    at += 1
    if size == 0:
        return None, at
    dtype = dtype_of(bytes(data[at : at + size]).decode())
    at += size
    ndim = data[at]
    shape = struct.unpack_from(f"<{ndim}I", data, at + 1)
    at += 1 + 4 * ndim
    count = math.prod(shape)
    if count * dtype.itemsize > len(data) - at or (not count and max(shape, default=0) > len(data)):
        raise NotInSpace(f"an array of shape {shape} in {len(data)} bytes")
    array = np.frombuffer(data, dtype, count, at).reshape(shape).copy() if count else np.zeros(shape, dtype)
    return array, at + count * dtype.itemsize


def _encode_graph(value: Any) -> bytes:
    return b"".join(_pack_array(getattr(value, k)) for k in ("nodes", "edges", "edge_links"))


def _encode_oneof(space: Space) -> Callable[[Any], bytes]:
    codecs = [Codec(child) for child in space.spaces.values()]

    def encode(value: Any) -> bytes:
        index, inner = value
        return _U32.pack(int(index)) + codecs[int(index)].pack(inner)

    return encode


def _encoder(space: Space) -> Callable[[Any], bytes]:
    if space.kind == "Discrete":
        return _encode_discrete(space)
    if space.fixed:
        return _encode_array(space)
    if space.kind == "Text":
        return _encode_text
    if space.kind == "Sequence":
        return _guarded(_encode_sequence(space), space)
    if space.kind == "Graph":
        return _guarded(_encode_graph, space)
    if space.kind == "OneOf":
        return _guarded(_encode_oneof(space), space)
    return _encode_custom()


def _decoder(space: Space, graph: Callable[..., Any], elements: List[Budget]) -> Callable[[bytes], Any]:
    if space.kind == "Discrete":
        scalar = np.dtype(space.dtype).type
        signed = np.dtype(space.dtype).kind == "i"
        return lambda data: scalar(int.from_bytes(data, "little", signed=signed))
    if space.fixed:
        dtype, shape = _little(np.dtype(space.dtype)), space.shape
        return lambda data: np.frombuffer(bytearray(data), dtype).reshape(shape)
    if space.kind == "Text":
        return lambda data: bytes(data).decode()
    if space.kind == "Custom":
        return lambda data: json.loads(bytes(data))
    return _nested_decoder(space, graph, elements)


def _nested_decoder(
    space: Space, graph: Callable[..., Any], elements: List[Budget]
) -> Callable[[bytes], Any]:
    if space.kind == "Graph":

        def arrays(data: bytes) -> Any:
            view, at = memoryview(data), 0
            found: List[Any] = []
            for _ in range(3):
                array, at = _unpack_array(view, at)
                found.append(array)
            _check_end(at, data)
            return graph(*found)

        return arrays
    codecs: List[Codec] = [Codec(child, graph, elements) for child in space.spaces.values()]
    if space.kind == "OneOf":

        def oneof(data: bytes) -> Any:
            index: int = _U32.unpack_from(data)[0]
            value, at = codecs[index].unpack(memoryview(data), 4)
            _check_end(at, data)
            return np.int64(index), value

        return oneof
    element = codecs[0]

    def sequence(data: bytes) -> Any:
        view, (count,), at = memoryview(data), _U32.unpack_from(data), 4
        if count > max(len(data), MAX_EMPTY):
            raise NotInSpace(f"{count} elements in {len(data)} bytes")
        elements[0].take(count)
        items: List[Any] = []
        for _ in range(count):
            item, at = element.unpack(view, at)
            items.append(item)
        _check_end(at, data)
        return stack(element.space, items) if space.stacked else tuple(items)

    return sequence


def _elements() -> Budget:
    return Budget(MOST_ELEMENTS, "its elements are")


def _check_end(at: int, data: bytes) -> None:
    if at != len(data):
        raise NotInSpace(f"{len(data)} bytes where {at} are needed")


def stack(space: Space, values: Sequence[Any]) -> Any:
    """Stack single values; see :data:`mosaic_worker.spaces.Stacked`."""
    if space.kind == "Dict":
        return {k: stack(child, [v[k] for v in values]) for k, child in space.spaces.items()}
    if space.kind == "Tuple":
        return tuple(stack(child, [v[i] for v in values]) for i, child in enumerate(space.spaces.values()))
    if space.fixed:
        return np.asarray(values, space.dtype).reshape((len(values), *space.shape))
    return list(values)


class Codec:
    """Encoder and decoder for one space.

    Attributes:
        encode: Function that returns one ``bytes`` per leaf of a value. It is an attribute and not
            a method because it runs once per decision and is composed for the space.

    Args:
        space: Space of the values.
        graph: Makes a ``Graph`` value from (nodes, edges, edge_links).
        elements: Budget of elements that the enclosing value still has; by default, each decoded value
            has a budget of its own.

    Raises:
        ValueError: (from its methods) a value does not belong to the space, or bytes do not
            encode a value of the space.
    """

    def __init__(
        self,
        space: Space,
        graph: Callable[..., Any] = GraphInstance,
        elements: Optional[List[Budget]] = None,
    ) -> None:
        self.space = space
        self._own = elements is None
        self._elements = elements or [_elements()]
        self.leaves = space.leaves
        self._encoders = [_encoder(leaf) for _, leaf in self.leaves]
        self._decoders = [_decoder(leaf, graph, self._elements) for _, leaf in self.leaves]
        self._sizes = [_nbytes(leaf) for _, leaf in self.leaves]
        self.float_leaves = [
            (j, np.dtype(leaf.dtype))
            for j, (_, leaf) in enumerate(self.leaves)
            if leaf.fixed and np.dtype(leaf.dtype).kind == "f"
        ]
        self.encode: Callable[[Any], Parts] = self._make_encode()

    @property
    def size_hint(self) -> int:
        """Total size in bytes of the fixed-size leaves of one value."""
        return sum(size for size in self._sizes if size is not None)

    def _make_encode(self) -> Callable[[Any], Parts]:
        space = self.space
        if space.kind not in ("Dict", "Tuple"):
            lone = self._encoders[0]
            return lambda value: (lone(value),)
        children = list(space.spaces.items())
        if space.kind == "Dict" and not any(child.kind in ("Dict", "Tuple") for _, child in children):
            return _flat_dict_encoder([key for key, _ in children], self._encoders)

        def encode(value: Any) -> Parts:
            out: List[bytes] = []
            self._walk(space, value, "", iter(self._encoders), out)
            return tuple(out)

        return encode

    def _walk(self, space: Space, value: Any, path: str, encoders: Any, out: List[bytes]) -> None:
        is_dict = space.kind == "Dict"
        for i, (key, child) in enumerate(space.spaces.items()):
            try:
                inner = value[key if is_dict else i]
            except (KeyError, IndexError, TypeError) as exc:
                raise NotInSpace(f"{path + key} is missing in a {type(value).__name__}") from exc
            if child.kind in ("Dict", "Tuple"):
                self._walk(child, inner, path + key + ".", encoders, out)
            else:
                out.append(next(encoders)(inner))

    def decode(self, parts: Sequence[bytes]) -> Any:
        """Return the value that :meth:`encode` encoded as ``parts``."""
        if len(parts) != len(self.leaves):
            raise NotInSpace(f"{len(parts)} parts where {len(self.leaves)} are needed")
        for part, size in zip(parts, self._sizes):
            if size is not None and len(part) != size:
                raise NotInSpace(f"{len(part)} bytes where {size} are needed")
        if self._own:
            self._elements[0] = _elements()
        try:
            values = iter([decode(part) for decode, part in zip(self._decoders, parts)])
        except NotInSpace:
            raise
        except _STRANGE as exc:
            raise NotInSpace(f"bytes that are no value of a {self.space.kind} space ({exc})") from exc
        return _build(self.space, values)

    def join(self, rows: Sequence[Parts]) -> List[Column]:
        """Join encoded values into one column per leaf."""
        columns: List[Column] = []
        for j, size in enumerate(self._sizes):
            parts = [row[j] for row in rows]
            columns.append(Column(b"".join(parts), () if size is not None else [len(p) for p in parts]))
        return columns

    def split(self, columns: Sequence[AnyColumn], count: int) -> List[Parts]:
        """Split columns into encoded values, the inverse of :meth:`join`."""
        cuts = [self._cut(j, column, count) for j, column in enumerate(self._check(columns, count))]
        return list(zip(*cuts)) if cuts else [()] * count

    def unstack(self, columns: Sequence[AnyColumn], count: int) -> List[Any]:
        """Decode ``count`` single values from columns."""
        if self.space.kind == "Discrete":
            column = self._check(columns, count)[0]
            return list(np.frombuffer(column.data, _little(np.dtype(self.space.dtype))))
        return [self.decode(parts) for parts in self.split(columns, count)]

    def stacked(self, columns: Sequence[AnyColumn], count: int) -> Any:
        """Decode ``count`` values from columns as a stack; its arrays are writable copies."""
        values: List[Any] = []
        for j, column in enumerate(self._check(columns, count)):
            leaf = self.leaves[j][1]
            if leaf.fixed:
                flat = np.frombuffer(bytearray(column.data), _little(np.dtype(leaf.dtype)))
                values.append(flat.reshape((count, *leaf.shape)))
            else:
                values.append([self._decoders[j](part) for part in self._cut(j, column, count)])
        return _build(self.space, iter(values))

    def columns(self, values: Any, count: int) -> List[Column]:
        """Encode ``count`` values as columns.

        The values are stacked (see :data:`~mosaic_worker.spaces.Stacked`) or in a list.
        """
        space = self.space
        if space.fixed and not isinstance(values, list):
            array = np.asarray(values)
            wanted = (count, *space.shape)
            if array.shape != wanted:
                raise NotInSpace(f"shape {array.shape} where {wanted} is needed")
            if space.kind == "Discrete" and array.dtype.kind not in "iu":
                raise NotInSpace(f"dtype {array.dtype} where integers are needed")
            return [Column(array.astype(_little(np.dtype(space.dtype)), copy=False).tobytes())]
        if space.kind in ("Dict", "Tuple") and not isinstance(values, list):
            values = [take(space, values, i) for i in range(count)]
        items = cast("Sequence[Any]", values)
        if len(items) != count:
            raise NotInSpace(f"{len(items)} actions for {count} decisions")
        return self.join([self.encode(item) for item in items])

    def pack(self, value: Any) -> bytes:
        """Encode a value as a single ``bytes``, in the format of elements of ``Sequence`` and ``OneOf``."""
        parts = self.encode(value)
        sized = zip(parts, self._sizes)
        return b"".join(p if size is not None else _U32.pack(len(p)) + p for p, size in sized)

    def unpack(self, data: memoryview[int], at: int) -> Tuple[Any, int]:
        """Decode a packed value at offset ``at``; return the value and the offset after it."""
        parts: List[bytes] = []
        for size in self._sizes:
            if size is None:
                (size,) = _U32.unpack_from(data, at)
                at += 4
            parts.append(bytes(data[at : at + size]))
            at += size
        return self.decode(parts), at

    def _check(self, columns: Sequence[AnyColumn], count: int) -> Sequence[AnyColumn]:
        if len(columns) != len(self.leaves):
            raise NotInSpace(f"{len(columns)} columns where {len(self.leaves)} are needed")
        for column, size in zip(columns, self._sizes):
            total = sum(column.sizes) if size is None else size * count
            if len(column.data) != total or (size is None and len(column.sizes) != count):
                raise NotInSpace(f"{len(column.data)} bytes where {total} are needed")
        return columns

    def _cut(self, j: int, column: AnyColumn, count: int) -> List[bytes]:
        size, data, at = self._sizes[j], column.data, 0
        parts: List[bytes] = []
        for k in range(count):
            end = at + (column.sizes[k] if size is None else size)
            parts.append(data[at:end])
            at = end
        return parts


def _flat_dict_encoder(
    keys: Sequence[str], encoders: Sequence[Callable[[Any], bytes]]
) -> Callable[[Any], Parts]:
    pairs = list(zip(keys, encoders))

    def encode(value: Any) -> Parts:
        try:
            return tuple([encoder(value[key]) for key, encoder in pairs])
        except (LookupError, TypeError) as exc:
            if not isinstance(value, dict):
                raise NotInSpace(f"{type(value).__name__} where a dict is needed") from exc
            missing = [key for key in keys if key not in cast("Dict[str, Any]", value)]
            if not missing:
                raise
            raise NotInSpace(f"{missing[0]!r} is missing") from exc

    return encode


def _nbytes(leaf: Space) -> Optional[int]:
    if not leaf.fixed:
        return None
    return int(np.prod(leaf.shape, dtype=np.int64)) * np.dtype(leaf.dtype).itemsize


def _build(space: Space, leaves: Any) -> Any:
    if space.kind == "Dict":
        return {key: _build(child, leaves) for key, child in space.spaces.items()}
    if space.kind == "Tuple":
        return tuple(_build(child, leaves) for child in space.spaces.values())
    return next(leaves)
