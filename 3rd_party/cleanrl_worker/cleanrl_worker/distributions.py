"""Distributions over actions for training, one class for each kind of action space.

Code that only plays a policy imports only :mod:`cleanrl_worker.heads`.
"""

# torch annotates only part of its functions.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from cleanrl_worker.heads import DiscreteHead, Head, MultiDiscreteHead, head_of
from mosaic_worker.spaces import Space

_LOG_SQRT_2PI = 0.5 * math.log(2.0 * math.pi)


class Distribution(Protocol):
    """A distribution over the actions of one space; tensors have N rows."""

    def sample(self, params: Tensor, masks: Tensor | None, generator: torch.Generator) -> Tensor:
        """Draw actions on the CPU, counted from zero: (N,), (N, components) or (N, numbers)."""
        ...

    def evaluate(self, params: Tensor, actions: Tensor, masks: Tensor | None) -> tuple[Tensor, Tensor]:
        """Return log-probability and entropy of given actions; both have shape (N,)."""
        ...


def distribution_of(space: Space) -> tuple[Head, Distribution]:
    """Return the head of an action space and its distribution for training.

    Raises:
        ValueError: No algorithm learns actions of this kind.
    """
    head = head_of(space)
    if isinstance(head, DiscreteHead):
        return head, Categorical()
    if isinstance(head, MultiDiscreteHead):
        return head, Categoricals(head.nvec)
    return head, Normal()


def mask_logits(logits: Tensor, masks: Tensor | None) -> Tensor:
    """Set the logits of illegal actions to minus infinity.

    Args:
        logits: Shape (N, actions).
        masks: bool of the same shape, true for legal actions; ``None`` if every action is legal.

    Source: Huang and Ontanon, "A Closer Look at Invalid Action Masking in Policy Gradient
    Algorithms", 2022: the gradient of the masked categorical is a valid policy gradient.
    """
    return logits if masks is None else logits.masked_fill(~masks, -math.inf)


class Categorical:
    """Categorical distribution over n actions, with one logit for each action."""

    def sample(self, params: Tensor, masks: Tensor | None, generator: torch.Generator) -> Tensor:
        """Draw actions; see :meth:`Distribution.sample`."""
        probabilities = mask_logits(params, masks).softmax(-1).cpu()
        return probabilities.multinomial(1, generator=generator).squeeze(-1)

    def evaluate(self, params: Tensor, actions: Tensor, masks: Tensor | None) -> tuple[Tensor, Tensor]:
        """Return log-probability and entropy of actions; see :meth:`Distribution.evaluate`."""
        log_probs = mask_logits(params, masks).log_softmax(-1)
        # Illegal actions have probability 0 and log-probability minus infinity: their product must be 0.
        finite = log_probs if masks is None else log_probs.masked_fill(~masks, 0.0)
        entropy = -(log_probs.exp() * finite).sum(-1)
        return log_probs.gather(-1, actions.unsqueeze(-1)).squeeze(-1), entropy


@dataclass(frozen=True)
class Categoricals:
    """Categorical distribution for each of several independent components."""

    nvec: tuple[int, ...]

    def sample(self, params: Tensor, masks: Tensor | None, generator: torch.Generator) -> Tensor:
        """Draw an action for each component; see :meth:`Distribution.sample`."""
        parts = [part.softmax(-1).cpu() for part in params.split(self.nvec, -1)]
        return torch.cat([part.multinomial(1, generator=generator) for part in parts], -1)

    def evaluate(self, params: Tensor, actions: Tensor, masks: Tensor | None) -> tuple[Tensor, Tensor]:
        """Return log-probability and entropy, each summed over the components; see
        :meth:`Distribution.evaluate`.
        """
        all_log_probs = [part.log_softmax(-1) for part in params.split(self.nvec, -1)]
        chosen = [lp.gather(-1, actions[..., i : i + 1]) for i, lp in enumerate(all_log_probs)]
        entropy = sum(-(lp.exp() * lp).sum(-1) for lp in all_log_probs)
        assert isinstance(entropy, Tensor)
        return torch.cat(chosen, -1).sum(-1), entropy


class Normal:
    """Independent normal distribution for each number of a continuous action."""

    def sample(self, params: Tensor, masks: Tensor | None, generator: torch.Generator) -> Tensor:
        """Draw actions, which are not clipped here but by the environment; see
        :meth:`Distribution.sample`.
        """
        mean, log_std = params.cpu().chunk(2, -1)
        return mean + log_std.exp() * torch.randn(mean.shape, generator=generator)

    def evaluate(self, params: Tensor, actions: Tensor, masks: Tensor | None) -> tuple[Tensor, Tensor]:
        """Return log-probability and entropy of actions; see :meth:`Distribution.evaluate`."""
        mean, log_std = params.chunk(2, -1)
        spread = ((actions - mean) * (-log_std).exp()) ** 2
        log_prob = -(0.5 * spread + log_std + _LOG_SQRT_2PI).sum(-1)
        return log_prob, (0.5 + _LOG_SQRT_2PI + log_std).sum(-1)
