"""Draws frames around areas of environments' pictures."""

from __future__ import annotations

import numpy as np

from mosaic_worker.rendered import Picture, as_picture, as_text

__all__ = ["Picture", "as_picture", "as_text", "framed"]
_MARK, _EDGE = (255, 255, 255), (0, 0, 0)


def framed(picture: Picture, box: tuple[float, float, float, float]) -> Picture:
    """Return a copy of a picture in which an area is marked by a white frame with a black edge.

    Args:
        picture: RGB picture of shape (H, W, 3), ``uint8``.
        box: Left, top, right and bottom of the area in pixels; the frame is drawn around the area.
    """
    from PIL import Image, ImageDraw

    image = Image.fromarray(picture)
    draw = ImageDraw.Draw(image)
    thick = max(1, max(image.size) // 200)
    for color, away in ((_EDGE, 3 * thick), (_MARK, 2 * thick)):
        width = 3 * thick if color == _EDGE else thick
        around = (box[0] - away, box[1] - away, box[2] + away, box[3] + away)
        draw.rectangle(around, outline=color, width=width)
    return np.array(image)
