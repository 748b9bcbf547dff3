"""The networks of the actor-critic algorithms, and the layers all networks are made of."""

# torch annotates only part of its functions.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn

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
        """``(…, width_in)`` to ``(…, width_out)``."""
        return affine(x, self.weight, self.bias)


def affine(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """``(N, width_in)`` to ``(N, width_out)``; at play, a row's bits do not depend on its place among the N.

    Where there are few outputs, the matrix library adds up a row in an order that depends on where
    in a cache line it begins. Zeros behind each row make all rows begin alike.
    """
    short = -x.shape[-1] % 16  # float32 in a cache line of 64 bytes
    if short and weight.shape[0] < 16 and torch.is_inference_mode_enabled():
        x, weight = nn.functional.pad(x, (0, short)), nn.functional.pad(weight, (0, short))
    return nn.functional.linear(x, weight, bias)


class Conv2d(nn.Module):
    """A convolution whose parameters are left unset."""

    def __init__(self, channels_in: int, channels_out: int, size: int, stride: int = 1) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(channels_out, channels_in, size, size))
        self.bias = nn.Parameter(torch.empty(channels_out))
        self.stride = stride

    def forward(self, x: Tensor) -> Tensor:
        """``(N, channels_in, H, W)`` to ``(N, channels_out, …)``."""
        return nn.functional.conv2d(x, self.weight, self.bias, self.stride)


class LSTMCell(nn.Module):
    """One step of a long short-term memory whose parameters are left unset.

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
        """``(N, width_in)`` and memory ``(N, 2 size)`` to the next memory; its first half is the output."""
        hidden, cell = memory.chunk(2, -1)
        gates = affine(x, self.weight_ih, self.bias_ih) + affine(hidden, self.weight_hh, self.bias_hh)
        enter, forget, content, leave = gates.chunk(4, -1)
        cell = forget.sigmoid() * cell + enter.sigmoid() * content.tanh()
        return torch.cat([leave.sigmoid() * cell.tanh(), cell], -1)

    def through(self, x: Tensor, memory: Tensor) -> tuple[Tensor, Tensor]:
        """Many steps at once, for learning: 20 times as fast as one by one.

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
    """Affine layers with an activation in between, and after the last one too where ``last``."""
    layers: list[nn.Module] = []
    for width_in, width_out in pairwise(widths):
        layers += [Linear(width_in, width_out), ACTIVATIONS[activation]()]
    return nn.Sequential(*(layers if last else layers[:-1]))


