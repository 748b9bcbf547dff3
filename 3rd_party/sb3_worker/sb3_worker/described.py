"""Describes and checks custom features extractors, given as a list of layers.

A layer is a name (``"relu"``, ``"flatten"``), or a mapping, as
``{"layer": "linear", "size": 64, "name": "net.0"}`` and
``{"layer": "conv", "channels": 32, "kernel": 8, "stride": 4, "name": "cnn.0"}``. ``name`` is the layer's name
in the author's class, which identifies its weights.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, cast

from mosaic_worker.playing.layers import ACTIVATIONS

DESCRIBED: Final = "described"
_SIZES: Mapping[str, Mapping[str, int | None]] = {
    "linear": {"size": None},
    "conv": {"channels": None, "kernel": None, "stride": 1, "padding": 0},
    "flatten": {},
    **{name: {} for name in ACTIVATIONS},
}
"""Sizes of each kind of layer with their defaults; ``None`` has no default: the description must give it."""
_LARGEST, _MOST = 65_536, 64


def check_layers(layers: Iterable[Any]) -> list[dict[str, Any]]:
    """Check a description and return its layers as mappings with all sizes.

    Raises:
        ValueError: A layer is not valid; the message names it.
    """
    given = list(layers)
    if len(given) > _MOST:
        raise ValueError(f"its features extractor has {len(given)} layers; at most {_MOST} are supported")
    return [_in_full(layer) for layer in given]


def _in_full(given: Any) -> dict[str, Any]:
    layer: dict[str, Any] = {"layer": given} if isinstance(given, str) else {}
    if isinstance(given, Mapping):
        layer = dict(cast("Mapping[str, Any]", given))
    kind: Any = layer.get("layer")
    if not isinstance(kind, str) or kind not in _SIZES:
        raise ValueError(f"{given!r:.80} is not a layer; layers are {', '.join(_SIZES)}")
    sizes = _SIZES[kind]
    if extra := set(layer) - {"layer", "name", *sizes}:
        raise ValueError(
            f"a layer {kind!r} has no {min(extra)!r}; it has name, {', '.join(sizes) or 'no sizes'}"
        )
    full: dict[str, Any] = {"layer": kind, "name": layer.get("name", "")}
    if not isinstance(full["name"], str):
        raise ValueError(f"a layer {kind!r} has the name {full['name']!r:.40}, which is not text")
    for size, default in sizes.items():
        value = layer.get(size, default)
        if type(value) is not int or (not (default == 0 and value == 0) and not 1 <= value <= _LARGEST):
            raise ValueError(f"a layer {kind!r} has {size} = {value!r:.40}; it must be an integer")
        full[size] = value
    return full


def renamed(weights: Mapping[str, Any], layers: Iterable[Any]) -> dict[str, Any]:
    """Rename the weights of an author's class to this worker's names of the same layers."""
    places = {layer["name"]: i for i, layer in enumerate(check_layers(layers)) if layer["name"]}
    if not places:
        return dict(weights)
    names = "|".join(re.escape(name) for name in places)
    within = re.compile(rf"(.*features_extractor)\.({names})\.(weight|bias)")

    def ours(name: str) -> str:
        found = within.fullmatch(name)
        return f"{found[1]}.layers.{places[found[2]]}.{found[3]}" if found else name

    return {ours(name): tensor for name, tensor in weights.items()}


def shape_after(layer: Mapping[str, Any], shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape of a layer's output, without the batch axis.

    Raises:
        ValueError: The layer cannot take an input of this shape.
    """
    kind = layer["layer"]
    if kind == "linear":
        return (*shape[:-1], layer["size"])
    if kind == "flatten":
        return (math.prod(shape),)
    if kind != "conv":
        return shape
    if len(shape) != 3:
        raise ValueError(f"a layer 'conv' takes an image, channels first, not an input of shape {shape}")
    kernel, stride, padding = layer["kernel"], layer["stride"], layer["padding"]
    height, width = ((side + 2 * padding - kernel) // stride + 1 for side in shape[1:])
    if min(height, width) < 1:
        raise ValueError(f"a layer 'conv' of kernel {kernel} is larger than its image {shape[1:]}")
    return layer["channels"], height, width


def shapes_through(
    layers: Iterable[Any], shape: tuple[int, ...]
) -> list[tuple[dict[str, Any], tuple[int, ...]]]:
    """Return the layers with all sizes, each with the shape of its input.

    Args:
        layers: Description of the layers.
        shape: Shape of one observation; for images, channels first.

    Raises:
        ValueError: The layers do not fit each other, or do not end with a vector.
    """
    if not shape:
        raise ValueError("described layers take a Box with a shape")
    found: list[tuple[dict[str, Any], tuple[int, ...]]] = []
    for layer in check_layers(layers):
        found.append((layer, shape))
        shape = shape_after(layer, shape)
    if len(shape) != 1:
        raise ValueError(f"its layers end with {shape}; add a layer 'flatten'")
    return found
