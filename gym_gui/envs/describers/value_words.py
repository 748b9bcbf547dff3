"""Expresses values of any space as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gym_gui.core.spaces import Space

MOST_NUMBERS = 256
"""Largest number of array entries that are written one by one. A larger array is summarized."""
_IN_A_LINE = 64
_NAMED = 12
"""Largest number of components of an unnamed vector that have a line each."""
_MOST_ITEMS = 24
_ROW = 16
_NOTHING = "(nothing)"
_NOISE = 1e-9
_UNBOUNDED = 1e30
"""Bounds beyond this count as missing, because packages write the largest float for infinity."""


def is_picture(space: Space) -> bool:
    """Return whether the values of a space are pictures, which text cannot describe."""
    if space.kind != "Box" or space.dtype != np.dtype(np.uint8) or not 2 <= len(space.shape) <= 4:
        return False
    return sorted(space.shape)[-2] >= 24  # colors may come first or last, and frames may be stacked


def is_memory(space: Space) -> bool:
    """Return whether the values of a space are a machine's memory, such as the 128 bytes of an Atari 2600."""
    return (
        space.kind == "Box"
        and space.dtype == np.dtype(np.uint8)
        and len(space.shape) == 1
        and _IN_A_LINE < space.shape[0] <= MOST_NUMBERS
    )


def has_text(space: Space) -> bool:
    """Return whether text can contain a whole value of a space without parts, instead of a summary."""
    many = int(np.prod(space.shape)) if space.shape else 1
    return space.kind not in ("Box", "MultiDiscrete", "MultiBinary") or (
        many <= MOST_NUMBERS and not is_picture(space)
    )


def value_text(space: Space, value: Any, names: Sequence[str] = ()) -> str:
    """Return a value of ``space`` as text, with a line for each part.

    Args:
        space: Space of the value.
        value: Value from the environment.
        names: Names of the components of a vector, or of the values of a ``Discrete``.
    """
    return "\n".join(_lines(space, value, "", names))


def _lines(space: Space, value: Any, label: str, names: Sequence[str] = ()) -> Iterator[str]:
    head = f"{label}: " if label else ""
    if space.kind == "Dict":
        for key, child in space.spaces.items():
            yield from _lines(child, value[key], f"{label}, {key}" if label else key)
    elif space.kind == "Tuple":
        for i, child in enumerate(space.spaces.values()):
            yield from _lines(child, value[i], f"{label}, part {i + 1}" if label else f"part {i + 1}")
    elif space.kind == "OneOf":
        which, inner = int(value[0]), value[1]
        yield from _lines(space.spaces[str(which)], inner, f"{label or 'what is there'} (kind {which + 1})")
    elif space.kind == "Discrete":
        yield head + _discrete(space, int(value), names)
    elif space.kind == "Box":
        yield from _box(space, np.asarray(value), label, names)
    elif space.kind == "MultiBinary":
        yield head + _switches(np.asarray(value).reshape(-1))
    elif space.kind == "MultiDiscrete":
        many = np.asarray(value)
        yield head + (_summed_up(many) if many.size > MOST_NUMBERS else _numbers(many))
    elif space.kind in ("Sequence", "Graph"):
        yield from _collection(space, value, label)
    else:
        yield head + (str(value) or _NOTHING)


def _discrete(space: Space, value: int, names: Sequence[str]) -> str:
    index = value - space.start
    if 0 <= index < len(names):
        return names[index]
    return f"{value} (of {space.start} to {space.start + space.n - 1})"


def _switches(value: NDArray[Any]) -> str:
    on = np.flatnonzero(value)
    if value.size > MOST_NUMBERS:
        return f"{on.size} of {value.size} are on"
    return f"on are {', '.join(map(str, on)) or 'none'} of 0 to {value.size - 1}"


