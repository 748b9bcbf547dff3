"""Describes the acting part of XuanCe's policies and runs it in NumPy.

An agent's network has a *representation* (layers, perhaps with a memory) and a *head*. If agents share a
network, XuanCe inserts a one-hot of the agent between the two. Parameters have the library's names.
"""

# torch annotates only part of its functions.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, cast

import numpy as np

from mosaic_worker.playing.layers import (
    ACTIVATIONS,
    Columns,
    Layer,
    RecurrentLayers,
    Weights,
    chain,
    layer_norm,
    linear,
)

TYPE = "xuance"
"""``type`` of the network in ``policy.json``."""

Kind = Literal["categorical", "values", "gaussian", "squashed", "deterministic"]
_KINDS = ("categorical", "values", "gaussian", "squashed", "deterministic")
KNOWN = ("relu", "leaky_relu", "tanh", "sigmoid", "elu")
"""Known activations, keys of :data:`mosaic_worker.playing.layers.ACTIVATIONS`."""
LARGEST = 65_536
"""Largest width of a layer, far above those of trained networks."""


@dataclass(frozen=True)
class Network:
    """Description of an agent's network.

    Attributes:
        kind: Output of the head: ``categorical`` logits, ``values`` of actions, the means of a ``gaussian``
            or ``squashed`` normal distribution, or ``deterministic`` actions.
        inputs: Length of the observation.
        outputs: Number of actions, or length of an action.
        agents: Number of agents that share the network, each with a one-hot; 0 if it is not shared.
        representation: Widths of the layers before the one-hot; with a memory, of the layers before the
            memory.
        head: Widths of the head's inner layers.
        activation: Activation between layers, one of :data:`KNOWN`.
        layer_norm: Whether layers are normalized.
        cell: ``GRU`` or ``LSTM``; empty without a memory.
        memory: Width of the memory.
        memory_layers: Number of layers of the memory.
        bound: Activation that bounds the numbers of an action, one of :data:`KNOWN`; empty for none.
        scaled: Whether numbers between -1 and 1 are scaled to the bounds of the actions.
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
        """Return the entry ``network`` of ``policy.json``."""
        return {"type": TYPE, **{k: list(v) if isinstance(v, tuple) else v for k, v in asdict(self).items()}}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Network:
        """Read the entry ``network`` of ``policy.json``.

        Raises:
            ValueError: This version cannot build the network; the message says why.
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
        """Check that the network can be built.

        Raises:
            ValueError: The network cannot be built.
        """
        if self.kind not in _KINDS:
            raise ValueError(f"its network is of kind {self.kind!r}, which is unknown")
        if self.activation not in KNOWN or self.bound not in ("", *KNOWN):
            raise ValueError(
                f"its network has the activation {self.activation!r} or {self.bound!r}, which is unknown"
            )
        if self.cell not in ("", "GRU", "LSTM"):
            raise ValueError(f"its network has the recurrent cell {self.cell!r}, which is unknown")
        widths = [
            self.inputs,
            self.outputs,
            *self.representation,
            *self.head,
            *([self.memory] * bool(self.cell)),
        ]
        whole = [self.agents, self.memory_layers, *widths]
        if not all(type(width) is int and 0 <= width <= LARGEST for width in whole) or 0 in widths:
            raise ValueError("its network has an invalid width")
        if len(self.representation) + len(self.head) + self.memory_layers > 64:
            raise ValueError("its network has too many layers")

    @property
    def remembered(self) -> int:
        """Size of the memory from step to step of an episode."""
        return self.memory_layers * self.memory * {"": 0, "GRU": 1, "LSTM": 2}[self.cell]


class PlayingNetwork:
    """A network that plays; XuanCe's parameter names follow the prefixes ``representation`` and ``head``.

    Args:
        network: Description of the network.
        weights: Weights of the network.
    """

    def __init__(self, network: Network, weights: Weights) -> None:
        self.network = network
        represent = _recurrent if network.cell else _plain
        self._represent = represent(network, weights.under("representation"))
        features = network.inputs
        if network.representation:
            features = network.representation[-1]
        features = (network.memory if network.cell else features) + network.agents
        head = {"gaussian": _gaussian, "squashed": _squashed}.get(network.kind, _values)
        self._head = head(network, weights.under("head"), features)

    def __call__(self, seen: Columns, memory: Columns) -> tuple[Columns, Columns | None, Columns]:
        """Return outputs for observations.

        Args:
            seen: (inputs + agents, COLUMNS), the observation followed by the one-hot.
            memory: (remembered, COLUMNS).

        Returns:
            Logits, values, means or actions (outputs, COLUMNS); deviations, or ``None``; the new memory.
        """
        observation, mark = seen[: self.network.inputs], seen[self.network.inputs :]
        features, memory = self._represent(np.ascontiguousarray(observation), memory)
        shown = np.concatenate([features, mark]) if self.network.agents else features
        first, deviation = self._head(shown)
        return first, deviation, memory


