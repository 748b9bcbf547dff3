"""From the numbers of a network to actions: a distribution for each kind of action space.

Each head is used twice: with tensors while learning, with numpy while playing, where a draw
depends on the decision's own numbers alone.
"""

# torch annotates only part of its functions.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mosaic_worker.playing.checkpoint_worker import Draws
from mosaic_worker.playing.drawn_actions import draw_index
from mosaic_worker.spaces import Space

_LOG_SQRT_2PI = 0.5 * math.log(2.0 * math.pi)


class Head(Protocol):
    """A distribution over the actions of one space; N rows.

    Attributes:
        outputs: Numbers it takes from the network (for a Gaussian: the means alone).
        continuous: Whether its actions are real numbers.
    """

    @property
    def outputs(self) -> int: ...
    @property
    def continuous(self) -> bool: ...

    def sample(self, params: Tensor, masks: Tensor | None, generator: torch.Generator) -> Tensor:
        """Draw actions, counted from zero: (N,), (N, components) or (N, numbers). On the CPU."""
        ...

    def evaluate(self, params: Tensor, actions: Tensor, masks: Tensor | None) -> tuple[Tensor, Tensor]:
        """Log-probability of given actions, and entropy; both (N,)."""
        ...

    def play(
        self, params: NDArray[np.float64], masks: NDArray[np.bool_] | None, draws: Draws | None
    ) -> NDArray[Any]:
        """Actions in the action space; the most likely ones where ``draws`` is ``None``."""
        ...


def head_of(space: Space) -> Head:
    """The head for an action space.

    Raises:
        ValueError: No such actions are learnt.
    """
    if space.kind == "Discrete":
        return DiscreteHead(space.n, space.start)
    if space.kind == "MultiDiscrete" and len(space.shape) == 1:
        assert space.nvec is not None and space.starts is not None and space.dtype is not None
        return MultiDiscreteHead(tuple(map(int, space.nvec)), space.starts, space.dtype)
    if space.kind == "Box" and space.dtype is not None and space.dtype.kind == "f":
        return GaussianHead(space.shape, np.asarray(space.low), np.asarray(space.high), space.dtype)
    raise ValueError(f"its actions are of a kind that is not learnt: {space.kind}")


def mask_logits(logits: Tensor, masks: Tensor | None) -> Tensor:
    """Set the logits of illegal actions to minus infinity.

    Args:
        logits: Shape (N, actions).
        masks: bool of the same shape, true where legal; ``None`` where every action is.

    Source: Huang and Ontanon, "A Closer Look at Invalid Action Masking in Policy Gradient
    Algorithms", 2022: the gradient of the masked categorical is a valid policy gradient.
    """
    return logits if masks is None else logits.masked_fill(~masks, -math.inf)


@dataclass(frozen=True)
class DiscreteHead:
    """One of n actions."""

    n: int
    start: int = 0
    continuous = False

    @property
    def outputs(self) -> int:
        """A logit per action."""
        return self.n

    def sample(self, params: Tensor, masks: Tensor | None, generator: torch.Generator) -> Tensor:
        """See :meth:`Head.sample`."""
        probabilities = mask_logits(params, masks).softmax(-1).cpu()
        return probabilities.multinomial(1, generator=generator).squeeze(-1)

    def evaluate(self, params: Tensor, actions: Tensor, masks: Tensor | None) -> tuple[Tensor, Tensor]:
        """See :meth:`Head.evaluate`."""
        log_probs = mask_logits(params, masks).log_softmax(-1)
        # Illegal actions have probability zero and log-probability minus infinity: 0 * -inf must count as 0.
        finite = log_probs if masks is None else log_probs.masked_fill(~masks, 0.0)
        entropy = -(log_probs.exp() * finite).sum(-1)
        return log_probs.gather(-1, actions.unsqueeze(-1)).squeeze(-1), entropy

    def play(
        self, params: NDArray[np.float64], masks: NDArray[np.bool_] | None, draws: Draws | None
    ) -> NDArray[Any]:
        """See :meth:`Head.play`."""
        logits = params if masks is None else np.where(masks, params, -math.inf)
        choice = logits.argmax(axis=1) if draws is None else draw_index(logits, draws(0))
        return choice + self.start


