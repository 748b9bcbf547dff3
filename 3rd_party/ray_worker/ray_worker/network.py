"""The networks that RLlib's modules become: layers as data, built with torch alone."""

# torch annotates only part of its functions.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import torch
from torch import Tensor, nn

OUTPUTS = ("categorical", "gaussian", "squashed", "values")
"""What the numbers at the end are: logits, means and log deviations (for ``squashed`` before the
hyperbolic tangent), or values of actions."""
_LARGEST = 1 << 20
_PLAIN: Mapping[str, type[nn.Module]] = {
    "relu": nn.ReLU,
    "tanh": nn.Tanh,
    "elu": nn.ELU,
    "silu": nn.SiLU,
    "sigmoid": nn.Sigmoid,
    "flatten": nn.Flatten,
}
Layers = tuple[Mapping[str, Any], ...]
"""Each with its name under ``"layer"``."""


class ChannelsFirst(nn.Module):
    """(N, H, W, C) to (N, C, H, W)."""

    def forward(self, x: Tensor) -> Tensor:
        """Turn the axes."""
        return x.permute(0, 3, 1, 2)


class ChannelsLast(nn.Module):
    """(N, C, H, W) to (N, H, W, C)."""

    def forward(self, x: Tensor) -> Tensor:
        """Turn the axes."""
        return x.permute(0, 2, 3, 1)


@dataclass(frozen=True)
class Network:
    """What the weights are.

    Attributes:
        outputs: See :data:`OUTPUTS`.
        trunk: From the observation to features.
        head: From the features to the outputs.
        value_trunk: The same for the value of a state, where it has one of its own.
        value_head: From those features (else the trunk's) to the value; empty: none is known.
        log_std: Log deviations that do not depend on the observation, so many; 0: the head gives them.
        log_std_clip: Log deviations are kept within plus and minus this; 0: they are not.
        dueling: For ``values``, the head gives advantages and ``value_head`` the value of the state.
        scaling: ``unsquash``: from -1 … 1 to the action space's bounds; ``clip``: into its bounds.
        epsilon: Share of random actions where actions are drawn, for ``values``.
    """

    outputs: str
    trunk: Layers
    head: Layers
    value_trunk: Layers = ()
    value_head: Layers = ()
    log_std: int = 0
    log_std_clip: float = 0.0
    dueling: bool = False
    scaling: str = "unsquash"
    epsilon: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """As it stands in ``policy.json``."""
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
        """The reverse of :meth:`to_json`.

        Raises:
            ValueError: It is no such network.
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
            raise ValueError(f"its network lacks something ({error})") from error
        if found.outputs not in OUTPUTS or found.scaling not in ("unsquash", "clip"):
            raise ValueError(f"its network gives {found.outputs!r}, scaled by {found.scaling!r}")
        if found.dueling and not found.value_head:
            raise ValueError("its network is dueling and has no value_head")
        return found


_PARTS = ("trunk", "head", "value_trunk", "value_head")


class Module(nn.Module):
    """A network of :class:`Network`'s form; its state dict is ``model.safetensors``.

    Args:
        network: What it is.

    Raises:
        ValueError: A layer is none that is known.
    """

    def __init__(self, network: Network) -> None:
        super().__init__()
        self.network = network
        self.trunk, self.head, self.value_trunk, self.value_head = (
            nn.Sequential(*map(_build, getattr(network, name))) for name in _PARTS
        )
        if network.log_std:
            self.log_std = nn.Parameter(torch.zeros(_size(network.log_std)))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor | None]:
        """Outputs (N, k) and values (N,), ``None`` where none are known."""
        network = self.network
        features = self.trunk(x)
        outputs = self.head(features)
        value = None
        if network.value_head:
            value = self.value_head(self.value_trunk(x) if network.value_trunk else features)
        if network.dueling:
            assert value is not None
            outputs = value + outputs - outputs.mean(dim=1, keepdim=True)
            value = None
        if network.log_std:
            outputs = torch.cat([outputs, self.log_std.unsqueeze(0).repeat(len(outputs), 1)], dim=1)
        if network.log_std_clip:
            mean, deviation = outputs.chunk(2, dim=1)
            outputs = torch.cat([mean, deviation.clamp(-network.log_std_clip, network.log_std_clip)], dim=1)
        return outputs, None if value is None else value.squeeze(1)


def _build(layer: Mapping[str, Any]) -> nn.Module:
    kind = layer.get("layer")
    try:
        if kind in _PLAIN:
            return _PLAIN[str(kind)]()
        if kind == "linear":
            return nn.Linear(_size(layer["in"]), _size(layer["out"]), bias=bool(layer["bias"]))
        if kind == "conv":
            stride, kernel = (tuple(map(_size, layer[key])) for key in ("stride", "kernel"))
            return nn.Conv2d(
                *(_size(layer["in"]), _size(layer["out"]), cast("Any", kernel), cast("Any", stride)),
                bias=bool(layer["bias"]),
            )
        if kind == "pad":
            return nn.ZeroPad2d(cast("Any", tuple(int(n) for n in layer["sides"])))
        if kind == "layer_norm":
            return nn.LayerNorm([_size(n) for n in layer["shape"]], eps=float(layer["eps"]))
        if kind == "channels_first":
            return ChannelsFirst()
        if kind == "channels_last":
            return ChannelsLast()
    except (KeyError, TypeError) as error:
        raise ValueError(f"its layer {dict(layer)!r:.80} lacks something ({error})") from error
    raise ValueError(f"it has a layer {kind!r}, which is not known here")


def _size(value: Any) -> int:
    if type(value) is not int or not 1 <= value <= _LARGEST:
        raise ValueError(f"a size in its network is {value!r:.40}")
    return value


def describe_layers(modules: Sequence[nn.Module]) -> tuple[list[Mapping[str, Any]], list[nn.Module]]:
    """Layers as data, and those of them that are kept, in the same order.

    Raises:
        ValueError: One is none that is known.
    """
    plain = {cls: name for name, cls in _PLAIN.items()}
    told: list[Mapping[str, Any]] = []
    kept: list[nn.Module] = []
    for module in modules:
        if isinstance(module, nn.Identity):
            continue
        if type(module) is nn.Linear:
            layer: dict[str, Any] = {"layer": "linear", "in": module.in_features, "out": module.out_features}
            layer["bias"] = module.bias is not None  # pyright: ignore[reportUnnecessaryComparison]
        elif (
            type(module) is nn.Conv2d
            and module.padding == (0, 0)
            and module.dilation == (1, 1)
            and module.groups == 1
        ):
            layer = {"layer": "conv", "in": module.in_channels, "out": module.out_channels}
            layer |= {"kernel": list(module.kernel_size), "stride": list(module.stride)}
            layer["bias"] = module.bias is not None
        elif type(module) is nn.ZeroPad2d:
            layer = {"layer": "pad", "sides": [int(n) for n in module.padding]}
        elif type(module) is nn.LayerNorm and module.elementwise_affine:
            layer = {"layer": "layer_norm", "shape": list(module.normalized_shape), "eps": module.eps}
        elif type(module) is nn.Flatten and module.start_dim == 1 and module.end_dim == -1:
            layer = {"layer": "flatten"}
        elif isinstance(module, ChannelsFirst | ChannelsLast):
            layer = {"layer": "channels_first" if isinstance(module, ChannelsFirst) else "channels_last"}
        elif type(module) in plain and type(module) is not nn.Flatten:
            layer = {"layer": plain[type(module)]}
        else:
            raise ValueError(f"it has a layer {module!r:.80}, which is not known here")
        told.append(layer)
        kept.append(module)
    return told, kept
