"""What plays: the acting half of XuanCe's policies, as a description and as plain torch modules.

An agent's network is a *representation* (layers, perhaps with a memory) and a *head*. XuanCe shows an agent
that shares its network with others which of them it is, as a one-hot between the two. Modules and parameters
bear the library's names, so that its weights load strictly.
"""

# torch annotates only part of its functions.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, cast

import torch
from torch import Tensor, nn

TYPE = "xuance"
"""``type`` of the network in ``policy.json``."""

Kind = Literal["categorical", "values", "gaussian", "squashed", "deterministic"]
_KINDS = ("categorical", "values", "gaussian", "squashed", "deterministic")
ACTIVATIONS: Mapping[str, type[nn.Module]] = {
    "relu": nn.ReLU,
    "leaky_relu": nn.LeakyReLU,
    "tanh": nn.Tanh,
    "sigmoid": nn.Sigmoid,
    "elu": nn.ELU,
}
LARGEST = 65_536
"""Of a width, and of the layers together far more than anybody has."""


@dataclass(frozen=True)
class Network:
    """What the weights of an agent are.

    Attributes:
        kind: What the head gives: ``categorical`` logits, ``values`` of actions, the means of a ``gaussian``
            or ``squashed`` normal distribution, ``deterministic`` actions.
        inputs: Numbers of the observation.
        outputs: Actions, or numbers of an action.
        agents: How many share the network, which is told behind the observation; 0: nobody.
        representation: Widths of the layers before the one-hot; of a memory, those before it.
        head: Widths of the head's inner layers.
        activation: Between layers, a key of :data:`ACTIVATIONS`.
        layer_norm: Layers are normalised.
        cell: ``GRU`` or ``LSTM``, or empty where nothing is remembered.
        memory: Width of the memory.
        memory_layers: Its layers.
        bound: What bounds the numbers of an action, a key of :data:`ACTIVATIONS`; empty: nothing.
        scaled: The numbers lie between -1 and 1 and are scaled to the bounds of the actions.
    """

    kind: Kind
    inputs: int
    outputs: int
    agents: int = 0
    representation: tuple[int, ...] = ()
    head: tuple[int, ...] = ()
    activation: str = "relu"
    layer_norm: bool = False
    cell: str = ""
    memory: int = 0
    memory_layers: int = 1
    bound: str = ""
    scaled: bool = False

    def to_json(self) -> dict[str, Any]:
        """``network`` of ``policy.json``."""
        return {"type": TYPE, **{k: list(v) if isinstance(v, tuple) else v for k, v in asdict(self).items()}}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Network:
        """Read ``network`` of ``policy.json``.

        Raises:
            ValueError: It is none that this version builds; the message says why.
        """
        if data.get("type") != TYPE:
            raise ValueError(f"its network is of type {data.get('type')!r}, not {TYPE!r}")
        known = {each.name for each in fields(cls)}
        given = {key: value for key, value in data.items() if key != "type"}
        if strange := sorted(given.keys() - known):
            raise ValueError(f"its network has {strange[0]!r}, which this version does not know")
        try:
            read: dict[str, Any] = {
                k: tuple(int(n) for n in cast("list[Any]", v)) if isinstance(v, list) else v
                for k, v in given.items()
            }
            made = cls(**read)
        except (TypeError, ValueError) as error:
            raise ValueError(f"its network is incomplete or of wrong types ({error})") from error
        made.check()
        return made

    def check(self) -> None:
        """See that it can be built.

        Raises:
            ValueError: It cannot.
        """
        if self.kind not in _KINDS:
            raise ValueError(f"its network is of kind {self.kind!r}, which this version does not know")
        if self.activation not in ACTIVATIONS or self.bound not in ("", *ACTIVATIONS):
            raise ValueError(
                f"its network has the activation {self.activation!r} or {self.bound!r}, unknown here"
            )
        if self.cell not in ("", "GRU", "LSTM"):
            raise ValueError(f"its network remembers with a {self.cell!r}, which is unknown here")
        widths = [
            self.inputs,
            self.outputs,
            *self.representation,
            *self.head,
            *([self.memory] * bool(self.cell)),
        ]
        whole = [self.agents, self.memory_layers, *widths]
        if not all(type(width) is int and 0 <= width <= LARGEST for width in whole) or 0 in widths:
            raise ValueError("its network has a width that cannot be")
        if len(self.representation) + len(self.head) + self.memory_layers > 64:
            raise ValueError("its network has more layers than can be")

    @property
    def remembered(self) -> int:
        """Numbers that it remembers of an episode."""
        return self.memory_layers * self.memory * {"": 0, "GRU": 1, "LSTM": 2}[self.cell]

    def build(self) -> PlayingNetwork:
        """The network, its weights unset."""
        return PlayingNetwork(self)


