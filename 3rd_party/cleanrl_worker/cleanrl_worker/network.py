"""Networks of the actor-critic algorithms, and the layers of which all networks are built."""

# torch annotates only part of its functions.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn

from cleanrl_worker.architecture import Architecture, Encoding

ACTIVATIONS = {"tanh": nn.Tanh, "relu": nn.ReLU}


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
        """Map ``(…, width_in)`` to ``(…, width_out)``."""
        return nn.functional.linear(x, self.weight, self.bias)


class Conv2d(nn.Module):
    """A convolution whose parameters are left unset."""

    def __init__(self, channels_in: int, channels_out: int, size: int, stride: int = 1) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(channels_out, channels_in, size, size))
        self.bias = nn.Parameter(torch.empty(channels_out))
        self.stride = stride

    def forward(self, x: Tensor) -> Tensor:
        """Map ``(N, channels_in, H, W)`` to ``(N, channels_out, …)``."""
        return nn.functional.conv2d(x, self.weight, self.bias, self.stride)


class LSTMCell(nn.Module):
    """One step of an LSTM whose parameters are left unset.

    Source: Hochreiter and Schmidhuber, "Long Short-Term Memory", 1997.
    """

    def __init__(self, width_in: int, size: int) -> None:
        super().__init__()
        self.size = size
        self.weight_ih = nn.Parameter(torch.empty(4 * size, width_in))
        self.weight_hh = nn.Parameter(torch.empty(4 * size, size))
        self.bias_ih = nn.Parameter(torch.empty(4 * size))
        self.bias_hh = nn.Parameter(torch.empty(4 * size))

    def forward(self, x: Tensor, memory: Tensor) -> Tensor:
        """Return the next memory for inputs ``(N, width_in)`` and memory ``(N, 2 size)``."""
        hidden, cell = memory.chunk(2, -1)
        linear = nn.functional.linear
        gates = linear(x, self.weight_ih, self.bias_ih) + linear(hidden, self.weight_hh, self.bias_hh)
        enter, forget, content, leave = gates.chunk(4, -1)
        cell = forget.sigmoid() * cell + enter.sigmoid() * content.tanh()
        return torch.cat([leave.sigmoid() * cell.tanh(), cell], -1)

    def through(self, x: Tensor, memory: Tensor) -> tuple[Tensor, Tensor]:
        """Process many steps at once, for learning; this is 20 times as fast as single steps.

        Args:
            x: (T, N, width_in).
            memory: (N, 2 size), before the first step.

        Returns:
            Outputs (T, N, size), and the memory (N, 2 size) after the last step.
        """
        hidden, cell = (part.unsqueeze(0).contiguous() for part in memory.chunk(2, -1))
        weights: tuple[Tensor, ...] = (self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        # With biases, one layer, no dropout, one direction, time first.
        outputs, hidden, cell = torch.lstm(
            x, (hidden, cell), weights, True, 1, 0.0, self.training, False, False
        )
        return outputs, torch.cat([hidden[0], cell[0]], -1)


def perceptron(widths: Sequence[int], activation: str = "tanh", last: bool = False) -> nn.Sequential:
    """Build affine layers with an activation between them; ``last`` adds one after the last layer."""
    layers: list[nn.Module] = []
    for width_in, width_out in pairwise(widths):
        layers += [Linear(width_in, width_out), ACTIVATIONS[activation]()]
    return nn.Sequential(*(layers if last else layers[:-1]))


def initialise(module: nn.Module, generator: torch.Generator, gain: float = math.sqrt(2.0)) -> None:
    """Set orthogonal weights and zero biases in every layer of ``module``.

    Args:
        module: Module that contains the layers.
        generator: Generator for the random numbers.
        gain: Scale of the weights; sqrt(2) for hidden layers, another value for outputs (details 2 and 13 of
            Huang et al. 2022).
    """
    for layer in module.modules():
        if isinstance(layer, (Linear, Conv2d, LSTMCell)):
            for name, parameter in layer.named_parameters(recurse=False):
                if name.startswith("weight"):
                    spread = 1.0 if isinstance(layer, LSTMCell) else gain
                    nn.init.orthogonal_(parameter, spread, generator=generator)
                else:
                    nn.init.zeros_(parameter)


def prepared(encoding: Encoding, observations: Tensor) -> Tensor:
    """Convert raw observations (N, *shape) to float32: (N, inputs), or (N, channels, height, width)."""
    x = observations.float()
    if encoding.scale != 1.0:
        x = x * encoding.scale
    if not encoding.images:
        return x.flatten(1)
    if encoding.layout == "hwc":
        x = x.permute(0, 3, 1, 2)
    elif encoding.layout == "shwc":
        x = x.permute(0, 1, 4, 2, 3).flatten(1, 2)
    return x.contiguous()


def image_layers(encoding: Encoding) -> nn.Sequential:
    """Build the layers that turn images into ``encoding.units`` features."""
    found: list[nn.Module] = []
    for channels_in, channels_out, size, stride in encoding.convolutions:
        found += [Conv2d(channels_in, channels_out, size, stride), nn.ReLU()]
    return nn.Sequential(*found, nn.Flatten(), Linear(encoding.convolved, encoding.units), nn.ReLU())


class ActorCritic(nn.Module):
    """Policy and value function.

    Vectors use two perceptrons without shared layers. Images use shared convolutions with one affine layer
    for each output. Names of parameters are those of CleanRL's scripts.

    Parameters are left unset: call :meth:`initialise` to train, or load a state dict.
    """

    def __init__(self, architecture: Architecture) -> None:
        super().__init__()
        self.architecture = a = architecture
        self._images = a.encoding.images
        if self._images:
            self.network, width = image_layers(a.encoding), a.encoding.units
            actor = Linear(width, a.outputs)
            self.critic = Linear(width, 1) if a.critic else None
        else:
            actor = perceptron((a.encoding.inputs, *a.hidden, a.outputs))
            self.critic = perceptron((a.encoding.inputs + a.central, *a.hidden, 1)) if a.critic else None
        if a.continuous:
            self.actor_mean = actor
            self.actor_logstd = nn.Parameter(torch.empty(1, a.outputs))
        else:
            self.actor = actor

    def initialise(self, generator: torch.Generator) -> None:
        """Set orthogonal weights with gain 0.01 for the policy's output and 1 for the value's."""
        actor = self.actor_mean if self.architecture.continuous else self.actor
        if self._images:
            initialise(self.network, generator)
        assert self.critic is not None
        for part, last_gain in ((actor, 0.01), (self.critic, 1.0)):
            layers = [m for m in part.modules() if isinstance(m, Linear)]
            for layer in layers:
                initialise(layer, generator, last_gain if layer is layers[-1] else math.sqrt(2.0))
        if self.architecture.continuous:
            nn.init.zeros_(self.actor_logstd)

    def forward(self, observations: Tensor) -> tuple[Tensor, Tensor | None]:
        """Return parameters of the action distribution, and values.

        Args:
            observations: Shape (N, *shape), as the policy takes them; (N, inputs + central) if the value
                function has extra inputs.

        Returns:
            Shape (N, outputs), for a Gaussian (N, 2 outputs): means, then logarithms of the
            standard deviations. Values of shape (N,), ``None`` without a value function.
        """
        a = self.architecture
        x = prepared(a.encoding, observations)
        if self._images:
            x = self.network(x)
        values = None if self.critic is None else self.critic(x).squeeze(-1)
        if a.central:
            x = x[:, : a.encoding.inputs]
        if not self.architecture.continuous:
            return self.actor(x), values
        mean = self.actor_mean(x)
        return torch.cat([mean, self.actor_logstd.expand_as(mean)], -1), values


class RecurrentActorCritic(nn.Module):
    """Policy and value function with a shared LSTM."""

    def __init__(self, architecture: Architecture) -> None:
        super().__init__()
        self.architecture = a = architecture
        if a.encoding.images:
            self.network, width = image_layers(a.encoding), a.encoding.units
        else:
            width = a.hidden[-1]
            self.network = perceptron((a.encoding.inputs, *a.hidden), last=True)
        self.lstm = LSTMCell(width, a.lstm_size)
        self.actor, self.critic = Linear(a.lstm_size, a.outputs), None
        if a.critic:
            wide = perceptron((a.encoding.inputs + a.central, *a.hidden, 1)) if a.central else None
            self.critic = wide or Linear(a.lstm_size, 1)
        if a.continuous:
            self.actor_logstd = nn.Parameter(torch.empty(1, a.outputs))

    def initialise(self, generator: torch.Generator) -> None:
        """Set initial weights as :meth:`ActorCritic.initialise` does."""
        initialise(self.network, generator)
        initialise(self.lstm, generator)
        initialise(self.actor, generator, 0.01)
        assert self.critic is not None
        layers = [module for module in self.critic.modules() if isinstance(module, Linear)]
        for layer in layers:
            initialise(layer, generator, 1.0 if layer is layers[-1] else math.sqrt(2.0))
        if self.architecture.continuous:
            nn.init.zeros_(self.actor_logstd)

    def features(self, observations: Tensor) -> Tensor:
        """Return the inputs of the LSTM, (N, features), for observations (N, *shape)."""
        x = prepared(self.architecture.encoding, observations)
        return self.network(x[:, : self.architecture.encoding.inputs] if self.architecture.central else x)

    def heads(self, hidden: Tensor, observations: Tensor) -> tuple[Tensor, Any]:
        """Return the outputs of :meth:`ActorCritic.forward` from the first half of the memory.

        If the value function has extra inputs, it uses the observations instead of the memory.
        """
        a = self.architecture
        mean = self.actor(hidden)
        values: Tensor | None = None
        if self.critic is not None:
            values = self.critic(prepared(a.encoding, observations) if a.central else hidden).squeeze(-1)
        if not a.continuous:
            return mean, values
        return torch.cat([mean, self.actor_logstd.expand_as(mean)], -1), values

    def forward(self, observations: Tensor, memory: Tensor) -> tuple[Tensor, Any, Tensor]:
        """Process one step: return distribution parameters, values and the new memory (N, 2 lstm_size)."""
        memory = self.lstm(self.features(observations), memory)
        return (*self.heads(memory[..., : self.architecture.lstm_size], observations), memory)