def initialise(module: nn.Module, generator: torch.Generator, gain: float = math.sqrt(2.0)) -> None:
    """Orthogonal weights and zero biases for every layer in ``module``.

    Args:
        module: Whose layers.
        generator: What to draw from.
        gain: Spread of the weights; sqrt(2) inside, another for outputs (details 2 and 13 of
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


# -- from observations to features -------------------------------------------------------


@dataclass(frozen=True)
class Encoding:
    """How observations become numbers that layers take.

    Attributes:
        kind: ``mlp`` (one vector), ``nature_cnn`` (images from 36 pixels) or ``small_cnn``.
        shape: Of one observation.
        layout: Axes of an image: ``hwc``, ``chw``, ``shwc`` (a stack of colour images); empty for a vector.
        scale: What observations are multiplied with first.
    """

    kind: str
    shape: tuple[int, ...]
    layout: str = ""
    scale: float = 1.0

    @classmethod
    def of(cls, shape: Sequence[int], is_bytes: bool) -> Encoding:
        """What fits observations of this shape.

        Args:
            shape: Of one observation.
            is_bytes: Whether they are uint8.
        """
        shape = tuple(int(n) for n in shape)
        layout = _layout(shape)
        height, width = _size(shape, layout) if layout else (0, 0)
        if min(height, width) >= 36:
            return cls("nature_cnn", shape, layout, 1 / 255 if is_bytes else 1.0)
        if min(height, width) >= 4:
            # Grid worlds number their objects, colours and states from 0 to 10.
            return cls("small_cnn", shape, layout, 0.1 if is_bytes else 1.0)
        return cls("mlp", shape, "", 1 / 255 if is_bytes else 1.0)

    def to_json(self) -> dict[str, Any]:
        """Plain data from which :meth:`from_json` makes an equal encoding."""
        return {"kind": self.kind, "shape": list(self.shape), "layout": self.layout, "scale": self.scale}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Encoding:
        """Read an encoding.

        Raises:
            ValueError: It is none that this version can build.
        """
        kind, shape, layout = data["kind"], tuple(data["shape"]), str(data["layout"])
        if kind not in ("mlp", "nature_cnn", "small_cnn"):
            raise ValueError(f"its encoder is of an unknown kind: {kind!r}")
        if not all(type(n) is int and 0 < n <= 65_536 for n in shape) or math.prod(shape) > 2**24:
            raise ValueError(f"its encoder takes observations of shape {shape!r}")
        fits = {"": 0, "hwc": 3, "chw": 3, "shwc": 4}.get(layout, -1)
        least = {"mlp": 0, "small_cnn": 4, "nature_cnn": 36}[kind]
        if fits < 0 or (fits > 0) != (kind != "mlp") or (fits and len(shape) != fits):
            raise ValueError(f"its encoder lays {shape} out as {layout!r}")
        if fits and min(_size(shape, layout)) < least:
            raise ValueError(f"its encoder takes images from {least} pixels, not {shape}")
        return cls(kind, shape, layout, float(data["scale"]))

    @property
    def images(self) -> bool:
        """Whether it has layers of its own."""
        return self.kind != "mlp"

    @property
    def inputs(self) -> int:
        """Length of the flattened observation."""
        return math.prod(self.shape)

    def prepared(self, observations: Tensor) -> Tensor:
        """Raw observations (N, *shape) as float32: (N, inputs), or (N, channels, height, width)."""
        x = observations.float()
        if self.scale != 1.0:
            x = x * self.scale
        if not self.images:
            return x.flatten(1)
        if self.layout == "hwc":
            x = x.permute(0, 3, 1, 2)
        elif self.layout == "shwc":
            x = x.permute(0, 1, 4, 2, 3).flatten(1, 2)
        return x.contiguous()

    def layers(self) -> tuple[list[nn.Module], int]:
        """Convolutions for images and the length of the feature vector behind them."""
        height, width = _size(self.shape, self.layout)
        channels = {"hwc": self.shape[-1], "chw": self.shape[0]}.get(
            self.layout, self.shape[0] * self.shape[-1]
        )
        if self.kind == "nature_cnn":  # Mnih et al., "Human-level control through deep RL", 2015
            sizes, units = ((32, 8, 4), (64, 4, 2), (64, 3, 1)), 512
        else:
            sizes, units = ((16, 2, 1), (32, 2, 1), (64, 2, 1)), 128
        found: list[nn.Module] = []
        for out, size, stride in sizes:
            found += [Conv2d(channels, out, size, stride), nn.ReLU()]
            height, width, channels = (height - size) // stride + 1, (width - size) // stride + 1, out
        found += [nn.Flatten(), Linear(channels * height * width, units), nn.ReLU()]
        return found, units


def _layout(shape: tuple[int, ...]) -> str:
    if len(shape) == 4:
        return "shwc"
    if len(shape) == 3:
        return "chw" if shape[0] < shape[-1] else "hwc"
    return ""


def _size(shape: tuple[int, ...], layout: str) -> tuple[int, int]:
    """Height and width."""
    at = layout.index("h")
    return shape[at], shape[at + 1]


# -- actor and critic ----------------------------------------------------------------------


@dataclass(frozen=True)
class Architecture:
    """What has to be known to build an :class:`ActorCritic` again.

    Attributes:
        encoding: What observations are.
        outputs: Numbers that the policy's head takes.
        continuous: Whether the head is a Gaussian, whose spread is a parameter.
        hidden: Widths of the hidden layers; not used for images without memory.
        lstm_size: Width of the memory; 0 where there is none.
        central: Numbers behind each observation that the value function alone looks at.
        critic: Whether there is a value function.
    """

    encoding: Encoding
    outputs: int
    continuous: bool = False
    hidden: tuple[int, ...] = (64, 64)
    lstm_size: int = 0
    central: int = 0
    critic: bool = True

    def to_json(self) -> dict[str, Any]:
        """``network`` of ``policy.json``."""
        data: dict[str, Any] = {
            "type": f"actor{'_critic' if self.critic else ''}{'_lstm' if self.lstm_size else ''}",
            "encoder": self.encoding.to_json(),
            "hidden": list(self.hidden),
            "activation": "tanh",
        }
        return {**data, "lstm_size": self.lstm_size} if self.lstm_size else data

    @classmethod
    def from_json(
        cls, data: Mapping[str, Any], encoding: Encoding, outputs: int, continuous: bool
    ) -> Architecture:
        """Read ``network`` of ``policy.json``, in format 1 too.

        Args:
            data: It.
            encoding: What fits the input space, where the file names none.
            outputs: Numbers that the head of the action space takes.
            continuous: Whether that is a Gaussian.

        Raises:
            ValueError: It is no network that this version can build.
        """
        if data["activation"] != "tanh":
            raise ValueError(f"its network is of an unknown kind: {dict(data)!r}")
        if "encoder" in data:
            found = Encoding.from_json(data["encoder"])
            if found.shape != encoding.shape:
                raise ValueError(f"its network takes {found.shape}, its input space has {encoding.shape}")
            encoding = found
        memory = data.get("lstm_size", 0)
        if type(memory) is not int or not 0 <= memory <= 65_536:
            raise ValueError(f"its memory is {memory!r} wide")
        kind = str(data["type"])
        if bool(memory) != kind.endswith("_lstm"):
            raise ValueError(f"its network is of an unknown kind: {dict(data)!r}")
        critic = kind not in ("actor", "actor_lstm")
        return cls(encoding, outputs, continuous, widths(data["hidden"]), memory, critic=critic)


def widths(values: Any) -> tuple[int, ...]:
    """Checked widths of hidden layers.

    Raises:
        ValueError: They are none.
    """
    found = tuple(values)
    if not found or len(found) > 16 or not all(type(w) is int and 1 <= w <= 65_536 for w in found):
        raise ValueError(f"its hidden widths are {values!r}")
    return found


class ActorCritic(nn.Module):
    """Policy and value function.

    Vectors: two perceptrons without shared layers. Images: shared convolutions, one affine layer
    each on top. Names of parameters are those of CleanRL's scripts.

    Parameters are left unset: call :meth:`initialise` to train, or load a state dict.
    """

    def __init__(self, architecture: Architecture) -> None:
        super().__init__()
        self.architecture = a = architecture
        self._images = a.encoding.images
        if self._images:
            layers, width = a.encoding.layers()
            self.network = nn.Sequential(*layers)
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
        """Orthogonal weights; 0.01 for the policy's output and 1 for the value's; spread 1."""
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
        """Parameters of the action distribution, and values.

        Args:
            observations: shape (N, *shape), as the policy is shown them; (N, inputs + central) where the
                value function looks at more.

        Returns:
            Shape (N, outputs), for a Gaussian (N, 2 outputs): means, then logarithms of the
            standard deviations. Values of shape (N,), ``None`` without a value function.
        """
        a = self.architecture
        x = a.encoding.prepared(observations)
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
    """Policy and value function on top of a shared memory."""

    def __init__(self, architecture: Architecture) -> None:
        super().__init__()
        self.architecture = a = architecture
        if a.encoding.images:
            layers, width = a.encoding.layers()
            self.network = nn.Sequential(*layers)
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
        """See :meth:`ActorCritic.initialise`."""
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
        """What the memory is fed with, (N, *shape) to (N, features)."""
        x = self.architecture.encoding.prepared(observations)
        return self.network(x[:, : self.architecture.encoding.inputs] if self.architecture.central else x)

    def heads(self, hidden: Tensor, observations: Tensor) -> tuple[Tensor, Any]:
        """As :meth:`ActorCritic.forward`, from the first half of the memory; values from what is central."""
        a = self.architecture
        mean = self.actor(hidden)
        values: Tensor | None = None
        if self.critic is not None:
            values = self.critic(a.encoding.prepared(observations) if a.central else hidden).squeeze(-1)
        if not a.continuous:
            return mean, values
        return torch.cat([mean, self.actor_logstd.expand_as(mean)], -1), values

    def forward(self, observations: Tensor, memory: Tensor) -> tuple[Tensor, Any, Tensor]:
        """One step: distribution parameters, values, and memory (N, 2 lstm_size) after it."""
        memory = self.lstm(self.features(observations), memory)
        return (*self.heads(memory[..., : self.architecture.lstm_size], observations), memory)