class PlayingNetwork(nn.Module):
    """A network that plays; XuanCe's names of parameters stand behind ``representation`` and ``head``."""

    def __init__(self, network: Network) -> None:
        super().__init__()
        self.network = network
        self.representation = Recurrent(network) if network.cell else Plain(network)
        self.head = HEADS[network.kind](network, _features(network) + network.agents)

    def forward(self, seen: Tensor, memory: Tensor) -> tuple[Tensor, Tensor | None, Tensor]:
        """Outputs for observations.

        Args:
            seen: float32 (N, inputs + agents), the one-hot behind the observation.
            memory: float32 (N, remembered).

        Returns:
            Logits, values, means or actions (N, outputs); deviations, where there are any; the memory after.
        """
        observation, mark = seen[:, : self.network.inputs], seen[:, self.network.inputs :]
        features, memory = self.representation(observation, memory)
        first, deviation = self.head(torch.cat([features, mark], dim=1) if self.network.agents else features)
        return first, deviation, memory


def _features(network: Network) -> int:
    if network.cell:
        return network.memory
    return network.representation[-1] if network.representation else network.inputs


def _layers(network: Network, inputs: int, widths: tuple[int, ...]) -> list[nn.Module]:
    made: list[nn.Module] = []
    for width in widths:
        made += [nn.Linear(inputs, width), ACTIVATIONS[network.activation]()]
        made += [nn.LayerNorm(width)] if network.layer_norm else []
        inputs = width
    return made


class Plain(nn.Module):
    """``Basic_MLP``, and ``Basic_Identical`` where it has no layers."""

    def __init__(self, network: Network) -> None:
        super().__init__()
        self.model = nn.Sequential(*_layers(network, network.inputs, network.representation))

    def forward(self, observation: Tensor, memory: Tensor) -> tuple[Tensor, Tensor]:
        return self.model(observation), memory


class Recurrent(nn.Module):
    """``Basic_RNN``, one step at a time."""

    def __init__(self, network: Network) -> None:
        super().__init__()
        inputs = network.representation[-1] if network.representation else network.inputs
        self.mlp = nn.Sequential(*_layers(network, network.inputs, network.representation))
        cell = nn.LSTM if network.cell == "LSTM" else nn.GRU
        self.rnn = cell(inputs, network.memory, network.memory_layers, batch_first=True)
        self._shape = (network.memory_layers, network.memory)
        if network.layer_norm:
            self.input_norm, self.norm_rnn = nn.LayerNorm(network.inputs), nn.LayerNorm(network.memory)

    def forward(self, observation: Tensor, memory: Tensor) -> tuple[Tensor, Tensor]:
        normal = hasattr(self, "norm_rnn")
        shown = self.mlp(self.input_norm(observation) if normal else observation).unsqueeze(1)
        parts = memory.reshape(len(memory), -1, *self._shape).permute(1, 2, 0, 3).contiguous()
        lstm = isinstance(self.rnn, nn.LSTM)
        out, after = self.rnn(shown, (parts[0], parts[1]) if lstm else parts[0])
        kept = torch.stack(after if lstm else (after,)).permute(2, 0, 1, 3).reshape(len(memory), -1)
        features = out.squeeze(1)
        return self.norm_rnn(features) if normal else features, kept


class Values(nn.Module):
    """``BasicQhead``, ``CategoricalActorNet`` and ``ActorNet``: one number for each output."""

    def __init__(self, network: Network, inputs: int) -> None:
        super().__init__()
        self.model = nn.Sequential(*_stack(network, inputs))

    def forward(self, features: Tensor) -> tuple[Tensor, Tensor | None]:
        return self.model(features), None


class Gaussian(nn.Module):
    """``GaussianActorNet``: a mean for each number of the action, and a deviation that is always the same."""

    def __init__(self, network: Network, inputs: int) -> None:
        super().__init__()
        self.mu = nn.Sequential(*_stack(network, inputs))
        self.logstd = nn.Parameter(torch.zeros(network.outputs))

    def forward(self, features: Tensor) -> tuple[Tensor, Tensor | None]:
        mean = self.mu(features)
        return mean, self.logstd.exp().expand_as(mean)


class Squashed(nn.Module):
    """``GaussianActorNet_SAC``: means and deviations before what bounds them."""

    def __init__(self, network: Network, inputs: int) -> None:
        super().__init__()
        last = network.head[-1] if network.head else inputs
        self.output = nn.Sequential(*_layers(network, inputs, network.head))
        self.out_mu, self.out_log_std = nn.Linear(last, network.outputs), nn.Linear(last, network.outputs)

    def forward(self, features: Tensor) -> tuple[Tensor, Tensor | None]:
        inner = self.output(features)
        return self.out_mu(inner), self.out_log_std(inner).clamp(-20, 2).exp()


HEADS: Mapping[str, type[Values] | type[Gaussian] | type[Squashed]] = {
    "categorical": Values,
    "values": Values,
    "deterministic": Values,
    "gaussian": Gaussian,
    "squashed": Squashed,
}


def _stack(network: Network, inputs: int) -> list[nn.Module]:
    """Inner layers and the last one, with what bounds it where the library puts it into the stack."""
    last = network.head[-1] if network.head else inputs
    bounded = network.bound and network.kind in ("deterministic", "gaussian")
    bound = [ACTIVATIONS[network.bound]()] if bounded else []
    return [*_layers(network, inputs, network.head), nn.Linear(last, network.outputs), *bound]
