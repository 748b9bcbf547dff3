"""Features extractors of an author's own, as a list of layers: described, checked, built.

A layer is a name (``"relu"``, ``"flatten"``), or a mapping, as
``{"layer": "linear", "size": 64, "name": "net.0"}`` and
``{"layer": "conv", "channels": 32, "kernel": 8, "stride": 4, "name": "cnn.0"}``. ``name`` is what the
author's class calls it, so that its weights are found.
"""

# The library and torch are typed only in part.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, cast

from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import Tensor, nn

DESCRIBED: Final = "described"
ACTIVATIONS: Mapping[str, Any] = {
    "tanh": nn.Tanh,
    "relu": nn.ReLU,
    "elu": nn.ELU,
    "leaky_relu": nn.LeakyReLU,
    "gelu": nn.GELU,
    "silu": nn.SiLU,
    "sigmoid": nn.Sigmoid,
    "softplus": nn.Softplus,
    "identity": nn.Identity,
}
_SIZES: Mapping[str, Mapping[str, int | None]] = {
    "linear": {"size": None},
    "conv": {"channels": None, "kernel": None, "stride": 1, "padding": 0},
    "flatten": {},
    **{name: {} for name in ACTIVATIONS},
}
"""Whole numbers that a layer is told, and what holds without one; ``None``: it is needed."""
_LARGEST, _MOST = 65_536, 64


def check_layers(layers: Iterable[Any]) -> list[dict[str, Any]]:
    """Layers in full.

    Raises:
        ValueError: One is none; it is named.
    """
    given = list(layers)
    if len(given) > _MOST:
        raise ValueError(f"its features extractor has {len(given)} layers where at most {_MOST} are read")
    return [_in_full(layer) for layer in given]


def _in_full(given: Any) -> dict[str, Any]:
    layer: dict[str, Any] = {"layer": given} if isinstance(given, str) else {}
    if isinstance(given, Mapping):
        layer = dict(cast("Mapping[str, Any]", given))
    kind: Any = layer.get("layer")
    if not isinstance(kind, str) or kind not in _SIZES:
        raise ValueError(f"{given!r:.80} is no layer; known are {', '.join(_SIZES)}")
    sizes = _SIZES[kind]
    if extra := set(layer) - {"layer", "name", *sizes}:
        raise ValueError(
            f"a layer {kind!r} has no {min(extra)!r}; it has name, {', '.join(sizes) or 'no sizes'}"
        )
    full: dict[str, Any] = {"layer": kind, "name": layer.get("name", "")}
    if not isinstance(full["name"], str):
        raise ValueError(f"a layer {kind!r} has the name {full['name']!r:.40}, which is no text")
    for size, default in sizes.items():
        value = layer.get(size, default)
        if type(value) is not int or (not (default == 0 and value == 0) and not 1 <= value <= _LARGEST):
            raise ValueError(f"a layer {kind!r} has {size} = {value!r:.40}; a whole number is needed")
        full[size] = value
    return full


def renamed(weights: Mapping[str, Tensor], layers: Iterable[Any]) -> dict[str, Tensor]:
    """Weights by the names of :class:`DescribedExtractor`, from those of the author's class."""
    places = {layer["name"]: i for i, layer in enumerate(check_layers(layers)) if layer["name"]}
    if not places:
        return dict(weights)
    names = "|".join(re.escape(name) for name in places)
    within = re.compile(rf"(.*features_extractor)\.({names})\.(weight|bias)")

    def ours(name: str) -> str:
        found = within.fullmatch(name)
        return f"{found[1]}.layers.{places[found[2]]}.{found[3]}" if found else name

    return {ours(name): tensor for name, tensor in weights.items()}


class DescribedExtractor(BaseFeaturesExtractor):
    """The layers of a description, one after the other.

    Args:
        observation_space: A Box; of images, channels first.
        layers: The description.
    """

    def __init__(self, observation_space: Any, layers: Sequence[Any]) -> None:
        shape: tuple[int, ...] = tuple(observation_space.shape or ())
        if not shape:
            raise ValueError(f"described layers take a Box, not {observation_space}")
        made: list[nn.Module] = []
        for layer in check_layers(layers):
            module, shape = _layer(layer, shape)
            made.append(module)
        if len(shape) != 1:
            raise ValueError(f"its layers end with {shape}; add a layer 'flatten'")
        super().__init__(observation_space, shape[0])
        self.layers = nn.Sequential(*made)

    def forward(self, observations: Tensor) -> Tensor:
        """What the policy's own layers are given."""
        return self.layers(observations)


def _layer(layer: Mapping[str, Any], shape: tuple[int, ...]) -> tuple[nn.Module, tuple[int, ...]]:
    """A module, and the shape of what comes out of it."""
    kind = layer["layer"]
    if kind == "linear":
        return nn.Linear(shape[-1], layer["size"]), (*shape[:-1], layer["size"])
    if kind == "flatten":
        return nn.Flatten(), (math.prod(shape),)
    if kind == "conv":
        if len(shape) != 3:
            raise ValueError(f"a layer 'conv' takes an image, channels first, not what has the shape {shape}")
        kernel, stride, padding = layer["kernel"], layer["stride"], layer["padding"]
        height, width = ((side + 2 * padding - kernel) // stride + 1 for side in shape[1:])
        if min(height, width) < 1:
            raise ValueError(f"a layer 'conv' of kernel {kernel} is larger than its image {shape[1:]}")
        module = nn.Conv2d(shape[0], layer["channels"], kernel, stride, padding)
        return module, (layer["channels"], height, width)
    return ACTIVATIONS[kind](), shape
