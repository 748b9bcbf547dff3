"""The network that PPO trains and the worker plays: two separate small perceptrons."""

# torch annotates only part of its functions.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class Architecture:
    """What has to be known to build an :class:`ActorCritic` again.

    Attributes:
        inputs: Length of the flattened observation.
        actions: Number of discrete actions.
        hidden: Widths of the hidden layers.
    """

    inputs: int
    actions: int
    hidden: tuple[int, ...]

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Shape of every parameter by name, without building anything."""
        found: dict[str, tuple[int, ...]] = {}
        for part, outputs in (("actor", self.actions), ("critic", 1)):
            for i, (width_in, width_out) in enumerate(pairwise((self.inputs, *self.hidden, outputs))):
                found[f"{part}.{2 * i}.weight"] = (width_out, width_in)
                found[f"{part}.{2 * i}.bias"] = (width_out,)
        return found


class Linear(nn.Module):
    """An affine layer whose parameters are left unset.

    ``nn.Linear`` draws its first weights from the process-wide generator, and skipping that
    (``nn.utils.skip_init``) imports 500 modules of torch, which takes longer than a second.
    """

    def __init__(self, width_in: int, width_out: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(width_out, width_in))
        self.bias = nn.Parameter(torch.empty(width_out))

    def forward(self, x: Tensor) -> Tensor:
        """``(…, width_in)`` to ``(…, width_out)``."""
        return nn.functional.linear(x, self.weight, self.bias)


class ActorCritic(nn.Module):
    """Policy and value function without shared layers, tanh in between.

    Parameters are left unset: call :meth:`initialise` to train, or load a state dict.
    """

    def __init__(self, architecture: Architecture) -> None:
        super().__init__()
        self.architecture = architecture
        a = architecture
        self.actor = _perceptron((a.inputs, *a.hidden, a.actions))
        self.critic = _perceptron((a.inputs, *a.hidden, 1))

    def initialise(self, generator: torch.Generator) -> None:
        """Orthogonal weights and zero biases: gain sqrt(2) inside, 0.01 for the policy's
        output, 1 for the value's (details 2 and 13 of Huang et al. 2022)."""
        for part, last_gain in ((self.actor, 0.01), (self.critic, 1.0)):
            layers = [m for m in part if isinstance(m, Linear)]
            for layer in layers:
                gain = last_gain if layer is layers[-1] else math.sqrt(2.0)
                nn.init.orthogonal_(layer.weight, gain, generator=generator)
                nn.init.zeros_(layer.bias)

    def forward(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        """Logits and values.

        Args:
            observations: float32, shape (N, inputs).

        Returns:
            Logits of shape (N, actions) and values of shape (N,).
        """
        return self.actor(observations), self.critic(observations).squeeze(-1)


def mask_logits(logits: Tensor, masks: Tensor | None) -> Tensor:
    """Set the logits of illegal actions to minus infinity.

    Args:
        logits: Shape (N, actions).
        masks: bool of the same shape, true where legal; ``None`` where every action is.

    Source: Huang and Ontanon, "A Closer Look at Invalid Action Masking in Policy Gradient
    Algorithms", 2022: the gradient of the masked categorical is a valid policy gradient.
    """
    return logits if masks is None else logits.masked_fill(~masks, -math.inf)


def _perceptron(widths: Sequence[int]) -> nn.Sequential:
    layers: list[nn.Module] = []
    for width_in, width_out in pairwise(widths):
        layers += [Linear(width_in, width_out), nn.Tanh()]
    return nn.Sequential(*layers[:-1])
