"""Plays policies of DQN, C51, DDPG, TD3 and SAC; a sample depends only on its own decision's random
numbers.
"""

# numpy annotates only part of its functions.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cleanrl_worker.algorithms.exploration import normals, random_legal
from cleanrl_worker.architecture import LOG_STD_RANGE, Encoding, widths
from cleanrl_worker.bounds import Bounds
from cleanrl_worker.players import ForwardResult, features, prepared
from mosaic_worker.checkpoint import PolicyDescription
from mosaic_worker.playing.checkpoint_worker import Draws
from mosaic_worker.playing.layers import (
    COLUMNS,
    Columns,
    Layer,
    Weights,
    linear,
    matmul_with,
    perceptron,
    softmax,
)
from mosaic_worker.spaces import Space


class QPlayer:
    """Plays the action with the highest value; when sampling, a share of the actions is random.

    Args:
        rated: Layer from raw observations to a number for each action and atom.
        start: First action of the action space.
        epsilon: Share of random actions when sampling.
        atoms: Returns that the logits represent, (atoms,); ``None`` for plain values.
    """

    memory = 0
    rates_actions = True

    def __init__(
        self, rated: Layer, start: int, epsilon: float, atoms: NDArray[np.float32] | None = None
    ) -> None:
        self._rated, self._start, self._epsilon, self._atoms = rated, start, epsilon, atoms

    @classmethod
    def build(cls, description: PolicyDescription, weights: Weights) -> QPlayer:
        """Build the player for a policy's description and weights.

        Raises:
            ValueError: This version cannot play the network.
        """
        network, space = description.network, description.action_space
        if space.kind != "Discrete":
            raise ValueError(f"its network values discrete actions, but its actions are a {space.kind}")
        categorical = network["type"] == "categorical_q_network"
        count = _integer_between("atoms", network["atoms"], 2, 1001) if categorical else 1
        atoms = None
        if categorical:
            ends = _number(network, "v_min"), _number(network, "v_max")
            atoms = np.linspace(*ends, count, dtype=np.float32)
        encoding, hidden = _encoding(description), widths(network["hidden"])
        seen = features(encoding, weights.under("features"), hidden, "relu")
        width = encoding.units if encoding.images else hidden[-1]
        top = linear(weights.under("head"), width, space.n * count)
        return cls(lambda x: top(seen(x)), space.start, _share(network, "epsilon"), atoms)

    def forward(self, shown: Columns, memory: Columns | None) -> ForwardResult:
        """Return the values of the actions."""
        values = self._rated(shown)
        if self._atoms is not None:
            shares = softmax(values.reshape(-1, len(self._atoms), COLUMNS), 1)
            values = (shares * self._atoms[:, None]).sum(axis=1)
        return values, None, None

    def act(
        self, outputs: NDArray[np.float64], masks: NDArray[np.bool_] | None, draws: Draws | None
    ) -> NDArray[Any]:
        """Return the best legal action of each row; ``draws`` makes a share of rows random."""
        legal = np.ones(outputs.shape, np.bool_) if masks is None else masks
        actions = np.where(legal, outputs, -math.inf).argmax(axis=1)
        if draws is not None:
            actions = np.where(draws(0) < self._epsilon, random_legal(legal, draws(1)), actions)
        return actions + self._start


