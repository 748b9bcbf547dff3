"""Turns the outputs of a network into actions, for each kind of action space.

A sampled action depends only on the random numbers of its own decision. Training uses
:mod:`cleanrl_worker.distributions`.
"""

# numpy annotates only part of its functions.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mosaic_worker.playing.checkpoint_worker import Draws
from mosaic_worker.playing.drawn_actions import draw_index, draw_normals
from mosaic_worker.spaces import Space


class Head(Protocol):
    """Turns the outputs of a network into actions of one space; arrays have N rows.

    Attributes:
        outputs: Number of outputs of the network (for a Gaussian, only the means).
        continuous: Whether actions are real numbers.
    """

    @property
    def outputs(self) -> int: ...
    @property
    def continuous(self) -> bool: ...

    def play(
        self, params: NDArray[np.float64], masks: NDArray[np.bool_] | None, draws: Draws | None
    ) -> NDArray[Any]:
        """Return actions in the action space; the most likely ones if ``draws`` is ``None``."""
        ...


def head_of(space: Space) -> Head:
    """Return the head for an action space.

    Raises:
        ValueError: No algorithm learns actions of this kind.
    """
    if space.kind == "Discrete":
        return DiscreteHead(space.n, space.start)
    if space.kind == "MultiDiscrete" and len(space.shape) == 1:
        assert space.nvec is not None and space.starts is not None and space.dtype is not None
        return MultiDiscreteHead(tuple(map(int, space.nvec)), space.starts, space.dtype)
    if space.kind == "Box" and space.dtype is not None and space.dtype.kind == "f":
        return GaussianHead(space.shape, np.asarray(space.low), np.asarray(space.high), space.dtype)
    raise ValueError(f"its actions are of a kind that no algorithm learns: {space.kind}")


@dataclass(frozen=True)
class DiscreteHead:
    """Head that chooses one of n actions."""

    n: int
    start: int = 0
    continuous = False

    @property
    def outputs(self) -> int:
        """Number of logits: one for each action."""
        return self.n

    def play(
        self, params: NDArray[np.float64], masks: NDArray[np.bool_] | None, draws: Draws | None
    ) -> NDArray[Any]:
        """Return one action per row; see :meth:`Head.play`."""
        logits = params if masks is None else np.where(masks, params, -math.inf)
        choice = logits.argmax(axis=1) if draws is None else draw_index(logits, draws(0))
        return choice + self.start


@dataclass(frozen=True)
class MultiDiscreteHead:
    """Head that chooses one action for each of several components."""

    nvec: tuple[int, ...]
    starts: NDArray[np.int64]
    dtype: np.dtype[Any]
    continuous = False

    @property
    def outputs(self) -> int:
        """Number of logits: one for each action of every component."""
        return sum(self.nvec)

    def play(
        self, params: NDArray[np.float64], masks: NDArray[np.bool_] | None, draws: Draws | None
    ) -> NDArray[Any]:
        """Return one action per component and row; see :meth:`Head.play`."""
        parts = np.split(params, np.cumsum(self.nvec)[:-1], axis=1)
        chosen = [
            part.argmax(axis=1) if draws is None else draw_index(part, draws(i))
            for i, part in enumerate(parts)
        ]
        return (np.stack(chosen, axis=1) + self.starts).astype(self.dtype)


@dataclass(frozen=True)
class GaussianHead:
    """Head for independent, normally distributed numbers, clipped to the bounds of the space."""

    shape: tuple[int, ...]
    low: NDArray[Any]
    high: NDArray[Any]
    dtype: np.dtype[Any]
    continuous = True

    @property
    def outputs(self) -> int:
        """Number of means: one for each number of an action."""
        return math.prod(self.shape)

    def play(
        self, params: NDArray[np.float64], masks: NDArray[np.bool_] | None, draws: Draws | None
    ) -> NDArray[Any]:
        """Return actions clipped to the bounds; see :meth:`Head.play`."""
        mean, log_std = np.split(params, 2, axis=1)
        if draws is not None:
            mean = mean + np.exp(log_std) * draw_normals(draws, self.outputs)
        actions = np.clip(mean.reshape(-1, *self.shape), self.low, self.high)
        return actions.astype(self.dtype)
