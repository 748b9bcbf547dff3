"""Behavior that plays uniformly random legal actions.

Input: only the action mask. Each legal action of a ``Discrete`` (and of each component of a
``MultiDiscrete``) is equally likely; other spaces are sampled as in :mod:`operators_worker.sampling`. An
action depends only on the policy seed and the step. This behavior is the reference for the strength of
others.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mosaic_worker.rng import bits, uniform
from mosaic_worker.worker import Batch, Invalid, Slot
from operators_worker.behavior import Behavior, require
from operators_worker.sampling import samplable, sample

_RETRY_STREAM = 0x7E7


class RandomLegal(Behavior):
    """Draws actions from the slot's action space, within the action mask if there is one."""

    def __init__(self, slot: Slot) -> None:
        super().__init__(slot)
        require(samplable(slot.action_space), "random", "an action space of known kinds", slot)
        self._discrete = slot.action_space.kind == "Discrete"

    def select(self, batch: Batch) -> Any:
        seeds, masks = batch.seeds, batch.action_masks
        if batch.attempts and any(batch.attempts):
            # A retry with the same action would be refused again.
            again = np.asarray(batch.attempts, np.uint64)
            seeds = np.where(again > 0, bits(seeds, again, _RETRY_STREAM), seeds)
        if self._discrete:
            drawn = uniform(seeds, batch.steps)
            space = self.slot.action_space
            if masks is None:
                return (drawn * space.n).astype(np.int64) + space.start
            return _flagged(pick_legal(masks, drawn) + space.start, np.asarray(masks.any(axis=1)))
        keys = bits(seeds, batch.steps)
        if masks is not None and self.slot.action_space.kind == "MultiDiscrete":
            return self._components(masks, keys)
        return sample(self.slot.action_space, keys)

    def _components(self, masks: NDArray[np.bool_], keys: NDArray[np.uint64]) -> Any:
        """Draw legal values of each component; the mask holds the components' masks one after the other."""
        space = self.slot.action_space
        sizes = np.asarray(space.nvec).reshape(-1).tolist()
        parts = np.split(masks, np.cumsum(sizes)[:-1], axis=1)
        picks = [pick_legal(part, uniform(keys, i)) for i, part in enumerate(parts)]
        values = np.stack(picks, axis=1) + np.asarray(space.starts).reshape(-1)
        possible = np.asarray(np.stack([part.any(axis=1) for part in parts]).all(axis=0))
        return _flagged(values.reshape(len(keys), *space.shape), possible)


def pick_legal(masks: NDArray[np.bool_], drawn: NDArray[np.float64]) -> NDArray[np.int64]:
    """Turn uniform numbers into indices of legal entries.

    Args:
        masks: bool (N, n).
        drawn: Uniform numbers in [0, 1), shape (N,).

    Returns:
        int64 (N,); 0 for a row without a legal entry.
    """
    up_to = np.cumsum(masks, axis=1)
    rank = (drawn * up_to[:, -1]).astype(np.int64)
    return (up_to > rank[:, None]).argmax(axis=1)


def _flagged(actions: NDArray[np.int64], possible: NDArray[np.bool_]) -> Any:
    """Replace the actions of rows without a legal action."""
    if possible.all():
        return actions
    none = Invalid("the action mask allows no action")
    return [action if ok else none for action, ok in zip(actions, possible, strict=True)]
