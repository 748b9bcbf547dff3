"""Encodes a picture as PNG, resized and with a grid, for a vision-language model."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from gym_gui.envs.pictures import Picture

if TYPE_CHECKING:
    from PIL.Image import Image

_INK = (255, 255, 255)
_SHADE = (0, 0, 0)
CELLS = 8
"""Number of cells along the longer side of the default grid."""


def as_png(picture: Picture, *, longest: int = 0, grid: tuple[int, int] | None = None) -> bytes:
    """Return a picture as a PNG file.

    Args:
        picture: RGB picture of shape (H, W, 3), ``uint8``.
        longest: Longer side in pixels; 0 keeps the size. Small pictures are enlarged pixel by pixel, large
            pictures averaged.
        grid: Rows and columns of lines to draw, numbered from 0 in the first row and column of cells;
            ``None`` for no grid.

    Returns:
        Content of the PNG file.
    """
    from PIL import Image

    image = Image.fromarray(picture)
    if longest and longest != max(image.size):
        scale = longest / max(image.size)
        size = (max(1, round(image.width * scale)), max(1, round(image.height * scale)))
        image = image.resize(size, Image.Resampling.NEAREST if scale > 1 else Image.Resampling.BOX)
    if grid is not None:
        _rule(image, *grid)
    file = io.BytesIO()
    image.save(file, "PNG", compress_level=4)
    return file.getvalue()


def cells_of(picture: Picture) -> tuple[int, int]:
    """Return the rows and columns of a grid of roughly square cells on a picture."""
    height, width = picture.shape[:2]
    side = max(height, width) / CELLS
    return max(1, round(height / side)), max(1, round(width / side))


def _rule(image: Image, rows: int, columns: int) -> None:
    from PIL import ImageDraw

    draw = ImageDraw.Draw(image)
    width, height = image.size
    for i in range(1, columns):
        draw.line([(i * width // columns, 0), (i * width // columns, height)], fill=_INK)
    for i in range(1, rows):
        draw.line([(0, i * height // rows), (width, i * height // rows)], fill=_INK)
    for i in range(columns):
        _number(draw, i, (i * width // columns + 2, 1))
    for i in range(1, rows):
        _number(draw, i, (2, i * height // rows + 1))


def _number(draw: object, number: int, at: tuple[int, int]) -> None:
    from PIL.ImageDraw import ImageDraw

    assert isinstance(draw, ImageDraw)
    draw.text(at, str(number), fill=_INK, stroke_width=1, stroke_fill=_SHADE)
