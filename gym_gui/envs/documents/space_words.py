"""Spaces in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, cast

import numpy as np

_PICTURE = 32
"""Bytes on fewer rows or columns than this are codes of cells, not pixels."""


def in_words(space: Any) -> str:
    """What a value of the space is, for people: ``one of 5``, ``4 numbers``, ``picture 96 x 96``."""
    kind: str = type(space).__name__
    if kind == "Discrete":
        return f"one of {int(space.n)}"
    if kind == "Box":
        return _box(space)
    if kind == "MultiBinary":
        shape: tuple[int, ...] = space.shape
        return f"{prod(shape)} switches"
    if kind == "MultiDiscrete":
        choices: list[int] = np.ravel(space.nvec).tolist()
        return (
            f"{len(choices)} choices (of {', '.join(map(str, choices))})"
            if len(choices) <= 8
            else (f"{len(choices)} choices (of up to {max(choices)})")
        )
    if kind in ("Text", "MissionSpace"):
        return "text"
    children: Any = getattr(space, "spaces", None)
    if isinstance(children, Mapping):
        named = cast("Mapping[Any, Any]", children)
        return "; ".join(f"{name}: {in_words(part)}" for name, part in named.items()) or "nothing"
    if isinstance(children, (list, tuple)):
        return "; ".join(in_words(part) for part in cast("Sequence[Any]", children)) or "nothing"
    if kind == "Sequence":
        return f"any number of: {in_words(space.feature_space)}"
    return kind


def _box(space: Any) -> str:
    shape: tuple[int, ...] = space.shape
    whole = np.issubdtype(space.dtype, np.integer) or np.issubdtype(space.dtype, np.bool_)
    low, high = float(np.min(space.low)), float(np.max(space.high))
    if len(shape) == 3 and min(shape[:2]) >= _PICTURE and (low, high) == (0.0, 255.0):
        return f"picture {shape[1]} x {shape[0]}"
    what = "whole numbers" if whole else "numbers"
    size = "one number" if not shape or shape == (1,) else f"{' x '.join(map(str, shape))} {what}"
    return f"{size} from {low:g} to {high:g}" if _is_bounded(low, high, space.dtype) else size


def _is_bounded(low: float, high: float, dtype: Any) -> bool:
    """Whether the bounds say something: infinity, and the ends of a type that has no other, do not."""
    if np.issubdtype(dtype, np.bool_):
        return True
    ends = np.finfo(dtype) if np.issubdtype(dtype, np.floating) else np.iinfo(dtype)
    widest = ends.bits > 8 and (low <= float(ends.min) or high >= float(ends.max))
    return bool(np.isfinite(low) and np.isfinite(high)) and not widest
