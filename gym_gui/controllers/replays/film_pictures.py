"""Pictures of a replay made small: each is what has changed since the one before, as WebP."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy import ndimage

from gym_gui.analysis.pages.film import Patch

Pixels = NDArray[np.uint8]

LARGEST = 480
"""Pixels of a picture's longer side; larger ones are made smaller at once."""
_BLOCK = 16
"""Changes are looked for in squares of so many pixels."""
_MOST_PATCHES = 12
"""Of one picture; where more places have changed, one patch covers them all."""
_WHOLE = 0.6
"""A patch of more than this share of the picture is the picture."""
_QUALITY = 72


def fitted(picture: Pixels, longest: int = LARGEST) -> Pixels:
    """A picture of at most so many pixels; one that is smaller stays as it is."""
    height, width = picture.shape[:2]
    if max(height, width) <= longest:
        return np.ascontiguousarray(picture)
    factor = longest / max(height, width)
    size = max(1, round(width * factor)), max(1, round(height * factor))
    # As sharp as a cubic filter where pictures are made smaller, in a third of Lanczos's time.
    return np.asarray(Image.fromarray(picture).resize(size, Image.Resampling.HAMMING), np.uint8)


class PatchMaker:
    """Turns pictures into patches and remembers every patch that was there before.

    Attributes:
        pictures: WebP in base64, by number.
        size: Their length in all.
    """

    def __init__(self) -> None:
        self.pictures: list[str] = []
        self.size = 0
        self._numbers: dict[bytes, int] = {}
        self._shown: Pixels | None = None
        self._lossless: bool | None = None

    def add(self, picture: Pixels) -> tuple[Patch, ...]:
        """The patches that turn what was shown into this picture."""
        shown, self._shown = self._shown, picture
        if shown is None or shown.shape != picture.shape:
            return (Patch(self._number(picture), 0, 0, True),)
        found: list[Patch] = []
        for top, bottom, left, right in _changes(shown, picture):
            if (bottom - top) * (right - left) > _WHOLE * picture.shape[0] * picture.shape[1]:
                return (Patch(self._number(picture), 0, 0, True),)
            found.append(Patch(self._number(picture[top:bottom, left:right]), left, top, False))
        return tuple(found)

    def _number(self, part: Pixels) -> int:
        key = part.shape[0].to_bytes(4) + part.tobytes()
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.pictures)
            written = base64.b64encode(self._webp(part)).decode()
            self.pictures.append(written)
            self.size += len(written) + 3
        return number

    def _webp(self, part: Pixels) -> bytes:
        """Flat pictures are smaller, and sharp, without loss; the first picture tells which they are."""
        if self._lossless is None:
            exact, rough = _encoded(part, lossless=True), _encoded(part, lossless=False)
            self._lossless = len(exact) <= 2 * len(rough)
            return exact if self._lossless else rough
        return _encoded(part, lossless=self._lossless)


def _encoded(part: Pixels, *, lossless: bool) -> bytes:
    with io.BytesIO() as file:
        image = Image.fromarray(np.ascontiguousarray(part))
        image.save(file, "WEBP", lossless=lossless, quality=_QUALITY, method=4)
        return file.getvalue()


def _changes(before: Pixels, after: Pixels) -> Iterator[tuple[int, int, int, int]]:
    """Rectangles that hold all that differs: top, bottom, left, right."""
    # numpy goes through the shortest axis number by number: colours, and columns below, are joined by hand.
    channels = before != after
    differs: NDArray[np.bool_] = np.logical_or.reduce([channels[:, :, c] for c in range(channels.shape[2])])
    if not differs.any():
        return
    height, width = before.shape[:2]
    rows, columns = -(-height // _BLOCK), -(-width // _BLOCK)
    padded = np.zeros((rows * _BLOCK, columns * _BLOCK), bool)
    padded[:height, :width] = differs
    blocks = padded.reshape(rows, _BLOCK, -1).any(axis=1).reshape(rows, columns, _BLOCK).any(axis=2)
    labels, places = ndimage.label(blocks, np.ones((3, 3)))
    everything = [(slice(0, rows), slice(0, columns))]
    for across, along in ndimage.find_objects(labels) if places <= _MOST_PATCHES else everything:
        top, left = across.start * _BLOCK, along.start * _BLOCK
        part = differs[top : across.stop * _BLOCK, left : along.stop * _BLOCK]
        lines, points = np.flatnonzero(part.any(axis=1)), np.flatnonzero(part.any(axis=0))
        yield top + int(lines[0]), top + int(lines[-1]) + 1, left + int(points[0]), left + int(points[-1]) + 1
