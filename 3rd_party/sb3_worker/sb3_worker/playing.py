"""Runs the library's networks in NumPy, by the same parameter names, without the library and torch."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from mosaic_worker.playing.layers import (
    ACTIVATIONS,
    COLUMNS,
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
from mosaic_worker.spaces import Space
from sb3_worker.described import DESCRIBED, shape_after, shapes_through
from sb3_worker.network import Network

_EPSILON = np.float32(1e-6)
"""Epsilon of the library's state-dependent noise."""
_NATURE = ((32, 8, 4), (64, 4, 2), (64, 3, 1))
"""Channels, kernel and stride (Mnih et al., "Human-level control through deep RL", 2015)."""
Seen = Mapping[str, Columns]
"""Observations (*shape, COLUMNS): the leaves of a ``Dict`` by key, any other space under ``""``."""


class Outputs(NamedTuple):
    """Outputs of a network.

    Attributes:
        kind: ``logits`` (of one or more choices), ``bits``, ``values`` (of actions), ``normal``, ``squashed``
            or ``fixed``.
        first: Logits, values, means or actions, (k, COLUMNS).
        deviation: Standard deviations, for ``normal`` and ``squashed``.
        value: Value of the state, (COLUMNS,), or ``None``.
    """

    kind: str
    first: Columns
    deviation: Columns | None = None
    value: Columns | None = None


class PlayingNetwork:
    """A policy of the library, reduced to the layers for actions and for the value of a state.

    Args:
        network: Description of the network.
        weights: Weights of the policy, by the library's names.

    Attributes:
        memory: Size of the memory from step to step of an episode; 0 for most policies.
        training_only: Prefixes of the names of weights that are needed only for learning.

    Raises:
        ValueError: The network cannot be built, or the weights do not fit it.
    """

    def __init__(self, network: Network, weights: Weights) -> None:
        _check_kinds(network)
        self.memory = 0
        build = {
            "dqn": _values,
            "qrdqn": _values,
            "td3": _deterministic,
            "sac": _soft,
            "tqc": _soft,
            "recurrent_actor_critic": self._recurrent,
        }.get(network.family, _actor_critic)
        self.training_only = _UNPLAYED.get(network.family, ())
        self._says = build(network, weights)

    def __call__(self, seen: Seen, memory: Columns) -> tuple[Outputs, Columns]:
        """Return outputs for observations, and the new memory (memory, COLUMNS)."""
        return self._says(seen, memory)

    def _recurrent(self, network: Network, weights: Weights) -> Says:
        features, width = _features(network, weights)
        size, layers = network.options.get("lstm_hidden_size", 256), network.options.get("n_lstm_layers", 1)
        lstm = RecurrentLayers(weights.under("lstm_actor"), "LSTM", width, size, layers)
        self.memory = lstm.memory_size
        act = _actor(network, weights, size)

        def forward(seen: Seen, memory: Columns) -> tuple[Outputs, Columns]:
            hidden, after = lstm.step(features(seen), memory)
            return act(hidden, None), after

        return forward


Says = Callable[[Seen, Columns], tuple[Outputs, Columns]]
_UNPLAYED: Mapping[str, tuple[str, ...]] = {
    "dqn": ("q_net_target.",),
    "qrdqn": ("quantile_net_target.",),
    "td3": ("actor_target.", "critic.", "critic_target."),
    "sac": ("critic.", "critic_target."),
    "tqc": ("critic.", "critic_target."),
    "recurrent_actor_critic": (
        "critic.",
        "lstm_critic.",
        "mlp_extractor.value_net.",
        "value_net.",
        "vf_features_extractor.",
    ),
}