Represent = Callable[[Columns, Columns], tuple[Columns, Columns]]
Head = Callable[[Columns], "tuple[Columns, Columns | None]"]


def _layers(network: Network, weights: Weights, inputs: int, widths: tuple[int, ...]) -> list[Layer]:
    made: list[Layer] = []
    every = 3 if network.layer_norm else 2
    for place, width in enumerate(widths):
        made += [linear(weights.under(str(every * place)), inputs, width), ACTIVATIONS[network.activation]]
        if network.layer_norm:
            made.append(layer_norm(weights.under(str(every * place + 2)), (width,)))
        inputs = width
    return made


def _plain(network: Network, weights: Weights) -> Represent:
    """Build ``Basic_MLP``, or ``Basic_Identical`` if there are no layers."""
    layers = chain(_layers(network, weights.under("model"), network.inputs, network.representation))
    return lambda observation, memory: (layers(observation), memory)


def _recurrent(network: Network, weights: Weights) -> Represent:
    """Build ``Basic_RNN``, which processes one step at a time."""
    inputs = network.representation[-1] if network.representation else network.inputs
    layers = chain(_layers(network, weights.under("mlp"), network.inputs, network.representation))
    memories = RecurrentLayers(
        weights.under("rnn"), network.cell, inputs, network.memory, network.memory_layers
    )
    before, behind = ACTIVATIONS["identity"], ACTIVATIONS["identity"]
    if network.layer_norm:
        before = layer_norm(weights.under("input_norm"), (network.inputs,))
        behind = layer_norm(weights.under("norm_rnn"), (network.memory,))

    def forward(observation: Columns, memory: Columns) -> tuple[Columns, Columns]:
        out, after = memories.step(layers(before(observation)), memory)
        return behind(out), after

    return forward


def _values(network: Network, weights: Weights, inputs: int) -> Head:
    """Build ``BasicQhead``, ``CategoricalActorNet`` or ``ActorNet``: one number for each output."""
    layers = _stack(network, weights.under("model"), inputs)
    return lambda features: (layers(features), None)


def _gaussian(network: Network, weights: Weights, inputs: int) -> Head:
    """Build ``GaussianActorNet``: a mean for each number of the action, with a constant deviation."""
    layers = _stack(network, weights.under("mu"), inputs)
    deviation = np.exp(weights.take("logstd", network.outputs))[:, None]

    def forward(features: Columns) -> tuple[Columns, Columns]:
        mean = layers(features)
        return mean, np.broadcast_to(deviation, mean.shape)

    return forward


def _squashed(network: Network, weights: Weights, inputs: int) -> Head:
    """Build ``GaussianActorNet_SAC``: means and deviations before the bounding activation."""
    last = network.head[-1] if network.head else inputs
    inner = chain(_layers(network, weights.under("output"), inputs, network.head))
    mean, log_std = (linear(weights.under(name), last, network.outputs) for name in ("out_mu", "out_log_std"))

    def forward(features: Columns) -> tuple[Columns, Columns]:
        x = inner(features)
        return mean(x), np.exp(np.clip(log_std(x), -20, 2))

    return forward


def _stack(network: Network, weights: Weights, inputs: int) -> Layer:
    """Build the layers of a head, with the bounding activation if the library has it in the head."""
    last = network.head[-1] if network.head else inputs
    inner = _layers(network, weights, inputs, network.head)
    place = (3 if network.layer_norm else 2) * len(network.head)
    bounded = network.bound and network.kind in ("deterministic", "gaussian")
    bound = [ACTIVATIONS[network.bound]] if bounded else []
    return chain([*inner, linear(weights.under(str(place)), last, network.outputs), *bound])
