"""A scripted list of actions, which is checked against the slot's action space."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast, get_args

import numpy as np
from numpy.typing import NDArray

from mosaic_worker.codec import Codec, NotInSpace
from mosaic_worker.spaces import Space
from mosaic_worker.worker import LoadError, Slot

ScriptEnd = Literal["ask", "noop", "repeat", "error"]
_ENDS: tuple[str, ...] = get_args(ScriptEnd)


@dataclass(frozen=True)
class Script:
    """List of actions that a slot plays in every episode.

    Attributes:
        actions: Actions of the action space, in order.
        end: Behavior after the last action: ``ask`` the person, play ``noop`` actions, ``repeat`` from the
            first, or ``error``.
        noop: The no-op action; ``None`` if the environment has none.
    """

    actions: Sequence[Any]
    end: ScriptEnd
    noop: int | None

    @classmethod
    def read(cls, slot: Slot) -> Script | None:
        """Read the script in the slot's settings; return ``None`` if there is none.

        ``settings["script"]`` is a list of actions: numbers, the environment's own words
        for them (``"left"``), lists for array spaces, mappings for ``Dict`` spaces.
        ``settings["script_end"]`` is one of :data:`ScriptEnd`, ``error`` by default.

        Raises:
            LoadError: The script is no list, an action is outside the action space, ``script_end`` is
                unknown, or it is ``noop`` and the environment has no no-op action.
        """
        end = slot.settings.get("script_end", "error")
        if end not in _ENDS:
            raise LoadError(f"script_end is {end!r}; it must be one of {', '.join(_ENDS)}")
        if "script" not in slot.settings:
            if "script_end" in slot.settings:
                raise LoadError("script_end is set, but there is no script")
            return None
        lines: object = slot.settings["script"]
        if not isinstance(lines, (list, tuple)) or not lines:
            raise LoadError(f"script must be a list of at least one action, not {lines!r:.80}")
        actions = [_action_of(slot, k, line) for k, line in enumerate(cast(Sequence[object], lines))]
        if end == "noop" and slot.noop_action is None:
            raise LoadError(f"script_end is noop, but {slot.env_id!r} has no no-op action")
        return cls(actions, cast(ScriptEnd, end), slot.noop_action)


def _action_of(slot: Slot, index: int, line: object) -> Any:
    """Return the action for one entry of the script."""
    space = slot.action_space
    value: object = line
    if isinstance(line, str) and space.kind == "Discrete":
        words = [word.lower() for word in slot.action_meanings]
        if line.lower() not in words:
            near = difflib.get_close_matches(line.lower(), words, n=1)
            known = f"Did you mean {near[0]!r}?" if near else f"Known words: {', '.join(words) or 'none'}"
            raise LoadError(f"script entry {index}: no action is called {line!r}. {known}")
        value = words.index(line.lower()) + space.start
    reason = why_not(space, value)
    if reason:
        raise LoadError(f"script entry {index}: {line!r:.80} is not in the action space: {reason}")
    codec = Codec(space)
    return codec.decode(codec.encode(value))


def why_not(space: Space, value: object) -> str:
    """Return why ``value`` is no member of ``space``; empty if it is one."""
    if space.kind in ("Dict", "Tuple"):
        return _why_not_parts(space, value)
    try:
        codec = Codec(space)
        inner = codec.decode(codec.encode(value))
    except (NotInSpace, ValueError, TypeError) as exc:
        return str(exc)
    if space.kind == "Discrete" and not space.start <= int(inner) < space.start + space.n:
        return f"it must be from {space.start} to {space.start + space.n - 1}"
    bounds = _bounds(space)
    if bounds is not None and not (np.all(inner >= bounds[0]) and np.all(inner <= bounds[1])):
        return f"it must be from {bounds[0].tolist()} to {bounds[1].tolist()}"
    return ""


def _why_not_parts(space: Space, value: object) -> str:
    keys: list[Any] = list(space.spaces) if space.kind == "Dict" else list(range(len(space.spaces)))
    if isinstance(value, Mapping):
        parts: dict[Any, object] = dict(cast(Mapping[Any, object], value))
    elif isinstance(value, (list, tuple)):
        parts = dict(enumerate(cast(Sequence[object], value)))
    else:
        return f"it must have the parts {keys}"
    if list(parts) != keys and set(parts) != set(keys):
        return f"it must have the parts {keys}"
    reasons = (
        (key, why_not(child, parts[key])) for key, child in zip(keys, space.spaces.values(), strict=True)
    )
    return "; ".join(f"{key}: {reason}" for key, reason in reasons if reason)


def _bounds(space: Space) -> tuple[NDArray[Any], NDArray[Any]] | None:
    if space.kind == "Box":
        return np.asarray(space.low), np.asarray(space.high)
    if space.kind == "MultiDiscrete":
        low = np.asarray(space.starts)
        return low, low + np.asarray(space.nvec) - 1
    if space.kind == "MultiBinary":
        return np.zeros(space.shape), np.ones(space.shape)
    return None