def _check_kinds(network: Network) -> None:
    acts, family = network.action_space.kind, network.family
    wanted = {"dqn": "Discrete", "qrdqn": "Discrete", "td3": "Box", "sac": "Box", "tqc": "Box"}.get(
        family, acts
    )
    if acts != wanted:
        raise ValueError(f"a {family} network gives actions of a {wanted}, but its action space is a {acts}")
    sees = network.observation_space.kind
    if (network.features == "combined") != (sees == "Dict"):
        raise ValueError(f"its network has {network.features} features, but its observations are a {sees}")
    if network.options.get("squash_output") and not network.options.get("use_sde") and "actor" in family:
        raise ValueError(
            "its network squashes actions without state-dependent noise, which the library refuses"
        )


# -- families ------------------------------------------------------------------------------


def _actor_critic(network: Network, weights: Weights) -> Says:
    features, width = _features(network, weights)
    of_critic = features
    if not network.options.get("share_features_extractor", True):
        of_critic = _features(network, weights, "vf_features_extractor")[0]
    inner, last = _widths(network, "vf", [64, 64], width)
    own = weights.under("mlp_extractor.value_net")
    layers = perceptron(own, inner, _activation(network, "tanh"), activate_output=True)
    judge = chain([layers, linear(weights.under("value_net"), last, 1)])
    act = _actor(network, weights, width)

    def forward(seen: Seen, memory: Columns) -> tuple[Outputs, Columns]:
        x = features(seen)
        return act(x, judge(x if of_critic is features else of_critic(seen))[0]), memory

    return forward


def _actor(network: Network, weights: Weights, width: int) -> Callable[[Columns, Columns | None], Outputs]:
    """Return the layers from features to actions, for a policy with a critic."""
    space, options = network.action_space, network.options
    inner, last = _widths(network, "pi", [64, 64], width)
    own = weights.under("mlp_extractor.policy_net")
    layers = perceptron(own, inner, _activation(network, "tanh"), activate_output=True)
    outputs = _numbers_of(space)
    top = linear(weights.under("action_net"), last, outputs)
    if space.kind != "Box":
        kind = "bits" if space.kind == "MultiBinary" else "logits"
        return lambda x, value: Outputs(kind, top(layers(x)), None, value)
    kind = "squashed" if options.get("squash_output") else "normal"
    if options.get("use_sde"):
        noise = _state_noise(network, weights, last, outputs)

        def with_noise(x: Columns, value: Columns | None) -> Outputs:
            latent = layers(x)
            return Outputs(kind, top(latent), noise(latent), value)

        return with_noise
    deviation = np.broadcast_to(np.exp(weights.take("log_std", outputs))[:, None], (outputs, COLUMNS))
    return lambda x, value: Outputs(kind, top(layers(x)), deviation, value)


def _values(network: Network, weights: Weights) -> Says:
    name = "q_net" if network.family == "dqn" else "quantile_net"
    features, width = _features(network, weights.under(name), "features_extractor")
    inner, _ = _widths(network, "", [64, 64], width)
    actions = network.action_space.n
    quantiles = 1 if network.family == "dqn" else network.options.get("n_quantiles", 200)
    rate = _perceptron(weights.under(f"{name}.{name}"), (*inner, actions * quantiles), network, "relu")

    def forward(seen: Seen, memory: Columns) -> tuple[Outputs, Columns]:
        rated = rate(features(seen)).reshape(quantiles, actions, COLUMNS)
        return Outputs("values", rated.mean(axis=0)), memory

    return forward


def _deterministic(network: Network, weights: Weights) -> Says:
    features, width = _features(network, weights.under("actor"), "features_extractor")
    inner, _ = _widths(network, "pi", [256, 256] if network.features == "nature_cnn" else [400, 300], width)
    sizes = (*inner, _numbers_of(network.action_space))
    act = chain([_perceptron(weights.under("actor.mu"), sizes, network, "relu"), np.tanh])
    return lambda seen, memory: (Outputs("fixed", act(features(seen))), memory)


