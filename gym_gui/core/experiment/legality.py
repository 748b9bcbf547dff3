"""Checks whether an action may be played, and returns the reason if it may not."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gym_gui.core.config import GOAL_SUFFIX
from gym_gui.core.spaces import Space
from gym_gui.core.types import AgentID, Mask

_MOST_TOLD = 6
"""Largest number of legal actions that a message about an illegal action names."""


@dataclass(frozen=True, slots=True)
class ActionNames:
    """Names of a slot's discrete actions, for messages.

    Attributes:
        words: A word for each action, or empty.
        are_options: Whether the actions are options of a manager, which can start or not.
    """

    words: Sequence[str] = ()
    are_options: bool = False

    @classmethod
    def of(cls, slot: AgentID, words: Sequence[str]) -> ActionNames:
        """Return the names for a slot; the actions of a manager's slot are options."""
        return cls(words, slot.endswith(GOAL_SUFFIX))

    def illegal(self, index: int, number: int, mask: Mask) -> str:
        """Return a message that an action is not legal, with the legal actions.

        Args:
            index: Index of the action in the mask.
            number: Number of the action.
            mask: Mask of the legal actions.
        """
        if not (index < len(self.words) and self.words[index]):
            return f"action {number} is not legal now"
        known = [word for word, legal in zip(self.words, mask, strict=False) if legal and word]
        listed = ", ".join([*known[:_MOST_TOLD], *(["…"] if len(known) > _MOST_TOLD else [])])
        if self.are_options:
            return f"{self.words[index]} cannot start: what can start now is {listed or 'nothing'}"
        return f"{self.words[index]} is not legal now; legal are: {listed}"


_NAMELESS = ActionNames()


def problem_with(space: Space, action: Any, mask: Mask | None = None, names: ActionNames = _NAMELESS) -> str:
    """Return why ``action`` cannot be played, or ``""`` if it can.

    Args:
        space: The slot's action space.
        action: An action with the space's dtype and shape (which the codec ensures), or any object from an
            in-process policy.
        mask: Mask of the legal actions of a ``Discrete`` (or flattened ``MultiDiscrete``) space.
        names: Names of discrete actions.
    """
    kind = space.kind
    if kind == "Discrete":
        return _discrete(space, action, mask, names)
    if kind in ("Dict", "Tuple"):
        return _container(space, action)
    if kind == "Box":
        return _box(space, action)
    if kind == "MultiDiscrete":
        return _multi_discrete(space, action, mask)
    if kind == "MultiBinary":
        array = _array(action)
        if array is None or array.shape != space.shape or not np.isin(array, (0, 1)).all():
            return f"it is no array of zeros and ones of shape {space.shape}"
    if kind == "Text":
        return _text(space, action)
    return ""


def _discrete(space: Space, action: Any, mask: Mask | None, names: ActionNames) -> str:
    try:
        number = operator.index(action)
    except TypeError:
        return f"{_short(action)} is no action number"
    if isinstance(action, (bool, np.bool_)):
        return f"{_short(action)} is no action number"
    index = number - space.start
    if not 0 <= index < space.n:
        return f"action {number} is outside {space.start}..{space.start + space.n - 1}"
    if mask is not None and not mask[index]:
        return names.illegal(index, number, mask)
    return ""


def _box(space: Space, action: Any) -> str:
    array = _array(action, np.float64)
    if array is None:
        return f"{_short(action)} is no array of numbers"
    if array.shape != space.shape:
        return f"its shape is {array.shape}, but {space.shape} is needed"
    if np.isnan(array).any():
        return "it is not a number (NaN)"
    if np.isinf(array).any():
        return "it is infinite"
    if (array < np.asarray(space.low)).any() or (array > np.asarray(space.high)).any():
        return f"{_short(array.tolist())} is outside the bounds of the action space"
    return ""


def _multi_discrete(space: Space, action: Any, mask: Mask | None) -> str:
    array = _array(action)
    if array is None or array.shape != space.shape or array.dtype.kind not in "iu":
        return f"{_short(action)} is no array of {space.shape} action numbers"
    index = array - np.asarray(space.starts)
    nvec = np.asarray(space.nvec)
    if (index < 0).any() or (index >= nvec).any():
        return f"{_short(array.tolist())} is outside the action space"
    if mask is not None:
        offsets = np.concatenate([[0], np.cumsum(nvec.ravel())[:-1]])
        if not np.asarray(mask)[offsets + index.ravel()].all():
            return f"{_short(array.tolist())} is not legal now"
    return ""


def _container(space: Space, action: Any) -> str:
    is_dict = space.kind == "Dict"
    for i, (key, child) in enumerate(space.spaces.items()):
        try:
            inner = action[key if is_dict else i]
        except (KeyError, IndexError, TypeError):
            return f"its part {key!r} is missing"
        problem = problem_with(child, inner)
        if problem:
            return f"in part {key!r}: {problem}"
    return ""


def _text(space: Space, action: Any) -> str:
    if not isinstance(action, str):
        return f"{_short(action)} is no text"
    if not space.min_length <= len(action) <= space.max_length:
        return f"its length is {len(action)}, but {space.min_length}..{space.max_length} is needed"
    strange = next((c for c in action if c not in space.charset), None)
    return f"character {strange!r} is not allowed" if strange is not None else ""


def _array(value: Any, dtype: Any = None) -> NDArray[Any] | None:
    """Return ``value`` as an array; ``None`` if that is impossible, as for lists of unequal length."""
    try:
        return np.asarray(value, dtype)
    except (TypeError, ValueError):
        return None


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