def _box(space: Space, value: NDArray[Any], label: str, names: Sequence[str]) -> Iterator[str]:
    head = f"{label}: " if label else ""
    shape = " x ".join(map(str, value.shape))
    if is_picture(space):
        yield f"{head}a picture of {shape}, which words do not show"
    elif value.size > MOST_NUMBERS:
        yield head + _summed_up(value)
    elif is_memory(space):
        yield f"{head}{value.size} bytes"
        yield from memory(value)
    elif value.ndim <= 1:
        yield from _vector(space, value.reshape(-1), label, names)
    elif value.ndim == 2:
        yield from _table(value, head)
    elif value.ndim == 3 and value.size > _IN_A_LINE:
        for layer in range(value.shape[2]):
            yield from _table(value[:, :, layer], f"{head}layer {layer + 1} of {value.shape[2]}, ")
    else:
        yield f"{head}shape {shape}, entries {_numbers(value.reshape(-1))}"


def _table(value: NDArray[Any], head: str) -> Iterator[str]:
    yield f"{head}a table of {value.shape[0]} rows and {value.shape[1]} columns"
    yield from (f"  {_numbers(row)}" for row in value)


def memory(value: NDArray[Any]) -> Iterator[str]:
    """Yield lines of bytes in hexadecimal, 16 bytes per line after the index of the first."""
    for start in range(0, value.size, _ROW):
        yield f"{start:02X}: {value[start : start + _ROW].tobytes().hex(' ').upper()}"


def _vector(space: Space, value: NDArray[Any], label: str, names: Sequence[str]) -> Iterator[str]:
    head = f"{label}: " if label else ""
    if not value.size or len(names) != value.size:
        if value.size > _NAMED or not value.size:
            yield head + _numbers(value)
            return
        names = (
            [label or "value"]
            if value.size == 1
            else [f"{label} {i}".strip() for i in range(1, value.size + 1)]
        )
    assert space.low is not None
    assert space.high is not None
    lows: list[float] = np.broadcast_to(space.low, space.shape).reshape(-1).tolist()
    highs: list[float] = np.broadcast_to(space.high, space.shape).reshape(-1).tolist()
    for name, each, low, high in zip(names, value.tolist(), lows, highs, strict=True):
        yield f"{name}: {number(each)}{_bounds(low, high)}"


def _bounds(low: float, high: float) -> str:
    said = bounds_of(low, high)
    return f" ({said})" if said else ""


def bounds_of(low: float, high: float) -> str:
    """Return bounds as text: ``between -1 and 1``, ``at least 0``, or ``""`` without bounds."""
    below, above = abs(low) < _UNBOUNDED, abs(high) < _UNBOUNDED
    if below and above:
        return f"between {number(low)} and {number(high)}"
    if below:
        return f"at least {number(low)}"
    return f"at most {number(high)}" if above else ""


def _collection(space: Space, value: Any, label: str) -> Iterator[str]:
    name = label or "items"
    if space.kind == "Graph":
        nodes, edges, links = value.nodes, value.edges, value.edge_links
        pairs: list[list[int]] = [] if links is None else np.asarray(links).tolist()
        yield f"{name}: a graph of {len(nodes)} nodes and {len(pairs)} edges"
        for i, node in enumerate(nodes[:_MOST_ITEMS]):
            yield from _lines(space.spaces["node"], node, f"  node {i}")
        for i, (start, end) in enumerate(pairs[:_MOST_ITEMS]):
            edge = f"  edge from {int(start)} to {int(end)}"
            if edges is None:
                yield edge
            else:
                yield from _lines(space.spaces["edge"], edges[i], edge)
        if (more := max(len(nodes), len(pairs)) - _MOST_ITEMS) > 0:
            yield f"  and up to {more} more"
        return
    items = _unstacked(space.spaces["element"], value) if space.stacked else list(value)
    yield f"{name}: {len(items)} in all"
    for i, item in enumerate(items[:_MOST_ITEMS]):
        yield from _lines(space.spaces["element"], item, f"  {i + 1}")
    if len(items) > _MOST_ITEMS:
        yield f"  and {len(items) - _MOST_ITEMS} more"