def _soft(network: Network, weights: Weights) -> Says:
    own, options, outputs = weights.under("actor"), network.options, _numbers_of(network.action_space)
    features, width = _features(network, own, "features_extractor")
    inner, last = _widths(network, "pi", [256, 256], width)
    latent = perceptron(own.under("latent_pi"), inner, _activation(network, "relu"), activate_output=True)
    if options.get("use_sde"):
        most = np.float32(options.get("clip_mean", 2.0))
        mean = linear(own.under("mu.0" if most > 0 else "mu"), last, outputs)
        if most > 0:
            mean = chain([mean, lambda x: np.clip(x, -most, most)])
        deviation = _state_noise(network, own, last, outputs)
    else:
        mean, log_std = (linear(own.under(name), last, outputs) for name in ("mu", "log_std"))
        deviation = chain([log_std, lambda x: np.exp(np.clip(x, -20, 2))])

    def forward(seen: Seen, memory: Columns) -> tuple[Outputs, Columns]:
        x = latent(features(seen))
        return Outputs("squashed", mean(x), deviation(x)), memory

    return forward


def _state_noise(network: Network, weights: Weights, latent: int, outputs: int) -> Layer:
    """Return the layer for the deviation of state-dependent noise (gSDE) whose matrix is sampled at every
    step.
    """
    full = network.options.get("full_std", True)
    log_std = weights.take("log_std", latent, outputs if full else 1)
    spread = np.exp(log_std)
    if network.options.get("use_expln", False):
        above = np.log1p(log_std * (log_std > 0) + _EPSILON) + 1
        spread = np.where(log_std > 0, above, spread)
    variances = (np.broadcast_to(spread, (latent, outputs)) ** 2).astype(np.float32)

    def forward(x: Columns) -> Columns:
        # A sum for each output instead of a matrix product gives equal bits in each column.
        found = [(x * x * variances[:, k, None]).sum(axis=0) for k in range(outputs)]
        return np.sqrt(np.stack(found) + _EPSILON)

    return forward


# -- parts ---------------------------------------------------------------------------------


def _perceptron(weights: Weights, sizes: Sequence[int], network: Network, activation: str) -> Layer:
    return perceptron(weights, sizes, _activation(network, activation))


def _activation(network: Network, otherwise: str) -> str:
    return network.activation or otherwise


def _widths(network: Network, part: str, otherwise: Sequence[int], width: int) -> tuple[tuple[int, ...], int]:
    """Return the widths from the features through the hidden layers, and the last of them."""
    given: Any = network.net_arch
    if given is None:
        of_images = network.features == "nature_cnn" and network.family not in ("td3", "sac", "tqc")
        given = [] if of_images else otherwise
    parts = cast("dict[str, Sequence[int]]", given) if isinstance(given, dict) else {part: given}
    sizes = (width, *parts.get(part, ()))
    return sizes, sizes[-1]


def _features(
    network: Network, weights: Weights, name: str = "features_extractor"
) -> tuple[Callable[[Seen], Columns], int]:
    """Return the layers from observations to features (width, COLUMNS), and the width."""
    own, space, options = weights.under(name), network.observation_space, network.options
    scaled = options.get("normalize_images", True)
    if network.features == "combined":
        return _combined(own, space, options.get("cnn_output_dim", 256), scaled=scaled)
    prepare, shape = _prepared(space, scaled=scaled)
    if network.features == "flatten":
        return lambda seen: flatten(prepare(seen[""])), math.prod(shape)
    if network.features == DESCRIBED:
        layers = _described(network.layers, own.under("layers"), shape)
        width = _last_width(network.layers, shape)
    else:
        width = options.get("features_dim", 512)
        layers = _nature(own, shape, width)
    return lambda seen: layers(prepare(seen[""])), width


