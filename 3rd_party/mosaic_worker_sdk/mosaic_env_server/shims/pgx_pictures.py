"""Renders Pgx's games: Pgx's own drawings, and MinAtar's screens."""

# Pgx draws SVG text; the library that converts SVG to pixels is untyped.

# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingModuleSource=false

from __future__ import annotations

import io
from typing import Any

import numpy as np

_ZOOM = 2
_CELL = 40
"""Size of a square of MinAtar's screens in pixels."""
_BLACK = (16, 16, 16)
_COLORS = (
    (250, 250, 250),
    (220, 140, 70),
    (90, 160, 90),
    (200, 80, 80),
    (160, 110, 190),
    (230, 200, 90),
    (110, 190, 200),
    (210, 130, 170),
    (150, 150, 150),
    (40, 90, 140),
)
"""Colors of the channels of MinAtar's screens, the player's channel first."""


def picture(game: str, state: Any, shown: Any) -> Any:
    """Return an image of a game, (H, W, 3) ``uint8``.

    Args:
        game: Name in pgx.
        state: State of the game.
        shown: Observation and other values of the state, as arrays.
    """
    return _screen(shown.observation) if game.startswith("minatar") else _drawing(state)


def _drawing(state: Any) -> Any:
    import resvg_py
    from PIL import Image

    png = bytes(resvg_py.svg_to_bytes(svg_string=state.to_svg(color_theme="light"), zoom=_ZOOM))
    return np.asarray(Image.open(io.BytesIO(png)).convert("RGB"))


def _screen(channels: Any) -> Any:
    """Return a MinAtar screen with one color for each channel; if channels overlap, the lowest channel is on
    top.
    """
    height, width, count = channels.shape
    pixels = np.full((height, width, 3), _BLACK, np.uint8)
    for channel in reversed(range(count)):
        pixels[channels[:, :, channel].astype(bool)] = _COLORS[channel]
    return np.kron(pixels, np.ones((_CELL, _CELL, 1), np.uint8))
