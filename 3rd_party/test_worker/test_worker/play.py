"""Draws random legal actions, and faulty actions that replace them."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mosaic_worker.rng import bits, uniform
from mosaic_worker.spaces import Space, take
from mosaic_worker.worker import Batch, Invalid
from test_worker.plan import Plan

Keys = NDArray[np.uint64]


def playable(space: Space) -> bool:
    """Return whether :func:`play` supports every part of the space."""
    return space.fixed or (
        space.kind in ("Dict", "Tuple") and all(playable(child) for child in space.spaces.values())
    )


def play(batch: Batch) -> list[Any]:
    """Return a uniformly random legal action for each decision, from its seed, step and attempt."""
    keys = bits(batch.seeds, batch.steps)
    if batch.attempts:
        keys = bits(keys, batch.attempts)
    space = batch.slot.action_space
    drawn = draw(space, keys)
    actions = [take(space, drawn, i) for i in range(len(batch))]
    masks = batch.action_masks
    if masks is not None and space.kind == "Discrete":
        for i, u in enumerate(uniform(keys, 1)):
            legal = np.flatnonzero(masks[i])
            if len(legal):
                actions[i] = int(legal[int(u * len(legal))]) + space.start
    return actions


def draw(space: Space, keys: Keys) -> Any:
    """Draw one value of ``space`` per key, stacked."""
    if space.kind == "Dict":
        return {k: draw(child, bits(keys, i)) for i, (k, child) in enumerate(space.spaces.items())}
    if space.kind == "Tuple":
        return tuple(draw(child, bits(keys, i)) for i, child in enumerate(space.spaces.values()))
    size = int(np.prod(space.shape, dtype=np.int64))
    u = uniform(keys[:, None], np.arange(size))
    if space.kind == "Discrete":
        values = np.floor(u * space.n) + space.start
    elif space.kind == "MultiDiscrete":
        values = np.floor(u * np.asarray(space.nvec).ravel()) + np.asarray(space.starts).ravel()
    elif space.kind == "MultiBinary":
        values = u < 0.5
    else:
        low, high = (np.asarray(b, np.float64).ravel() for b in (space.low, space.high))
        # Without a bound, within ten of the other bound.
        floor = np.where(np.isfinite(low), low, np.where(np.isfinite(high), high - 10, -10))
        ceiling = np.where(np.isfinite(high), high, floor + 10)
        values = np.clip(floor * (1 - u) + ceiling * u, low, high)
    return values.astype(space.dtype).reshape((len(keys), *space.shape))


def spoil(plan: Plan, batch: Batch, actions: list[Any], i: int, decided: int) -> Any:
    """Return the action that replaces the ``i``-th one.

    Args:
        plan: Plan with the fault.
        batch: The decisions.
        actions: Actions that would be played.
        i: Index in the batch.
        decided: Number of earlier decisions, in all episodes.
    """
    space = batch.slot.action_space
    if plan.fault == "invalid":
        return Invalid("told to give no usable reply", plan.raw)
    if plan.fault == "nan":
        return np.full(space.shape, np.nan, space.dtype)
    if plan.fault == "illegal":
        return _illegal(space, None if batch.action_masks is None else batch.action_masks[i], actions[i])
    if plan.fault == "unseeded":
        key = int.from_bytes(os.urandom(8), "little")
    else:
        key = len(batch) if plan.fault == "batch_dependent" else decided + i
    drawn = draw(space, bits(np.array([key], np.uint64), 0))
    return take(space, drawn, 0)


def _illegal(space: Space, mask: Any, action: Any) -> Any:
    if space.kind == "Discrete":
        if mask is not None and not mask.all():
            return space.start + int(np.flatnonzero(~mask)[0])
        return space.start + space.n
    if space.kind == "MultiDiscrete":
        return (np.asarray(space.starts) + np.asarray(space.nvec)).astype(space.dtype)
    if space.kind == "MultiBinary":
        return np.full(space.shape, 2, space.dtype)
    if space.kind == "Box":
        high = np.asarray(space.high)
        return np.where(np.isfinite(high.astype(np.float64)), high + 1, np.nan).astype(space.dtype)
    children = [
        _illegal(child, None, action[key if space.kind == "Dict" else k])
        for k, (key, child) in enumerate(space.spaces.items())
    ]
    return dict(zip(space.spaces, children, strict=True)) if space.kind == "Dict" else tuple(children)
