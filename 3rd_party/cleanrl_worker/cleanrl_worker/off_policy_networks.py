"""Networks of the algorithms that learn from a replay buffer: action values, actors, critics.

Constructors leave parameters unset. For training, ``initialise`` draws them from one generator; for playing,
a state dict sets them.
"""

# torch annotates only part of its functions.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn

from cleanrl_worker.architecture import LOG_STD_RANGE, Encoding
from cleanrl_worker.network import Conv2d, Linear, image_layers, perceptron, prepared


class Heads(nn.Module):
    """Parameters of several affine layers of one shape, for one batched product.

    Args:
        count: Number of layers.
        width_in: Inputs of each layer.
        width_out: Outputs of each layer.
    """

    weight: Tensor
    bias: Tensor

    def __init__(self, count: int, width_in: int, width_out: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(count, width_in, width_out))
        self.bias = nn.Parameter(torch.empty(count, 1, width_out))


def fan_in_uniform(module: nn.Module, generator: torch.Generator) -> None:
    """Draw weights and biases uniformly within ±1 / sqrt(inputs), as torch does by default."""
    for layer in module.modules():
        if isinstance(layer, (Heads, Linear, Conv2d)):
            inputs = layer.weight.shape[1] if isinstance(layer, Heads) else layer.weight[0].numel()
            bound = 1.0 / math.sqrt(inputs)
            for parameter in (layer.weight, layer.bias):
                nn.init.uniform_(parameter, -bound, bound, generator=generator)


class ActionValues(nn.Module):
    """Network that gives each discrete action a value, or the logits of a distribution of values.

    Args:
        encoding: How observations become input numbers.
        hidden: Widths of the hidden layers, with ReLU; not used for images, which have convolutions.
        actions: Number of actions.
        atoms: Logits for each action; 1 for a plain value.
    """

    def __init__(self, encoding: Encoding, hidden: Sequence[int], actions: int, atoms: int = 1) -> None:
        super().__init__()
        self.encoding, self.hidden, self.actions, self.atoms = encoding, tuple(hidden), actions, atoms
        if encoding.images:
            self.features, width = image_layers(encoding), encoding.units
        else:
            width = hidden[-1]
            self.features = perceptron((encoding.inputs, *hidden), "relu", last=True)
        self.head = Linear(width, actions * atoms)

    def to_json(self) -> dict[str, Any]:
        """Return the network's description for ``policy.json``."""
        return {"encoder": self.encoding.to_json(), "hidden": list(self.hidden), "activation": "relu"}

    def initialise(self, generator: torch.Generator) -> None:
        """Draw the initial parameters."""
        fan_in_uniform(self, generator)

    def forward(self, observations: Tensor) -> Tensor:
        """Return values (B, actions), or logits (B, actions, atoms)."""
        out = self.head(self.features(prepared(self.encoding, observations)))
        return out if self.atoms == 1 else out.unflatten(-1, (self.actions, self.atoms))


def support(v_min: float, v_max: float, atoms: int) -> Tensor:
    """Return the returns that the atoms represent, evenly spaced, shape (K,)."""
    return torch.linspace(v_min, v_max, atoms)


def mean_values(logits: Tensor, atoms: Tensor) -> Tensor:
    """Return the expected return of each action, (N, actions), from logits (N, actions, K)."""
    return logits.softmax(-1) @ atoms


class DeterministicActor(nn.Module):
    """Network that gives one action in [-1, 1] for each observation.

    Args:
        encoding: Encoding of observations, which must be vectors.
        outputs: Numbers of an action.
        hidden: Widths of the hidden layers, with ReLU.
    """

    def __init__(self, encoding: Encoding, outputs: int, hidden: Sequence[int]) -> None:
        super().__init__()
        self.encoding, self.outputs = encoding, outputs
        self.layers = perceptron((encoding.inputs, *hidden, outputs), "relu")

    def forward(self, observations: Tensor) -> Tensor:
        """Return actions (B, outputs) for observations (B, *shape)."""
        return self.layers(prepared(self.encoding, observations)).tanh()


