"""Compressed pictures, for messages and files."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mosaic_worker.limits import inflated

_LARGEST = 256 * 2**20
"""Largest size of an unpacked picture in bytes."""


@dataclass(frozen=True, slots=True)
class PackedPicture:
    """A compressed RGB picture.

    Attributes:
        pixels: ``height * width * 3`` bytes, compressed with zlib.
        height: Height in pixels.
        width: Width in pixels.
    """

    pixels: bytes
    height: int
    width: int


def pack(picture: NDArray[np.uint8]) -> PackedPicture:
    """Compress a picture of shape ``(height, width, 3)``; fast rather than small, as it is read at once."""
    return PackedPicture(zlib.compress(picture.tobytes(), 1), picture.shape[0], picture.shape[1])


def unpack(packed: PackedPicture) -> NDArray[np.uint8]:
    """Return the picture as an array that the caller may change.

    Raises:
        ValueError: The picture does not have the size that it states, or is too large.
    """
    size = packed.height * packed.width * 3
    if not 0 <= size <= _LARGEST:
        raise ValueError(f"a picture of {packed.height} x {packed.width} pixels")
    pixels = bytearray(inflated(packed.pixels, size))  # a host on another machine may send any bytes
    return np.frombuffer(pixels, np.uint8).reshape(packed.height, packed.width, 3)
