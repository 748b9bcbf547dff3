"""Describes converted RLlib networks as data and runs them in NumPy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from mosaic_worker.playing.layers import (
    ACTIVATIONS,
    Columns,
    Layer,
    Weights,
    chain,
    convolution,
    flatten,
    layer_norm,
    linear,
    pad,
)

OUTPUTS = ("categorical", "gaussian", "squashed", "values")
"""Kinds of a network's outputs: logits, means with log deviations, or values of actions.

For ``squashed``, means and log deviations are those before the hyperbolic tangent.
"""
_LARGEST = 1 << 20
_MOST_LAYERS = 256
_PLAIN: Mapping[str, Layer] = {
    **{name: ACTIVATIONS[name] for name in ("relu", "tanh", "elu", "silu", "sigmoid")},
    "flatten": flatten,
    "channels_first": lambda x: x.transpose(2, 0, 1, 3),
    "channels_last": lambda x: x.transpose(1, 2, 0, 3),
}
LayerSpecs = tuple[Mapping[str, Any], ...]
"""Descriptions of layers; each has its kind under ``"layer"``."""


@dataclass(frozen=True)
class Network:
    """Description of a network.

    Attributes:
        outputs: Kind of the outputs, see :data:`OUTPUTS`.
        trunk: Layers from the observation to features.
        head: Layers from the features to the outputs.
        value_trunk: Layers from the observation to the value's own features; empty if it has none.
        value_head: Layers from those features (else the trunk's) to the value; empty without a value.
        log_std: Number of log deviations that do not depend on the observation; 0 if the head gives them.
        log_std_clip: Largest absolute log deviation; 0 for no limit.
        dueling: Whether, for ``values``, the head gives advantages and ``value_head`` the state's value.
        scaling: ``unsquash`` scales from [-1, 1] to the action space's bounds; ``clip`` clips to these
            bounds.
        epsilon: Share of random actions when sampling, for ``values``.
    """

    outputs: str
    trunk: LayerSpecs
    head: LayerSpecs
    value_trunk: LayerSpecs = ()
    value_head: LayerSpecs = ()
    log_std: int = 0
    log_std_clip: float = 0.0
    dueling: bool = False
    scaling: str = "unsquash"
    epsilon: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """Return the entry ``network`` of ``policy.json``."""
        return {
            "type": "rllib",
            "outputs": self.outputs,
            **{name: [dict(layer) for layer in getattr(self, name)] for name in _PARTS},
            "log_std": self.log_std,
            "log_std_clip": self.log_std_clip,
            "dueling": self.dueling,
            "scaling": self.scaling,
            "epsilon": self.epsilon,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Network:
        """Read a network from data that :meth:`to_json` returned.

        Raises:
            ValueError: The data describes no such network.
        """
        if data.get("type") != "rllib":
            raise ValueError(f"its network is of type {data.get('type')!r}, not rllib")
        try:
            found = cls(
                str(data["outputs"]),
                **{name: tuple(dict(layer) for layer in data[name]) for name in _PARTS},
                log_std=int(data["log_std"]),
                log_std_clip=float(data["log_std_clip"]),
                dueling=bool(data["dueling"]),
                scaling=str(data["scaling"]),
                epsilon=float(data["epsilon"]),
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"the description of its network is incomplete ({error})") from error
        if found.outputs not in OUTPUTS or found.scaling not in ("unsquash", "clip"):
            raise ValueError(
                f"its network has unknown outputs or scaling: {found.outputs!r}, {found.scaling!r}"
            )
        if not 0.0 <= found.epsilon <= 1.0 or not 0.0 <= found.log_std_clip <= _LARGEST:
            raise ValueError(f"its network has epsilon {found.epsilon} and log_std_clip {found.log_std_clip}")
        if max(len(getattr(found, name)) for name in _PARTS) > _MOST_LAYERS:
            raise ValueError(f"a part of its network has more than {_MOST_LAYERS} layers")
        if found.dueling and not found.value_head:
            raise ValueError("its network is dueling but has no value_head")
        return found


_PARTS = ("trunk", "head", "value_trunk", "value_head")


class PlayingNetwork:
    """A network in NumPy, built from its description.

    Args:
        network: Description of the network.
        weights: Weights, by the names of the parts and the indices of their layers.

    Raises:
        ValueError: A layer is unknown, or the weights do not fit.
    """

    def __init__(self, network: Network, weights: Weights) -> None:
        self.network = network
        self._trunk, self._head, self._value_trunk, self._value_head = (
            chain(
                [_layer(told, weights.under(f"{name}.{i}")) for i, told in enumerate(getattr(network, name))]
            )
            for name in _PARTS
        )
        self._log_std = weights.take("log_std", _size(network.log_std))[:, None] if network.log_std else None

    def __call__(self, x: Columns) -> tuple[Columns, Columns | None]:
        """Return outputs (k, COLUMNS) and values (COLUMNS,), or ``None`` without values."""
        network = self.network
        features = self._trunk(x)
        outputs, value = self._head(features), None
        if network.value_head:
            value = self._value_head(self._value_trunk(x) if network.value_trunk else features)
        if network.dueling:
            assert value is not None
            outputs = value + outputs - outputs.mean(axis=0, keepdims=True)
            value = None
        if self._log_std is not None:
            width = (len(self._log_std), outputs.shape[1])
            outputs = np.concatenate([outputs, np.broadcast_to(self._log_std, width)])
        if network.log_std_clip:
            mean, deviation = np.split(outputs, 2)
            most = np.float32(network.log_std_clip)
            outputs = np.concatenate([mean, np.clip(deviation, -most, most)])
        return outputs, None if value is None else value[0]


def _layer(told: Mapping[str, Any], weights: Weights) -> Layer:
    kind = told.get("layer")
    try:
        if kind in _PLAIN:
            return _PLAIN[str(kind)]
        if kind == "linear":
            return linear(weights, _size(told["in"]), _size(told["out"]), bias=bool(told["bias"]))
        if kind == "conv":
            (high, wide), (down, across) = (map(_size, told[key]) for key in ("kernel", "stride"))
            return convolution(
                *(weights, _size(told["in"]), _size(told["out"]), (high, wide), (down, across)),
                bias=bool(told["bias"]),
            )
        if kind == "pad":
            return pad(*[_side(n) for n in told["sides"]])
        if kind == "layer_norm":
            return layer_norm(weights, [_size(n) for n in told["shape"]], float(told["eps"]))
    except (KeyError, TypeError) as error:
        raise ValueError(f"its layer {dict(told)!r:.80} is incomplete ({error})") from error
    raise ValueError(f"it has a layer {kind!r}, which is unknown")


def _size(value: Any) -> int:
    if type(value) is not int or not 1 <= value <= _LARGEST:
        raise ValueError(f"a size in its network is {value!r:.40}")
    return value


def _side(value: Any) -> int:
    return _size(value) if value else 0
