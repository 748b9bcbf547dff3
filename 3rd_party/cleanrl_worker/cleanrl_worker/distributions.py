"""The distributions over actions that are learnt, a kind for each action space.

Playing imports :mod:`cleanrl_worker.heads` alone.
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
    """A distribution over the actions of one space; N rows."""

    def sample(self, params: Tensor, masks: Tensor | None, generator: torch.Generator) -> Tensor:
        """Draw actions, counted from zero: (N,), (N, components) or (N, numbers). On the CPU."""
        ...

    def evaluate(self, params: Tensor, actions: Tensor, masks: Tensor | None) -> tuple[Tensor, Tensor]:
        """Log-probability of given actions, and entropy; both (N,)."""
        ...


def distribution_of(space: Space) -> tuple[Head, Distribution]:
    """The head for an action space, and how it is learnt.

    Raises:
        ValueError: No such actions are learnt.
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
        masks: bool of the same shape, true where legal; ``None`` where every action is.

    Source: Huang and Ontanon, "A Closer Look at Invalid Action Masking in Policy Gradient
    Algorithms", 2022: the gradient of the masked categorical is a valid policy gradient.
    """
    return logits if masks is None else logits.masked_fill(~masks, -math.inf)


class Categorical:
    """One of n actions, by a logit each."""

    def sample(self, params: Tensor, masks: Tensor | None, generator: torch.Generator) -> Tensor:
        """See :meth:`Distribution.sample`."""
        probabilities = mask_logits(params, masks).softmax(-1).cpu()
        return probabilities.multinomial(1, generator=generator).squeeze(-1)

    def evaluate(self, params: Tensor, actions: Tensor, masks: Tensor | None) -> tuple[Tensor, Tensor]:
        """See :meth:`Distribution.evaluate`."""
        log_probs = mask_logits(params, masks).log_softmax(-1)
        # Illegal actions have probability zero and log-probability minus infinity: 0 * -inf must count as 0.
        finite = log_probs if masks is None else log_probs.masked_fill(~masks, 0.0)
        entropy = -(log_probs.exp() * finite).sum(-1)
        return log_probs.gather(-1, actions.unsqueeze(-1)).squeeze(-1), entropy


@dataclass(frozen=True)
class Categoricals:
    """One of n actions for each of several components."""

    nvec: tuple[int, ...]

    def sample(self, params: Tensor, masks: Tensor | None, generator: torch.Generator) -> Tensor:
        """See :meth:`Distribution.sample`."""
        parts = [part.softmax(-1).cpu() for part in params.split(self.nvec, -1)]
        return torch.cat([part.multinomial(1, generator=generator) for part in parts], -1)

    def evaluate(self, params: Tensor, actions: Tensor, masks: Tensor | None) -> tuple[Tensor, Tensor]:
        """See :meth:`Distribution.evaluate`; components are independent."""
        all_log_probs = [part.log_softmax(-1) for part in params.split(self.nvec, -1)]
        chosen = [lp.gather(-1, actions[..., i : i + 1]) for i, lp in enumerate(all_log_probs)]
        entropy = sum(-(lp.exp() * lp).sum(-1) for lp in all_log_probs)
        assert isinstance(entropy, Tensor)
        return torch.cat(chosen, -1).sum(-1), entropy


class Normal:
    """Real numbers, each normally distributed and independent."""

    def sample(self, params: Tensor, masks: Tensor | None, generator: torch.Generator) -> Tensor:
        """See :meth:`Distribution.sample`; not yet cut off, which the environments do."""
        mean, log_std = params.cpu().chunk(2, -1)
        return mean + log_std.exp() * torch.randn(mean.shape, generator=generator)

    def evaluate(self, params: Tensor, actions: Tensor, masks: Tensor | None) -> tuple[Tensor, Tensor]:
        """See :meth:`Distribution.evaluate`."""
        mean, log_std = params.chunk(2, -1)
        spread = ((actions - mean) * (-log_std).exp()) ** 2
        log_prob = -(0.5 * spread + log_std + _LOG_SQRT_2PI).sum(-1)
        return log_prob, (0.5 + _LOG_SQRT_2PI + log_std).sum(-1)
