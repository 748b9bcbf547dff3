"""Behaviors that ignore observations: one plays the no-op action, one plays all actions in turn.

They have no strength by intention. ``noop`` shows what an environment does without actions; ``cycle`` tries
every action of a slot.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mosaic_worker.codec import GraphInstance, stack
from mosaic_worker.spaces import Space
from mosaic_worker.worker import Batch, Invalid, Slot
from operators_worker.behavior import Behavior, EpisodicBehavior, require
from operators_worker.sampling import samplable

_NOTHING_LEGAL = Invalid("the action mask allows no action")


class Noop(Behavior):
    """Plays the environment's no-op action; if there is none, the zero action.

    The zero action is: the lowest value of a ``Discrete`` or of each ``MultiDiscrete`` component, zeros
    (moved into the bounds) for a ``Box``, zeros for ``MultiBinary``, the shortest ``Text`` or ``Sequence``, a
    ``Graph`` with one zero node, the first choice of a ``OneOf``, and these for each component of a ``Dict``
    or ``Tuple``. If the mask forbids the zero action, the lowest legal action is played.
    """

    def __init__(self, slot: Slot) -> None:
        super().__init__(slot)
        require(samplable(slot.action_space), "noop", "an action space of known kinds", slot)
        own = slot.noop_action if slot.action_space.kind == "Discrete" else None
        self._action = zero_action(slot.action_space) if own is None else own

    def select(self, batch: Batch) -> list[Any]:
        masks = batch.action_masks
        if masks is None:
            return [self._action] * len(batch)
        return [self._legal(mask) for mask in masks]

    def _legal(self, mask: NDArray[np.bool_]) -> Any:
        space = self.slot.action_space
        if space.kind == "Discrete":
            if mask[self._action - space.start]:
                return self._action
            return int(mask.argmax()) + space.start if mask.any() else _NOTHING_LEGAL
        if space.kind != "MultiDiscrete":
            return self._action
        parts = split_mask(space, mask)
        if not all(part.any() for part in parts):
            return _NOTHING_LEGAL
        lowest = np.array([part.argmax() for part in parts]) + np.asarray(space.starts).reshape(-1)
        return lowest.astype(space.dtype).reshape(space.shape)


class Cycle(EpisodicBehavior[list[int]]):
    """Plays the legal actions in turn, from the lowest, starting again in each episode.

    With several components, the first changes fastest, like the lowest digit of a counter. The state is a
    list with one number: the number of actions played, or for ``Discrete`` the next action.
    """

    def __init__(self, slot: Slot) -> None:
        super().__init__(slot)
        finite = slot.action_space.kind in ("Discrete", "MultiDiscrete", "MultiBinary")
        require(finite, "cycle", "a Discrete, MultiDiscrete or MultiBinary action space", slot)

    def new_state(self, seed: int, agent_id: str) -> list[int]:
        return [0]

    def act(self, state: list[int], batch: Batch, i: int) -> Any:
        space = self.slot.action_space
        mask = None if batch.action_masks is None else batch.action_masks[i]
        choices = [np.flatnonzero(part) for part in split_mask(space, mask)]
        if not all(len(choice) for choice in choices):
            return _NOTHING_LEGAL
        if space.kind == "Discrete":
            return self._next(state, choices[0]) + space.start
        count, digits = state[0], list[int]()
        state[0] += 1
        for choice in choices:
            count, digit = divmod(count, len(choice))
            digits.append(int(choice[digit]))
        values = np.array(digits, space.dtype).reshape(space.shape)
        return values if space.starts is None else (values + space.starts).astype(space.dtype)

    @staticmethod
    def _next(state: list[int], legal: NDArray[np.intp]) -> int:
        """Return the lowest legal action not below the next one in turn, or the lowest legal action if there
        is none.
        """
        later = legal[legal >= state[0]]
        action = int(later[0] if len(later) else legal[0])
        state[0] = action + 1
        return action


def zero_action(space: Space) -> Any:
    """Return the zero action of ``space``, as described in :class:`Noop`."""
    if space.kind == "Discrete":
        return space.start
    if space.kind == "MultiDiscrete":
        return np.asarray(space.starts).astype(space.dtype)
    if space.kind == "MultiBinary":
        return np.zeros(space.shape, space.dtype)
    if space.kind == "Box":
        return np.clip(np.zeros(space.shape, space.dtype), space.low, space.high)
    if space.kind == "Text":
        return space.charset[:1] * space.min_length
    if space.kind == "Sequence":
        return stack(space.spaces["element"], []) if space.stacked else ()
    if space.kind == "OneOf":
        return np.int64(0), zero_action(space.spaces["0"])
    if space.kind == "Graph":
        return _zero_graph(space)
    parts = {key: zero_action(child) for key, child in space.spaces.items()}
    return parts if space.kind == "Dict" else tuple(parts.values())


def _zero_graph(space: Space) -> GraphInstance:
    node = space.spaces["node"]
    nodes = stack(node, [zero_action(node)])
    edge = space.spaces.get("edge")
    if edge is None:
        return GraphInstance(nodes, None, None)
    return GraphInstance(nodes, stack(edge, []), np.zeros((0, 2), np.int64))


def split_mask(space: Space, mask: NDArray[np.bool_] | None) -> list[NDArray[np.bool_]]:
    """Return the mask of each component of a finite space; all true without a mask."""
    if space.kind == "Discrete":
        sizes = [space.n]
    elif space.kind == "MultiDiscrete":
        sizes = np.asarray(space.nvec).reshape(-1).tolist()
    else:
        sizes = [2] * int(np.prod(space.shape, dtype=np.int64))
    whole = np.ones(sum(sizes), np.bool_) if mask is None else np.asarray(mask, np.bool_)
    return np.split(whole, np.cumsum(sizes)[:-1])
