"""Describes a network as plain data, in the form of ``policy.json``, without torch."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

LOG_STD_RANGE = (-5.0, 2.0)
"""Lower and upper limit of the log standard deviation of a squashed Gaussian, as in CleanRL's SAC."""
_NATURE = ((32, 8, 4), (64, 4, 2), (64, 3, 1))
"""Output channels, kernel size and stride of the convolutions of Mnih et al., "Human-level control through
deep RL", 2015.
"""
_SMALL = ((16, 2, 1), (32, 2, 1), (64, 2, 1))


@dataclass(frozen=True)
class Encoding:
    """Conversion of observations to the inputs of a network.

    Attributes:
        kind: ``mlp`` (one vector), ``nature_cnn`` (images from 36 pixels) or ``small_cnn``.
        shape: Shape of one observation.
        layout: Axes of an image: ``hwc``, ``chw``, ``shwc`` (a stack of color images); empty for a vector.
        scale: Factor by which observations are multiplied first.
    """

    kind: str
    shape: tuple[int, ...]
    layout: str = ""
    scale: float = 1.0

    @classmethod
    def of(cls, shape: Sequence[int], is_bytes: bool) -> Encoding:
        """Return the usual encoding for observations of this shape.

        Args:
            shape: Shape of one observation.
            is_bytes: Whether observations are uint8.
        """
        shape = tuple(int(n) for n in shape)
        layout = _layout(shape)
        height, width = _size(shape, layout) if layout else (0, 0)
        if min(height, width) >= 36:
            return cls("nature_cnn", shape, layout, 1 / 255 if is_bytes else 1.0)
        if min(height, width) >= 4:
            # Grid environments encode objects, colors and states as numbers from 0 to 10.
            return cls("small_cnn", shape, layout, 0.1 if is_bytes else 1.0)
        return cls("mlp", shape, "", 1 / 255 if is_bytes else 1.0)

    def to_json(self) -> dict[str, Any]:
        """Return plain data from which :meth:`from_json` makes an equal encoding."""
        return {"kind": self.kind, "shape": list(self.shape), "layout": self.layout, "scale": self.scale}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Encoding:
        """Read an encoding from plain data.

        Raises:
            ValueError: This version cannot build the encoding.
        """
        kind, shape, layout = data["kind"], tuple(data["shape"]), str(data["layout"])
        if kind not in ("mlp", "nature_cnn", "small_cnn"):
            raise ValueError(f"its encoder has an unknown kind: {kind!r}")
        if not all(type(n) is int and 0 < n <= 65_536 for n in shape) or math.prod(shape) > 2**24:
            raise ValueError(f"its encoder takes observations of shape {shape!r}")
        fits = {"": 0, "hwc": 3, "chw": 3, "shwc": 4}.get(layout, -1)
        least = {"mlp": 0, "small_cnn": 4, "nature_cnn": 36}[kind]
        if fits < 0 or (fits > 0) != (kind != "mlp") or (fits and len(shape) != fits):
            raise ValueError(f"its encoder lays {shape} out as {layout!r}")
        if fits and min(_size(shape, layout)) < least:
            raise ValueError(f"its encoder takes images from {least} pixels, not {shape}")
        return cls(kind, shape, layout, float(data["scale"]))

    @property
    def images(self) -> bool:
        """Whether observations are images."""
        return self.kind != "mlp"

    @property
    def inputs(self) -> int:
        """Length of the flattened observation."""
        return math.prod(self.shape)

    @property
    def convolutions(self) -> tuple[tuple[int, int, int, int], ...]:
        """Input channels, output channels, kernel size and stride of each convolution, for images."""
        channels = {"hwc": self.shape[-1], "chw": self.shape[0]}.get(
            self.layout, self.shape[0] * self.shape[-1]
        )
        found: list[tuple[int, int, int, int]] = []
        for out, size, stride in _NATURE if self.kind == "nature_cnn" else _SMALL:
            found.append((channels, out, size, stride))
            channels = out
        return tuple(found)

    @property
    def convolved(self) -> int:
        """Size of the flattened output of the convolutions."""
        height, width = _size(self.shape, self.layout)
        for _, _, size, stride in self.convolutions:
            height, width = (height - size) // stride + 1, (width - size) // stride + 1
        return self.convolutions[-1][1] * height * width

    @property
    def units(self) -> int:
        """Width of the fully connected layer behind the convolutions."""
        return 512 if self.kind == "nature_cnn" else 128


def _layout(shape: tuple[int, ...]) -> str:
    if len(shape) == 4:
        return "shwc"
    if len(shape) == 3:
        return "chw" if shape[0] < shape[-1] else "hwc"
    return ""


def _size(shape: tuple[int, ...], layout: str) -> tuple[int, int]:
    """Return height and width of an image."""
    at = layout.index("h")
    return shape[at], shape[at + 1]


@dataclass(frozen=True)
class Architecture:
    """Description of an :class:`ActorCritic` network.

    Attributes:
        encoding: How observations become input numbers.
        outputs: Number of inputs of the policy's head.
        continuous: Whether the head is a Gaussian, whose standard deviation is a parameter.
        hidden: Widths of the hidden layers; not used for images without an LSTM.
        lstm_size: Width of the LSTM; 0 without an LSTM.
        central: Length of the extra input, appended to each observation, that only the value function uses.
        critic: Whether there is a value function.
    """

    encoding: Encoding
    outputs: int
    continuous: bool = False
    hidden: tuple[int, ...] = (64, 64)
    lstm_size: int = 0
    central: int = 0
    critic: bool = True

    def to_json(self) -> dict[str, Any]:
        """Return the entry ``network`` of ``policy.json``."""
        data: dict[str, Any] = {
            "type": f"actor{'_critic' if self.critic else ''}{'_lstm' if self.lstm_size else ''}",
            "encoder": self.encoding.to_json(),
            "hidden": list(self.hidden),
            "activation": "tanh",
        }
        return {**data, "lstm_size": self.lstm_size} if self.lstm_size else data

    @classmethod
    def from_json(
        cls, data: Mapping[str, Any], encoding: Encoding, outputs: int, continuous: bool
    ) -> Architecture:
        """Read the entry ``network`` of ``policy.json``, also in format 1.

        Args:
            data: Content of the entry.
            encoding: Encoding that fits the input space; used if the file names no encoder.
            outputs: Number of inputs of the action space's head.
            continuous: Whether the head is a Gaussian.

        Raises:
            ValueError: This version cannot build the network.
        """
        if data["activation"] != "tanh":
            raise ValueError(f"its network is of an unknown kind: {dict(data)!r}")
        if "encoder" in data:
            found = Encoding.from_json(data["encoder"])
            if found.shape != encoding.shape:
                raise ValueError(f"its network takes {found.shape}, its input space has {encoding.shape}")
            encoding = found
        memory = data.get("lstm_size", 0)
        if type(memory) is not int or not 0 <= memory <= 65_536:
            raise ValueError(f"its memory is {memory!r} wide")
        kind = str(data["type"])
        if bool(memory) != kind.endswith("_lstm"):
            raise ValueError(f"its network is of an unknown kind: {dict(data)!r}")
        critic = kind not in ("actor", "actor_lstm")
        return cls(encoding, outputs, continuous, widths(data["hidden"]), memory, critic=critic)


def widths(values: Any) -> tuple[int, ...]:
    """Check the widths of hidden layers and return them.

    Raises:
        ValueError: The values are not valid widths.
    """
    found = tuple(values)
    if not found or len(found) > 16 or not all(type(w) is int and 1 <= w <= 65_536 for w in found):
        raise ValueError(f"its hidden widths are {values!r}")
    return found
