"""Pictures made smaller, to travel in messages or lie in files."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mosaic_worker.limits import inflated

_LARGEST = 256 * 2**20
"""Bytes of a picture that came compressed."""


@dataclass(frozen=True, slots=True)
class PackedPicture:
    """An RGB picture, compressed.

    Attributes:
        pixels: ``height * width * 3`` bytes, zlib.
        height: In pixels.
        width: In pixels.
    """

    pixels: bytes
    height: int
    width: int


def pack(picture: NDArray[np.uint8]) -> PackedPicture:
    """Compress a picture, ``(height, width, 3)``; cheap rather than small, since it is read again at once."""
    return PackedPicture(zlib.compress(picture.tobytes(), 1), picture.shape[0], picture.shape[1])


def unpack(packed: PackedPicture) -> NDArray[np.uint8]:
    """The picture again, the caller's own.

    Raises:
        ValueError: It is not as large as it says.
    """
    size = packed.height * packed.width * 3
    if not 0 <= size <= _LARGEST:
        raise ValueError(f"a picture of {packed.height} x {packed.width} pixels")
    pixels = bytearray(inflated(packed.pixels, size))  # a host elsewhere may send anything
    return np.frombuffer(pixels, np.uint8).reshape(packed.height, packed.width, 3)
