"""Playing actor-critic networks, with or without a memory."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from cleanrl_worker.architecture import Architecture, Encoding
from cleanrl_worker.heads import Head, head_of
from mosaic_worker.checkpoint import PolicyDescription
from mosaic_worker.playing.checkpoint_worker import Draws
from mosaic_worker.playing.layers import (
    ACTIVATIONS,
    Columns,
    Layer,
    RecurrentLayers,
    Weights,
    chain,
    convolution,
    flatten,
    linear,
    perceptron,
)

ForwardResult = tuple[Columns, "Columns | None", "Columns | None"]
"""Outputs (k, COLUMNS), values (COLUMNS,) where there are any, and the memory after them."""


class Player(Protocol):
    """A kind of network at play.

    Attributes:
        memory: Numbers it remembers per row from one step to the next; 0 where it has no memory.
        rates_actions: Its outputs are the values of the actions; that of a state is the best legal one's.
    """

    memory: int
    rates_actions: bool

    @classmethod
    def build(cls, description: PolicyDescription, weights: Weights) -> Player:
        """The network that a description asks for.

        Raises:
            ValueError: It asks for none that this version can build; the message says why.
        """
        ...

    def forward(self, shown: Columns, memory: Columns | None) -> ForwardResult:
        """What the network says.

        Args:
            shown: (*shape, COLUMNS), observations as the policy is shown them.
            memory: (memory, COLUMNS), zeros where an episode begins; ``None`` without memory.
        """
        ...

    def act(
        self, outputs: NDArray[np.float64], masks: NDArray[np.bool_] | None, draws: Draws | None
    ) -> NDArray[Any]:
        """Actions in the action space, (BATCH, …), from outputs (BATCH, k); the best ones where ``draws`` is
        ``None``."""
        ...


class ActorCriticPlayer:
    """Plays the networks of PPO, see :class:`Player`.

    Args:
        head: Makes actions of what the network says.
        architecture: Of the network.
        weights: Its own.
    """

    memory = 0
    rates_actions = False

    def __init__(self, head: Head, architecture: Architecture, weights: Weights) -> None:
        self._head, a = head, architecture
        self._features, width = prepared(a.encoding), a.encoding.inputs
        if a.encoding.images:
            self._features, width = image_features(a.encoding, weights.under("network")), a.encoding.units
        hidden = () if a.encoding.images else a.hidden
        actor = weights.under("actor_mean" if a.continuous else "actor")
        self._actor = _top(actor, (width, *hidden, a.outputs))
        self._critic = _top(weights.under("critic"), (width, *hidden, 1)) if a.critic else None
        self._log_std = weights.take("actor_logstd", 1, a.outputs).T if a.continuous else None

    @classmethod
    def build(cls, description: PolicyDescription, weights: Weights) -> ActorCriticPlayer:
        """See :meth:`Player.build`."""
        return cls(*_head_and_architecture(description), weights)

    def forward(self, shown: Columns, memory: Columns | None) -> ForwardResult:
        """Distribution parameters and values."""
        x = self._features(shown)
        return self._params(self._actor(x)), None if self._critic is None else self._critic(x)[0], None

    def _params(self, mean: Columns) -> Columns:
        if self._log_std is None:
            return mean
        return np.concatenate([mean, np.broadcast_to(self._log_std, mean.shape)])

    def act(
        self, outputs: NDArray[np.float64], masks: NDArray[np.bool_] | None, draws: Draws | None
    ) -> NDArray[Any]:
        """Actions in the action space."""
        return self._head.play(outputs, masks, draws)


class RecurrentPlayer(ActorCriticPlayer):
    """Plays the networks of recurrent PPO; as :class:`ActorCriticPlayer`."""

    def __init__(self, head: Head, architecture: Architecture, weights: Weights) -> None:
        self._head, a = head, architecture
        width = a.encoding.units if a.encoding.images else a.hidden[-1]
        self._features = features(a.encoding, weights.under("network"), a.hidden, "tanh")
        self._lstm = RecurrentLayers(weights.under("lstm"), "LSTM", width, a.lstm_size, numbered=False)
        self.memory = self._lstm.memory_size
        self._actor = linear(weights.under("actor"), a.lstm_size, a.outputs)
        self._critic = linear(weights.under("critic"), a.lstm_size, 1) if a.critic else None
        self._log_std = weights.take("actor_logstd", 1, a.outputs).T if a.continuous else None

    def forward(self, shown: Columns, memory: Columns | None) -> ForwardResult:
        """Distribution parameters, values and the memory after them."""
        assert memory is not None
        hidden, after = self._lstm.step(self._features(shown), memory)
        values = None if self._critic is None else self._critic(hidden)[0]
        return self._params(self._actor(hidden)), values, after


def prepared(encoding: Encoding) -> Layer:
    """Raw observations (*shape, COLUMNS) as (inputs, COLUMNS), or (channels, height, width, COLUMNS)."""
    scale = np.float32(encoding.scale)

    def forward(shown: Columns) -> Columns:
        x = shown if encoding.scale == 1.0 else shown * scale
        if not encoding.images:
            return flatten(x)
        if encoding.layout == "hwc":
            return x.transpose(2, 0, 1, 3)
        if encoding.layout == "shwc":
            return x.transpose(0, 3, 1, 2, 4).reshape(-1, *x.shape[1:3], x.shape[-1])
        return x

    return forward


def image_features(encoding: Encoding, weights: Weights) -> Layer:
    """From raw images to ``encoding.units`` features."""
    layers: list[Layer] = [prepared(encoding)]
    for place, (channels_in, channels_out, size, stride) in enumerate(encoding.convolutions):
        own = weights.under(str(2 * place))
        layers += [
            convolution(own, channels_in, channels_out, (size, size), (stride, stride)),
            ACTIVATIONS["relu"],
        ]
    last = weights.under(str(2 * len(encoding.convolutions) + 1))
    return chain([*layers, flatten, linear(last, encoding.convolved, encoding.units), ACTIVATIONS["relu"]])


def features(encoding: Encoding, weights: Weights, hidden: tuple[int, ...], activation: str) -> Layer:
    """From raw observations to the features of images, or of a perceptron with an activation at its end."""
    if encoding.images:
        return image_features(encoding, weights)
    widths = (encoding.inputs, *hidden)
    return chain([prepared(encoding), perceptron(weights, widths, activation, activate_output=True)])


def _top(weights: Weights, widths: tuple[int, ...]) -> Layer:
    """A perceptron, or the one layer behind features, which stands there without a number."""
    return linear(weights, *widths) if len(widths) == 2 else perceptron(weights, widths, "tanh")


def _head_and_architecture(description: PolicyDescription) -> tuple[Head, Architecture]:
    shown = description.shown_space
    if shown.kind != "Box":
        raise ValueError(f"it needs a Box to look at where it has {shown.kind}")
    head = head_of(description.action_space)
    encoding = (
        Encoding("mlp", shown.shape) if "encoder" not in description.network else _encoding(description)
    )
    return head, Architecture.from_json(description.network, encoding, head.outputs, head.continuous)


def _encoding(description: PolicyDescription) -> Encoding:
    shown = description.shown_space
    return Encoding.of(shown.shape, shown.dtype == np.uint8)
