"""Converts images in messages to the form of records: digest and size."""

from __future__ import annotations

import base64
import binascii
import hashlib
import struct
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple

_PNG: Final = b"\x89PNG\r\n\x1a\n"
_JPEG: Final = b"\xff\xd8"
_FRAMES: Final = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""JPEG markers that begin a frame and therefore contain the image's size."""


class Picture(NamedTuple):
    """Digest and size of an image, for a record.

    Attributes:
        sha256: SHA-256 of the file's bytes.
        width: Width in pixels; 0 if it cannot be read from the file.
        height: Height in pixels; 0 if it cannot be read from the file.
    """

    sha256: str
    width: int
    height: int


def picture(part: Mapping[str, Any]) -> Picture | None:
    """Return the digest and size of the image in a part of a message; ``None`` for other parts."""
    address = part.get("image_url")
    if not isinstance(address, Mapping):
        return None
    return _picture(str(address.get("url", "")))  # pyright: ignore[reportUnknownArgumentType, reportUnknownMemberType]


@lru_cache(maxsize=64)
def _picture(url: str) -> Picture:
    data = data_of(url)
    width, height = _size(data)
    return Picture(hashlib.sha256(data).hexdigest(), width, height)


def data_of(url: str) -> bytes:
    """Return the bytes in a ``data:`` URL; for any other URL, the URL as bytes."""
    head, _, tail = url.partition(",")
    if head.startswith("data:") and head.endswith(";base64"):
        try:
            return base64.b64decode(tail, validate=True)
        except binascii.Error:
            pass
    return url.encode()


def _size(data: bytes) -> tuple[int, int]:
    if data.startswith(_PNG) and len(data) >= 24:
        return struct.unpack(">II", data[16:24])
    if data.startswith(_JPEG):
        return _jpeg_size(data)
    return 0, 0


def _jpeg_size(data: bytes) -> tuple[int, int]:
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:
        if data[at + 1] in _FRAMES:
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return width, height
        at += 2 + int.from_bytes(data[at + 2 : at + 4], "big")
    return 0, 0