class GaussianActor(nn.Module):
    """Network that gives a normal distribution for each observation; tanh maps its draws to [-1, 1].

    Args:
        encoding: Encoding of observations, which must be vectors.
        outputs: Numbers of an action.
        hidden: Widths of the hidden layers, with ReLU.
    """

    def __init__(self, encoding: Encoding, outputs: int, hidden: Sequence[int]) -> None:
        super().__init__()
        self.encoding, self.outputs = encoding, outputs
        self.layers = perceptron((encoding.inputs, *hidden, 2 * outputs), "relu")

    def forward(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        """Return mean and logarithm of the standard deviation, each (B, outputs)."""
        mean, raw = self.layers(prepared(self.encoding, observations)).chunk(2, dim=-1)
        low, high = LOG_STD_RANGE
        # Mapped smoothly to the range instead of clipped, so that the gradient does not vanish at its ends.
        return mean, low + 0.5 * (high - low) * (raw.tanh() + 1.0)


def squash(mean: Tensor, log_std: Tensor, noise: Tensor) -> tuple[Tensor, Tensor]:
    """Draw actions and their log-densities (Haarnoja et al. 2018, appendix C).

    Args:
        mean: (B, outputs).
        log_std: (B, outputs).
        noise: Standard normal numbers, (B, outputs).

    Returns:
        Actions in [-1, 1], (B, outputs), and log-densities, (B,).
    """
    unsquashed = mean + log_std.exp() * noise
    normal = -0.5 * noise**2 - log_std - 0.5 * math.log(2.0 * math.pi)
    # log(1 - tanh(u)^2) in a form that neither overflows nor loses precision.
    slope = 2.0 * (math.log(2.0) - unsquashed - nn.functional.softplus(-2.0 * unsquashed))
    return unsquashed.tanh(), (normal - slope).sum(-1)


class Critics(nn.Module):
    """Several independent networks for the value of (observation, action), evaluated together.

    Args:
        count: Number of critics.
        encoding: Encoding of observations, which must be vectors.
        outputs: Length of an action.
        hidden: Widths of the hidden layers, with ReLU.
    """

    def __init__(self, count: int, encoding: Encoding, outputs: int, hidden: Sequence[int]) -> None:
        super().__init__()
        self.encoding = encoding
        self.layers = [Heads(count, a, b) for a, b in pairwise((encoding.inputs + outputs, *hidden, 1))]
        for i, layer in enumerate(self.layers):
            self.add_module(str(i), layer)

    def forward(self, observations: Tensor, actions: Tensor, first: bool = False) -> Tensor:
        """Return values of observations (B, *shape) and actions (B, outputs) in [-1, 1].

        Returns:
            Shape (count, B), or (1, B) with the ``first`` critic alone.
        """
        count = 1 if first else len(self.layers[0].weight)
        x = torch.cat((prepared(self.encoding, observations), actions), -1).expand(count, -1, -1)
        for i, layer in enumerate(self.layers):
            x = torch.baddbmm(layer.bias[:count], x if i == 0 else x.relu(), layer.weight[:count])
        return x.squeeze(-1)


class ActorAndCritics(nn.Module):
    """An actor with its critics, as a policy for continuous actions is saved.

    Args:
        encoding: Encoding of observations, which must be vectors.
        outputs: Length of an action.
        hidden: Widths of the hidden layers of actor and critics.
        gaussian: Whether the actor is a :class:`GaussianActor` instead of a :class:`DeterministicActor`.
        critics: Number of critics.
    """

    def __init__(
        self, encoding: Encoding, outputs: int, hidden: Sequence[int], *, gaussian: bool, critics: int
    ) -> None:
        super().__init__()
        self.encoding, self.hidden, self.gaussian, self.count = encoding, tuple(hidden), gaussian, critics
        self.actor = (GaussianActor if gaussian else DeterministicActor)(encoding, outputs, hidden)
        self.critics = Critics(critics, encoding, outputs, hidden)

    def to_json(self) -> dict[str, Any]:
        """Return the network's description for ``policy.json``."""
        return {
            "type": "gaussian_actor" if self.gaussian else "deterministic_actor",
            "encoder": self.encoding.to_json(),
            "hidden": list(self.hidden),
            "activation": "relu",
            "critics": self.count,
        }

    def initialise(self, generator: torch.Generator) -> None:
        """Draw the initial parameters."""
        fan_in_uniform(self, generator)


@torch.no_grad()
def follow(target: nn.Module, online: nn.Module, tau: float) -> None:
    """Move ``target`` the fraction ``tau`` of the way to ``online`` (1 copies it)."""
    for kept, new in zip(target.parameters(), online.parameters(), strict=True):
        kept.lerp_(new, tau)