def _unstacked(element: Space, value: Any) -> list[Any]:
    """Return the items of a ``Sequence`` value whose containers stack their parts."""
    if element.kind == "Dict":
        parts = {key: _unstacked(child, value[key]) for key, child in element.spaces.items()}
        return [dict(zip(parts, row, strict=True)) for row in zip(*parts.values(), strict=True)]
    if element.kind == "Tuple":
        columns = [_unstacked(child, value[i]) for i, child in enumerate(element.spaces.values())]
        return list(zip(*columns, strict=True))
    return list(value)


def _summed_up(value: NDArray[Any]) -> str:
    shape = " x ".join(map(str, value.shape))
    low, high, mean = number(value.min()), number(value.max()), number(value.mean())
    return f"{value.size} numbers ({shape}) from {low} to {high}, {mean} on average"


def _numbers(values: NDArray[Any]) -> str:
    return ", ".join(map(number, values.reshape(-1).tolist())) or _NOTHING


def number(value: Any) -> str:
    """Return a number as text: ``3``, ``-0.25``, ``1.2e+06``. Numerical noise of a simulator becomes 0."""
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    real = float(value)
    if abs(real) < _NOISE:
        return "0"
    return str(int(real)) if real.is_integer() and abs(real) < 1e15 else f"{real:.3g}"


def action_form(space: Space) -> str:
    """Return a sentence on how to write an action of a space whose actions have no names."""
    kind = space.kind
    if kind == "Discrete":
        last = space.start + space.n - 1
        return f"Your action is a whole number from {space.start} to {last}."
    if kind == "MultiDiscrete":
        assert space.nvec is not None
        assert space.starts is not None
        first, count = space.starts.reshape(-1), space.nvec.reshape(-1)
        ranges = ", ".join(f"{int(a)} to {int(a + n - 1)}" for a, n in zip(first, count, strict=True))
        return f"Your action is a list of {count.size} whole numbers, in the ranges {ranges}."
    if kind == "MultiBinary":
        return f"Your action is a list of {int(np.prod(space.shape))} numbers, each 0 or 1."
    if kind == "Box":
        return _box_form(space)
    if kind == "Text":
        return f"Your action is a text of {space.min_length} to {space.max_length} characters."
    return f"Your action is written as JSON of the form {_shape_of(space)}."


def _box_form(space: Space) -> str:
    assert space.low is not None
    assert space.high is not None
    low, high = np.asarray(space.low).reshape(-1), np.asarray(space.high).reshape(-1)
    size = int(np.prod(space.shape)) if space.shape else 1
    if not low.size:
        return "Your action is the empty list []."
    if (low == low[0]).all() and (high == high[0]).all():
        every = bounds_of(float(low[0]), float(high[0]))
        how = f", {'each ' if size > 1 else ''}{every}" if every else ""
        return f"Your action is a list of {size} number{'s' * (size > 1)}{how}."
    ranges = "; ".join(bounds_of(float(a), float(b)) or "any" for a, b in zip(low, high, strict=True))
    return f"Your action is a list of {size} numbers: {ranges}."


def _shape_of(space: Space) -> str:
    spaces: Mapping[str, Space] = space.spaces
    if space.kind == "Dict":
        return "{" + ", ".join(f'"{key}": {_shape_of(child)}' for key, child in spaces.items()) + "}"
    if space.kind == "Tuple":
        return "[" + ", ".join(_shape_of(child) for child in spaces.values()) + "]"
    if space.kind == "OneOf":
        kinds = " or ".join(f"[{key}, {_shape_of(child)}]" for key, child in spaces.items())
        return f"<one of {kinds}>" if len(spaces) > 1 else kinds
    if space.kind == "Sequence":
        return f"[{_shape_of(space.spaces['element'])}, ...]"
    if space.kind == "Discrete":
        return f"<{space.start} to {space.start + space.n - 1}>"
    if space.kind in ("Graph", "Custom"):
        return f"<{space.kind}>"
    return f"<{action_form(space).removeprefix('Your action is ').rstrip('.')}>"
