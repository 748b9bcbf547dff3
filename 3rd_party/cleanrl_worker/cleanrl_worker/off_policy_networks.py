"""Networks of the algorithms that learn from a replay buffer: action values, actors, critics.

Parameters are left unset by the constructors: ``initialise`` draws them from one generator to train,
loading a state dict sets them to play.
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
        count: How many.
        width_in: Inputs of each.
        width_out: Outputs of each.
    """

    weight: Tensor
    bias: Tensor

    def __init__(self, count: int, width_in: int, width_out: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(count, width_in, width_out))
        self.bias = nn.Parameter(torch.empty(count, 1, width_out))


def fan_in_uniform(module: nn.Module, generator: torch.Generator) -> None:
    """Weights and biases uniform within 1 / sqrt(inputs), torch's own default, from one generator."""
    for layer in module.modules():
        if isinstance(layer, (Heads, Linear, Conv2d)):
            inputs = layer.weight.shape[1] if isinstance(layer, Heads) else layer.weight[0].numel()
            bound = 1.0 / math.sqrt(inputs)
            for parameter in (layer.weight, layer.bias):
                nn.init.uniform_(parameter, -bound, bound, generator=generator)


class ActionValues(nn.Module):
    """A value, or the logits of a distribution of values, for each discrete action.

    Args:
        encoding: What observations are.
        hidden: Widths of the hidden layers, rectified; not used for images, which have layers of their own.
        actions: Number of actions.
        atoms: Logits per action; 1 for a plain value.
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
        """What it is, for ``policy.json``."""
        return {"encoder": self.encoding.to_json(), "hidden": list(self.hidden), "activation": "relu"}

    def initialise(self, generator: torch.Generator) -> None:
        """Draw the first parameters."""
        fan_in_uniform(self, generator)

    def forward(self, observations: Tensor) -> Tensor:
        """Values (B, actions), or logits (B, actions, atoms)."""
        out = self.head(self.features(prepared(self.encoding, observations)))
        return out if self.atoms == 1 else out.unflatten(-1, (self.actions, self.atoms))


def support(v_min: float, v_max: float, atoms: int) -> Tensor:
    """The returns that the atoms stand for, evenly spaced, (K,)."""
    return torch.linspace(v_min, v_max, atoms)


def mean_values(logits: Tensor, atoms: Tensor) -> Tensor:
    """Expected return of each action, (N, actions), from logits (N, actions, K)."""
    return logits.softmax(-1) @ atoms


class DeterministicActor(nn.Module):
    """One action in [-1, 1] for each observation.

    Args:
        encoding: What observations are: a vector.
        outputs: Numbers of an action.
        hidden: Widths of the hidden layers, rectified.
    """

    def __init__(self, encoding: Encoding, outputs: int, hidden: Sequence[int]) -> None:
        super().__init__()
        self.encoding, self.outputs = encoding, outputs
        self.layers = perceptron((encoding.inputs, *hidden, outputs), "relu")

    def forward(self, observations: Tensor) -> Tensor:
        """Actions (B, outputs) for observations (B, *shape)."""
        return self.layers(prepared(self.encoding, observations)).tanh()


class GaussianActor(nn.Module):
    """A normal distribution for each observation, whose draws are squashed into [-1, 1] by tanh.

    Args:
        encoding: What observations are: a vector.
        outputs: Numbers of an action.
        hidden: Widths of the hidden layers, rectified.
    """

    def __init__(self, encoding: Encoding, outputs: int, hidden: Sequence[int]) -> None:
        super().__init__()
        self.encoding, self.outputs = encoding, outputs
        self.layers = perceptron((encoding.inputs, *hidden, 2 * outputs), "relu")

    def forward(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and logarithm of the standard deviation, each (B, outputs)."""
        mean, raw = self.layers(prepared(self.encoding, observations)).chunk(2, dim=-1)
        low, high = LOG_STD_RANGE
        # Squashed into the range instead of cut, so that the gradient never dies at its ends.
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
    # log(1 - tanh(u)^2) written so that it neither overflows nor loses all digits.
    slope = 2.0 * (math.log(2.0) - unsquashed - nn.functional.softplus(-2.0 * unsquashed))
    return unsquashed.tanh(), (normal - slope).sum(-1)


class Critics(nn.Module):
    """Independent values of (observation, action), evaluated together.

    Args:
        count: How many.
        encoding: What observations are: a vector.
        outputs: Numbers of an action.
        hidden: Widths of the hidden layers, rectified.
    """

    def __init__(self, count: int, encoding: Encoding, outputs: int, hidden: Sequence[int]) -> None:
        super().__init__()
        self.encoding = encoding
        self.layers = [Heads(count, a, b) for a, b in pairwise((encoding.inputs + outputs, *hidden, 1))]
        for i, layer in enumerate(self.layers):
            self.add_module(str(i), layer)

    def forward(self, observations: Tensor, actions: Tensor, first: bool = False) -> Tensor:
        """Values of observations (B, *shape) and actions (B, outputs) in [-1, 1].

        Returns:
            (count, B), or (1, B) of the ``first`` critic alone.
        """
        count = 1 if first else len(self.layers[0].weight)
        x = torch.cat((prepared(self.encoding, observations), actions), -1).expand(count, -1, -1)
        for i, layer in enumerate(self.layers):
            x = torch.baddbmm(layer.bias[:count], x if i == 0 else x.relu(), layer.weight[:count])
        return x.squeeze(-1)


class ActorAndCritics(nn.Module):
    """An actor beside the critics that judge it, as a continuous policy is kept.

    Args:
        encoding: What observations are: a vector.
        outputs: Numbers of an action.
        hidden: Widths of the hidden layers of actor and critics.
        gaussian: A :class:`GaussianActor` instead of a :class:`DeterministicActor`.
        critics: How many critics.
    """

    def __init__(
        self, encoding: Encoding, outputs: int, hidden: Sequence[int], *, gaussian: bool, critics: int
    ) -> None:
        super().__init__()
        self.encoding, self.hidden, self.gaussian, self.count = encoding, tuple(hidden), gaussian, critics
        self.actor = (GaussianActor if gaussian else DeterministicActor)(encoding, outputs, hidden)
        self.critics = Critics(critics, encoding, outputs, hidden)

    def to_json(self) -> dict[str, Any]:
        """What it is, for ``policy.json``."""
        return {
            "type": "gaussian_actor" if self.gaussian else "deterministic_actor",
            "encoder": self.encoding.to_json(),
            "hidden": list(self.hidden),
            "activation": "relu",
            "critics": self.count,
        }

    def initialise(self, generator: torch.Generator) -> None:
        """Draw the first parameters."""
        fan_in_uniform(self, generator)


@torch.no_grad()
def follow(target: nn.Module, online: nn.Module, tau: float) -> None:
    """Move ``target`` the fraction ``tau`` of the way to ``online`` (1 copies it)."""
    for kept, new in zip(target.parameters(), online.parameters(), strict=True):
        kept.lerp_(new, tau)