def _combined(
    weights: Weights, space: Space, width: int, *, scaled: bool
) -> tuple[Callable[[Seen], Columns], int]:
    """Build ``CombinedExtractor``: images go through convolutions; all parts are then joined."""
    parts: list[tuple[str, Layer]] = []
    total = 0
    for key, leaf in space.leaves:
        prepare, shape = _prepared(leaf, scaled=scaled)
        if _is_image(leaf, scaled=scaled):
            own = weights.under(f"extractors.{key}")
            parts.append((key, chain([prepare, _nature(own, shape, width)])))
            total += width
        else:
            parts.append((key, chain([prepare, flatten])))
            total += math.prod(shape)
    return lambda seen: np.concatenate([layer(seen[key]) for key, layer in parts]), total


def _nature(weights: Weights, shape: Sequence[int], width: int) -> Layer:
    if len(shape) != 3:
        raise ValueError(f"its network takes images, but its input has the shape {tuple(shape)}")
    channels, high, wide = shape
    layers: list[Layer] = []
    for place, (outputs, size, stride) in enumerate(_NATURE):
        own = weights.under(f"cnn.{2 * place}")
        layers += [convolution(own, channels, outputs, (size, size), (stride, stride)), ACTIVATIONS["relu"]]
        channels, high, wide = outputs, (high - size) // stride + 1, (wide - size) // stride + 1
    if min(high, wide) < 1:
        raise ValueError(f"its network takes images from 36 pixels, not {tuple(shape)}")
    last = linear(weights.under("linear.0"), channels * high * wide, width)
    return chain([*layers, flatten, last, ACTIVATIONS["relu"]])


def _described(layers: Sequence[Any], weights: Weights, shape: tuple[int, ...]) -> Layer:
    made: list[Layer] = []
    for place, (layer, given) in enumerate(shapes_through(layers, shape)):
        kind, own = layer["layer"], weights.under(str(place))
        if kind == "linear":
            made.append(linear(own, given[-1], layer["size"]))
        elif kind == "conv":
            size, stride = layer["kernel"], layer["stride"]
            steps = (stride, stride)
            made.append(
                convolution(own, given[0], layer["channels"], (size, size), steps, padding=layer["padding"])
            )
        else:
            made.append(flatten if kind == "flatten" else ACTIVATIONS[kind])
    return chain(made)


def _last_width(layers: Sequence[Any], shape: tuple[int, ...]) -> int:
    return shape_after(*shapes_through(layers, shape)[-1])[0]


# -- observations --------------------------------------------------------------------------


def _prepared(space: Space, *, scaled: bool) -> tuple[Layer, tuple[int, ...]]:
    """Return the library's preparation of observations before the layers, and the resulting shape."""
    if space.kind == "Discrete":
        return lambda x: (np.arange(space.n)[:, None] == x).astype(np.float32), (space.n,)
    if space.kind == "MultiDiscrete":
        counts = [int(n) for n in np.ravel(np.asarray(space.nvec))]

        def marked(x: Columns) -> Columns:
            rows = x.reshape(len(counts), -1)
            marks = [np.arange(n)[:, None] == row for n, row in zip(counts, rows, strict=True)]
            return np.concatenate(marks).astype(np.float32)

        return marked, (sum(counts),)
    if scaled and _is_image(space, scaled=True):
        return lambda x: x / np.float32(255), tuple(space.shape)
    return ACTIVATIONS["identity"], tuple(space.shape)


def _is_image(space: Space, *, scaled: bool) -> bool:
    """Return whether the library treats a space as an image; ``scaled=False`` checks only the shape."""
    if space.kind != "Box" or len(space.shape) != 3:
        return False
    if not scaled:
        return True
    low, high = np.asarray(space.low), np.asarray(space.high)
    return space.dtype == np.uint8 and bool((low == 0).all() and (high == 255).all())


def _numbers_of(space: Space) -> int:
    """Return the number of outputs that a network has for an action space."""
    if space.kind == "Discrete":
        return space.n
    if space.kind == "MultiDiscrete":
        return int(np.sum(np.asarray(space.nvec)))
    return math.prod(space.shape)