@dataclass(frozen=True)
class MultiDiscreteHead:
    """One of n actions for each of several components."""

    nvec: tuple[int, ...]
    starts: NDArray[np.int64]
    dtype: np.dtype[Any]
    continuous = False

    @property
    def outputs(self) -> int:
        """A logit per action of every component."""
        return sum(self.nvec)

    def sample(self, params: Tensor, masks: Tensor | None, generator: torch.Generator) -> Tensor:
        """See :meth:`Head.sample`."""
        parts = [part.softmax(-1).cpu() for part in params.split(self.nvec, -1)]
        return torch.cat([part.multinomial(1, generator=generator) for part in parts], -1)

    def evaluate(self, params: Tensor, actions: Tensor, masks: Tensor | None) -> tuple[Tensor, Tensor]:
        """See :meth:`Head.evaluate`; components are independent."""
        all_log_probs = [part.log_softmax(-1) for part in params.split(self.nvec, -1)]
        chosen = [lp.gather(-1, actions[..., i : i + 1]) for i, lp in enumerate(all_log_probs)]
        entropy = sum(-(lp.exp() * lp).sum(-1) for lp in all_log_probs)
        assert isinstance(entropy, Tensor)
        return torch.cat(chosen, -1).sum(-1), entropy

    def play(
        self, params: NDArray[np.float64], masks: NDArray[np.bool_] | None, draws: Draws | None
    ) -> NDArray[Any]:
        """See :meth:`Head.play`."""
        parts = np.split(params, np.cumsum(self.nvec)[:-1], axis=1)
        chosen = [
            part.argmax(axis=1) if draws is None else draw_index(part, draws(i))
            for i, part in enumerate(parts)
        ]
        return (np.stack(chosen, axis=1) + self.starts).astype(self.dtype)


@dataclass(frozen=True)
class GaussianHead:
    """Real numbers, each normally distributed and independent; cut off at the space's bounds."""

    shape: tuple[int, ...]
    low: NDArray[Any]
    high: NDArray[Any]
    dtype: np.dtype[Any]
    continuous = True

    @property
    def outputs(self) -> int:
        """A mean per number."""
        return math.prod(self.shape)

    def sample(self, params: Tensor, masks: Tensor | None, generator: torch.Generator) -> Tensor:
        """See :meth:`Head.sample`; not yet cut off, which the environments do."""
        mean, log_std = params.cpu().chunk(2, -1)
        return mean + log_std.exp() * torch.randn(mean.shape, generator=generator)

    def evaluate(self, params: Tensor, actions: Tensor, masks: Tensor | None) -> tuple[Tensor, Tensor]:
        """See :meth:`Head.evaluate`."""
        mean, log_std = params.chunk(2, -1)
        spread = ((actions - mean) * (-log_std).exp()) ** 2
        log_prob = -(0.5 * spread + log_std + _LOG_SQRT_2PI).sum(-1)
        return log_prob, (0.5 + _LOG_SQRT_2PI + log_std).sum(-1)

    def play(
        self, params: NDArray[np.float64], masks: NDArray[np.bool_] | None, draws: Draws | None
    ) -> NDArray[Any]:
        """See :meth:`Head.play`."""
        mean, log_std = np.split(params, 2, axis=1)
        if draws is not None:
            mean = mean + np.exp(log_std) * np.stack([_normal(draws(i)) for i in range(self.outputs)], axis=1)
        actions = np.clip(mean.reshape(-1, *self.shape), self.low, self.high)
        return actions.astype(self.dtype)


_INVERSE = NormalDist().inv_cdf


def _normal(uniforms: NDArray[np.float64]) -> NDArray[np.float64]:
    """Standard normal numbers, one per uniform one and of it alone."""
    return np.array([_INVERSE(u) for u in np.clip(uniforms, 2.0**-54, 1.0 - 2.0**-53)])