class ActorPlayer:
    """Plays the actor's action within the bounds; when sampling, draws from it or adds noise.

    Args:
        prepare: Layer from raw observations to the networks' input.
        actor: Layer from this input to actions before tanh; for a Gaussian, to means and raw deviations.
        critics: Layers from this input, joined with actions in [-1, 1], to values.
        space: Space of the actions.
        gaussian: Whether the actor gives a distribution.
        noise: Standard deviation of the noise that a deterministic actor adds when sampling.
    """

    memory = 0
    rates_actions = False

    def __init__(
        self,
        prepare: Layer,
        actor: Layer,
        critics: list[Layer],
        space: Space,
        *,
        gaussian: bool,
        noise: float,
    ) -> None:
        assert space.low is not None and space.high is not None
        self._prepare, self._actor, self._critics, self._gaussian = prepare, actor, critics, gaussian
        self._noise, self._dtype = noise, space.dtype
        self._bounds = Bounds(space.low, space.high)

    @classmethod
    def build(cls, description: PolicyDescription, weights: Weights) -> ActorPlayer:
        """Build the player for a policy's description and weights.

        Raises:
            ValueError: This version cannot play the network.
        """
        network, space = description.network, description.action_space
        if space.kind != "Box" or space.low is None or space.high is None:
            raise ValueError(f"its network gives continuous actions, but its actions are a {space.kind}")
        encoding = _encoding(description)
        if encoding.images:
            raise ValueError("its network takes vectors, but its observations are images")
        gaussian, size, hidden = (
            network["type"] == "gaussian_actor",
            math.prod(space.shape),
            widths(network["hidden"]),
        )
        own = (encoding.inputs, *hidden, size * (2 if gaussian else 1))
        count = _integer_between("critics", network["critics"], 1, 100)
        actor = perceptron(weights.under("actor.layers"), own, "relu")
        critics = _critics(weights.under("critics"), count, (encoding.inputs + size, *hidden, 1))
        noise = 0.0 if gaussian else _share(network, "noise", 10.0)
        return cls(prepared(encoding), actor, critics, space, gaussian=gaussian, noise=noise)

    def forward(self, shown: Columns, memory: Columns | None) -> ForwardResult:
        """Return the actor's outputs, and the smallest critic value of its action."""
        x = self._prepare(shown)
        outputs = self._actor(x)
        if self._gaussian:
            mean, raw = np.split(outputs, 2)
            low, high = LOG_STD_RANGE
            choice, log_std = np.tanh(mean), low + 0.5 * (high - low) * (np.tanh(raw) + 1.0)
            outputs = np.concatenate([mean, log_std.astype(np.float32)])
        else:
            choice = outputs = np.tanh(outputs)
        judged = np.concatenate([x, choice])
        return outputs, np.min([critic(judged)[0] for critic in self._critics], axis=0), None

    def act(
        self, outputs: NDArray[np.float64], masks: NDArray[np.bool_] | None, draws: Draws | None
    ) -> NDArray[Any]:
        """Return actions in the environment's own units."""
        size = self._bounds.size
        if self._gaussian:
            mean, log_std = outputs[:, :size], outputs[:, size:]
            chosen = np.tanh(mean if draws is None else mean + np.exp(log_std) * normals(draws, size))
        else:
            chosen = outputs if draws is None else outputs + self._noise * normals(draws, size)
        return self._bounds.scale(chosen).astype(self._dtype)


def _critics(weights: Weights, count: int, sizes: tuple[int, ...]) -> list[Layer]:
    """Build one perceptron for each critic from arrays in which the critics' layers are stacked."""
    layers = [
        (weights.take(f"{i}.weight", count, a, b), weights.take(f"{i}.bias", count, 1, b))
        for i, (a, b) in enumerate(pairwise(sizes))
    ]
    return [
        _rectified([(matmul_with(weight[k].T.copy()), bias[k].T) for weight, bias in layers])
        for k in range(count)
    ]


def _rectified(layers: list[tuple[Layer, Columns]]) -> Layer:
    def forward(x: Columns) -> Columns:
        for place, (product, bias) in enumerate(layers):
            x = product(np.maximum(x, 0) if place else x) + bias
        return x

    return forward


def _encoding(description: PolicyDescription) -> Encoding:
    network, shown = description.network, description.shown_space
    if network["activation"] != "relu":
        raise ValueError(f"its activation is unknown: {network['activation']!r}")
    encoding = Encoding.from_json(network["encoder"])
    if encoding.shape != tuple(shown.shape):
        raise ValueError(f"its network takes {encoding.shape} where its input space has {tuple(shown.shape)}")
    return encoding


def _integer_between(name: str, value: Any, least: int, most: int) -> int:
    if type(value) is not int or not least <= value <= most:
        raise ValueError(f"its {name} is {value!r}, not an integer from {least} to {most}")
    return value


def _number(network: Mapping[str, Any], name: str) -> float:
    value = network[name]
    if type(value) not in (int, float) or not math.isfinite(value):
        raise ValueError(f"its {name} is {value!r}, not a finite number")
    return float(value)


def _share(network: Mapping[str, Any], name: str, most: float = 1.0) -> float:
    value = _number(network, name)
    if not 0.0 <= value <= most:
        raise ValueError(f"its {name} is {value!r}, not from 0 to {most}")
    return value
