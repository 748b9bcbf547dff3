"""Reads values of spaces whose actions have no words: numbers, lists, texts. No value is clipped."""

from __future__ import annotations

import ast
import json
import math
import re
from collections.abc import Sequence
from typing import Any, Final, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from mosaic_llm_worker.parsing.cleaning import short
from mosaic_worker.spaces import Space

READABLE: Final = frozenset({"Box", "Discrete", "MultiDiscrete", "MultiBinary", "Text", "Dict", "Tuple"})
"""Kinds of spaces whose values can be written down and read."""
_NUMBER: Final = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_BARE: Final = re.compile(rf"^\s*{_NUMBER}(?:\s*[,;\s]\s*{_NUMBER})*\s*$")
_LIST: Final = re.compile(r"\[[^\[\]]*(?:\[[^\[\]]*\][^\[\]]*)*\]")


class NotAValue(Exception):
    """Data is no value of the space; the message is a clause for a sentence."""


def readable(space: Space) -> bool:
    """Return whether every component of the space can be written as text and read."""
    return space.kind in READABLE and all(readable(child) for child in space.spaces.values())


def data_of(text: str) -> Any:
    """Parse a value in a text: JSON, a Python list, or numbers side by side.

    Raises:
        NotAValue: The text has none of these forms.
    """
    text = text.strip().strip("`").strip()
    for read in (json.loads, ast.literal_eval):
        try:
            return read(text)
        except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
            continue
    if _BARE.match(text):
        return [float(number) for number in re.findall(_NUMBER, text)]
    raise NotAValue(f'"{short(text)}" is no list of numbers')


class ListInText(NamedTuple):
    """A list in running text: its position, and its values."""

    start: int
    end: int
    value: list[Any]


def lists_in(text: str) -> list[ListInText]:
    """Return the lists of numbers in running text."""
    found: list[ListInText] = []
    for match in _LIST.finditer(text):
        try:
            data: Any = data_of(match[0])
        except NotAValue:
            continue
        if isinstance(data, list) and data:
            found.append(ListInText(match.start(), match.end(), cast("list[Any]", data)))
    return found


def value_of(space: Space, data: Any) -> Any:
    """Convert data to a value of the space.

    Args:
        space: A space for which :func:`readable` is true.
        data: Data as parsed from JSON.

    Raises:
        NotAValue: The data does not fit; the message says where and why.
    """
    if space.kind == "Discrete":
        return int(_integer_between(data, space.start, space.start + space.n - 1))
    if space.kind == "Text":
        return _text(space, data)
    if space.kind == "Dict":
        return _dict(space, data)
    if space.kind == "Tuple":
        parts = list(space.spaces.values())
        given = _list_of(data, len(parts))
        return tuple(value_of(child, part) for child, part in zip(parts, given, strict=True))
    return _array(space, data)


def _dict(space: Space, data: Any) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise NotAValue(f"an object with {_and(list(space.spaces))} is wanted, not {_shown(data)}")
    given = cast("dict[str, Any]", data)
    if missing := [key for key in space.spaces if key not in given]:
        raise NotAValue(f"{_and(missing)} is missing")
    return {key: value_of(child, given[key]) for key, child in space.spaces.items()}


def _text(space: Space, data: Any) -> str:
    text = data if isinstance(data, str) else json.dumps(data)
    if not space.min_length <= len(text) <= space.max_length:
        raise NotAValue(
            f"the text has {len(text)} characters; {space.min_length} to {space.max_length} are wanted"
        )
    if space.charset and (wrong := sorted(set(text) - set(space.charset))):
        raise NotAValue(f"the text must not have {' '.join(map(repr, wrong[:5]))} in it")
    return text


def _array(space: Space, data: Any) -> NDArray[Any]:
    low, high = bounds(space)
    flat = _flat(data)
    if len(flat) != low.size:
        raise NotAValue(f"{low.size} numbers are wanted, not {len(flat)}")
    whole = space.kind != "Box" or np.issubdtype(cast("Any", space.dtype), np.integer)
    largest = math.inf if whole else float(np.finfo(cast("Any", space.dtype)).max)
    for i, (number, least, most) in enumerate(zip(flat, low.reshape(-1), high.reshape(-1), strict=True)):
        where = f"number {i + 1} " if low.size > 1 else ""
        if not abs(number) <= largest or math.isinf(number):
            raise NotAValue(f"{where or 'it '}is {number:g}")
        if whole and number != int(number):
            raise NotAValue(f"{where or 'it '}is {number:g}, no whole number")
        if not least <= number <= most:
            raise NotAValue(f"{where or 'it '}is {number:g}, outside {least:g} to {most:g}")
    value = np.array(flat, np.float64).reshape(low.shape)
    return _inside(value.astype(space.dtype), low, high)


def _inside(value: NDArray[Any], low: NDArray[Any], high: NDArray[Any]) -> NDArray[Any]:
    """Return numbers within the bounds, which the conversion to a coarser dtype may have left by rounding."""
    if np.issubdtype(value.dtype, np.floating):
        return np.clip(value, low.astype(value.dtype), high.astype(value.dtype))
    return value


def bounds(space: Space) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the lower and upper bounds of each entry of an array of the space, both in its shape."""
    if space.kind == "Box":
        return np.asarray(space.low), np.asarray(space.high)
    if space.kind == "MultiBinary":
        return np.zeros(space.shape, np.int64), np.ones(space.shape, np.int64)
    starts = np.asarray(space.starts)
    return starts, starts + np.asarray(space.nvec) - 1


def _flat(data: Any) -> list[float]:
    """Return all numbers of nested lists, in order."""
    if isinstance(data, bool):
        return [float(data)]
    if isinstance(data, int | float):
        try:
            return [float(data)]
        except OverflowError:
            raise NotAValue("a number is too large") from None
    if isinstance(data, list | tuple):
        return [number for part in cast("Sequence[Any]", data) for number in _flat(part)]
    raise NotAValue(f"{_shown(data)} is no number")


def _integer_between(data: Any, low: int, high: int) -> float:
    numbers = _flat(data)
    if len(numbers) != 1:
        raise NotAValue(f"one number is wanted, not {len(numbers)}")
    (number,) = numbers
    if not math.isfinite(number) or number != int(number) or not low <= number <= high:
        raise NotAValue(f"{number:g} is no whole number from {low} to {high}")
    return number


def _list_of(data: Any, size: int) -> Sequence[Any]:
    if not isinstance(data, list | tuple) or len(cast("Sequence[Any]", data)) != size:
        raise NotAValue(f"a list of {size} parts is wanted, not {_shown(data)}")
    return cast("Sequence[Any]", data)


def masked_out(space: Space, value: Any, mask: NDArray[np.bool_]) -> str:
    """Return why a ``MultiDiscrete`` value is not legal now; an empty string if it is legal."""
    if space.kind != "MultiDiscrete":
        return ""
    at = 0
    numbers, first = np.asarray(value).reshape(-1), np.asarray(space.starts).reshape(-1)
    for i, count in enumerate(np.asarray(space.nvec).reshape(-1)):
        legal = np.flatnonzero(mask[at : at + count]) + first[i]
        if numbers[i] not in legal:
            allowed = ", ".join(map(str, legal.tolist()))
            return f"number {i + 1} is {numbers[i]}, which is not legal now; legal are {allowed}"
        at += int(count)
    return ""


def _shown(data: Any) -> str:
    return f'"{short(str(data), 40)}"' if data is not None else "nothing"


def _and(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1]))) if names else ""
