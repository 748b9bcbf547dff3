"""Draws a level-based foraging field with the package's own icons, without a display."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import numpy as np
from PIL import Image, ImageDraw

from gym_gui.core.errors import MissingDependencyError
from gym_gui.envs.index import package_dir
from gym_gui.envs.pictures import Picture

CELL: Final = 51
"""Pixels of a cell of a foraging field with the line beside it, as in the package's own window."""
_WHITE, _BLACK, _GREY, _OWN = (255, 255, 255), (0, 0, 0), (170, 170, 170), (214, 39, 40)

Thing = tuple[int, int, int | None]
"""Position and level of an object: row, column, and level or ``None`` if unknown."""


def draw(
    rows: int,
    columns: int,
    food: Sequence[Thing],
    players: Sequence[Thing],
    *,
    own: tuple[int, int] | None = None,
    unseen: Sequence[tuple[int, int]] = (),
) -> Picture:
    """Return a picture of a level-based foraging field, similar to the package's window.

    Args:
        rows: Rows of the field.
        columns: Columns of the field.
        food: Food items.
        players: Players.
        own: Row and column of the observing player, which gets a frame; ``None`` for none.
        unseen: Cells about which nothing is known; drawn grey.
    """
    picture = Image.new("RGB", (columns * CELL + 1, rows * CELL + 1), _WHITE)
    pen = ImageDraw.Draw(picture)
    for row, column in unseen:
        pen.rectangle((column * CELL, row * CELL, (column + 1) * CELL, (row + 1) * CELL), _GREY)
    for n in range(max(rows, columns) + 1):
        pen.line((n * CELL, 0, n * CELL, rows * CELL), _BLACK)
        pen.line((0, n * CELL, columns * CELL, n * CELL), _BLACK)
    for things, name in ((food, "apple"), (players, "agent")):
        for row, column, level in things:
            icon = _icon(name)
            picture.paste(icon, (column * CELL + 1, row * CELL + 1), icon)
            if level is not None:
                _badge(pen, row, column, level)
    if own is not None:
        row, column = own
        pen.rectangle((column * CELL, row * CELL, (column + 1) * CELL, (row + 1) * CELL), None, _OWN, 4)
    return np.asarray(picture)


def _badge(pen: ImageDraw.ImageDraw, row: int, column: int, level: int) -> None:
    x, y, radius = column * CELL + CELL * 3 // 4, row * CELL + CELL * 3 // 4, CELL // 5
    pen.ellipse((x - radius, y - radius, x + radius, y + radius), _WHITE, _BLACK)
    pen.text((x, y), str(level), _BLACK, anchor="mm", font_size=15)


@lru_cache(maxsize=4)
def _icon(name: str) -> Image.Image:
    place = package_dir("lbforaging")
    if place is None:
        raise MissingDependencyError("lbforaging", "mosaic envs install lbforaging")
    with Image.open(place / "foraging" / "icons" / f"{name}.png") as icon:
        return icon.convert("RGBA").resize((CELL - 1, CELL - 1))
