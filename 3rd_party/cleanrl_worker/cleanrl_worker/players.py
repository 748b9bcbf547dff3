"""Plays actor-critic networks, with or without an LSTM."""

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
"""Outputs (k, COLUMNS), values (COLUMNS,) if the network gives any, and the memory after the step."""


class Player(Protocol):
    """A network that plays.

    Attributes:
        memory: Numbers that the network keeps for each row from one step to the next; 0 without a memory.
        rates_actions: Whether outputs are action values; a state's value is then that of its best legal
            action.
    """

    memory: int
    rates_actions: bool

    @classmethod
    def build(cls, description: PolicyDescription, weights: Weights) -> Player:
        """Build the player for a policy's description and weights.

        Raises:
            ValueError: This version cannot build the network; the message says why.
        """
        ...

    def forward(self, shown: Columns, memory: Columns | None) -> ForwardResult:
        """Return the network's outputs for observations.

        Args:
            shown: (*shape, COLUMNS), observations as the policy takes them.
            memory: (memory, COLUMNS), zeros at the start of an episode; ``None`` without a memory.
        """
        ...

    def act(
        self, outputs: NDArray[np.float64], masks: NDArray[np.bool_] | None, draws: Draws | None
    ) -> NDArray[Any]:
        """Return actions (BATCH, …) for outputs (BATCH, k); the best ones if ``draws`` is ``None``."""
        ...


class ActorCriticPlayer:
    """Plays the networks of PPO, see :class:`Player`.

    Args:
        head: Turns outputs of the network into actions.
        architecture: Architecture of the network.
        weights: Weights of the network.
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
        """Build the player for a policy; see :meth:`Player.build`."""
        return cls(*_head_and_architecture(description), weights)

    def forward(self, shown: Columns, memory: Columns | None) -> ForwardResult:
        """Return distribution parameters and values."""
        x = self._features(shown)
        return self._params(self._actor(x)), None if self._critic is None else self._critic(x)[0], None

    def _params(self, mean: Columns) -> Columns:
        if self._log_std is None:
            return mean
        return np.concatenate([mean, np.broadcast_to(self._log_std, mean.shape)])

    def act(
        self, outputs: NDArray[np.float64], masks: NDArray[np.bool_] | None, draws: Draws | None
    ) -> NDArray[Any]:
        """Return actions in the action space."""
        return self._head.play(outputs, masks, draws)


class RecurrentPlayer(ActorCriticPlayer):
    """Plays the networks of recurrent PPO; arguments are those of :class:`ActorCriticPlayer`."""

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
        """Return distribution parameters, values and the new memory."""
        assert memory is not None
        hidden, after = self._lstm.step(self._features(shown), memory)
        values = None if self._critic is None else self._critic(hidden)[0]
        return self._params(self._actor(hidden)), values, after


def prepared(encoding: Encoding) -> Layer:
    """Return a layer that converts raw observations to the input of a network.

    It maps (*shape, COLUMNS) to (inputs, COLUMNS), or to (channels, height, width, COLUMNS).
    """
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
    """Return the layers from raw images to ``encoding.units`` features."""
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
    """Return the layers from raw observations to features, for images or for vectors."""
    if encoding.images:
        return image_features(encoding, weights)
    widths = (encoding.inputs, *hidden)
    return chain([prepared(encoding), perceptron(weights, widths, activation, activate_output=True)])


def _top(weights: Weights, widths: tuple[int, ...]) -> Layer:
    """Build a perceptron, or the single layer behind features, whose name has no number."""
    return linear(weights, *widths) if len(widths) == 2 else perceptron(weights, widths, "tanh")


def _head_and_architecture(description: PolicyDescription) -> tuple[Head, Architecture]:
    shown = description.shown_space
    if shown.kind != "Box":
        raise ValueError(f"it needs a Box as input space, not {shown.kind}")
    head = head_of(description.action_space)
    encoding = (
        Encoding("mlp", shown.shape) if "encoder" not in description.network else _encoding(description)
    )
    return head, Architecture.from_json(description.network, encoding, head.outputs, head.continuous)


def _encoding(description: PolicyDescription) -> Encoding:
    shown = description.shown_space
    return Encoding.of(shown.shape, shown.dtype == np.uint8)
