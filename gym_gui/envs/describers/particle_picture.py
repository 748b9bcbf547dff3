"""Draws a particle world for one agent, only from the agent's observation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from gym_gui.envs.pictures import Picture

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw

SIDE: Final = 640
MESH: Final = 0.5
_ROOM: Final = 1.12
"""Ratio of the picture's reach to the distance of the farthest object."""
_INK, _LINES, _PAPER = (0, 0, 0), (225, 225, 225), (255, 255, 255)
_HUES: Mapping[str, tuple[int, int, int]] = {
    "red": (215, 60, 60),
    "green": (60, 170, 70),
    "blue": (70, 90, 215),
    "target": (60, 170, 70),
    "adversary": (215, 60, 60),
    "leadadversary": (215, 60, 60),
    "agent": (90, 140, 235),
    "food": (235, 185, 40),
    "orange": (240, 150, 40),
    "forest": (160, 210, 160),
}
_OTHER = (110, 110, 110)
_NUMBER: Final = re.compile(r"[ _]*(\d+|\(.*\))$")


def drawn(
    things: Iterable[tuple[str, Sequence[float]]],
    notes: Sequence[str],
    sizes: Mapping[str, float],
    own_size: float,
) -> Picture:
    """Return a picture of an observation in a particle world, centered on the agent.

    Args:
        things: Names of visible objects, with their distances to the right and up.
        notes: Further lines of text.
        sizes: Radius by kind of object.
        own_size: Radius of the agent.

    Returns:
        RGB picture of shape (:data:`SIDE`, :data:`SIDE`, 3), scaled so that the farthest object fits.
    """
    from PIL import Image, ImageDraw

    image = Image.new("RGB", (SIDE, SIDE), _PAPER)
    draw = ImageDraw.Draw(image)
    seen = list(things)
    reach = _ROOM * max(1.0, *(abs(part) for _, place in seen for part in place), 0.0)
    scale = SIDE / 2 / reach

    def at(right: float, up: float) -> tuple[float, float]:
        return SIDE / 2 + right * scale, SIDE / 2 - up * scale

    for i in range(-int(reach / MESH), int(reach / MESH) + 1):
        (x, y), width = at(i * MESH, i * MESH), 1 + (i == 0)
        draw.line((x, 0, x, SIDE), _LINES, width)
        draw.line((0, y, SIDE, y), _LINES, width)
    smallest = min(sizes.values(), default=own_size)
    for name, place in sorted(seen, key=lambda each: -sizes.get(_kind(each[0]), smallest)):
        kind = _kind(name)
        draw.circle(at(*place), sizes.get(kind, smallest) * scale, _hue(name), _INK)
    draw.circle(at(0, 0), own_size * scale, outline=_INK, width=4)
    for name, place in seen:
        _written(draw, at(*place), name)
    _written(draw, at(0, -own_size), "you")
    for line, note in enumerate(reversed(notes)):
        draw.text((6, SIDE - 18 * (line + 1) - 4), note, _INK, font_size=14)
    return np.array(image)


def _kind(name: str) -> str:
    """Return an object's name without its number, such as ``landmark`` for ``landmark 0``."""
    return _NUMBER.sub("", name).replace("_", " ")


def _hue(name: str) -> tuple[int, int, int]:
    words = _kind(name).split()
    return next((_HUES[word] for word in words if word in _HUES), _OTHER)


def _written(draw: ImageDraw, place: tuple[float, float], name: str) -> None:
    """Draw a name below its position, inside the picture."""
    wide = draw.textlength(name, font_size=14)
    x = min(max(place[0] - wide / 2, 2), SIDE - wide - 2)
    y = min(place[1] + 3, SIDE - 18)
    draw.text((x, y), name, _INK, font_size=14, stroke_width=2, stroke_fill=_PAPER)
