"""Shared code of environments whose simulator is a separate program: errors, settings, images, angles."""

# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import io
import math
from typing import Any, Iterable, List, Optional, Tuple

import numpy as np

from mosaic_env_server.shims.shapes import box
from mosaic_worker.spaces import Space

_PNG = b"\x89PNG\r\n\x1a\n"


class SimulatorError(Exception):
    """A simulator fails, refuses a request or has invalid settings."""


class SimulatorUnreachable(SimulatorError):
    """A simulator cannot be reached, does not answer, or sends an invalid answer.

    The episode in progress is not at fault and can be restarted.
    """

    mosaic_lost = True


def numbers(low: float, high: float, *shape: int) -> Space:
    """Return a ``float32`` ``Box`` with the same bounds for all components."""
    return box(shape, np.float32, low, high)


def pixels(height: int, width: int) -> Space:
    """Return the space of images, uint8 (height, width, 3)."""
    return box((height, width, 3), np.uint8, 0, 255)


def size_of(image: Any) -> Optional[Tuple[int, int]]:
    """Return height and width from the setting ``image``; ``None`` if it is ``None``.

    Raises:
        ValueError: The setting is no pair of positive lengths.
    """
    if image is None:
        return None
    try:
        height, width = (int(length) for length in image)
    except (TypeError, ValueError):
        height = width = 0
    if height < 1 or width < 1:
        raise ValueError(f"image is a height and a width in pixels, or null, not {image!r}")
    return height, width


def point_of(name: str, value: Any) -> Any:
    """Return a setting of three finite numbers as an array.

    Raises:
        ValueError: The setting is not three finite numbers.
    """
    try:
        point = np.array([float(each) for each in value], np.float64)
    except (TypeError, ValueError):
        point = np.zeros(0)
    if point.shape != (3,) or not np.isfinite(point).all():
        raise ValueError(f"{name} is three numbers, x, y and z, not {value!r}")
    return point


def positive(name: str, value: Any) -> float:
    """Return a setting that must be a number above 0.

    Raises:
        ValueError: The setting is not a number above 0.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < math.inf:
        raise ValueError(f"{name} is a number above 0, not {value!r}")
    return float(value)


def decoded(data: Any, who: str, wanted: Optional[Tuple[int, int]], remedy: str) -> Any:
    """Decode a PNG file to an image, (H, W, 3) ``uint8``.

    Args:
        data: Content of the file.
        who: Source of the image, for messages.
        wanted: Required height and width; ``None`` for any size.
        remedy: What to do if the image has another size, for the message.

    Raises:
        SimulatorError: The file is no PNG image, or has another size.
    """
    from PIL import Image

    if not isinstance(data, bytes) or not data.startswith(_PNG):
        raise SimulatorError(f"{who} sent no picture")
    try:
        picture = np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))
    except (OSError, SyntaxError, ValueError) as exc:
        raise SimulatorError(f"{who} sent a picture that cannot be read: {exc}") from exc
    height, width = picture.shape[:2]
    if wanted is not None and (height, width) != wanted:
        raise SimulatorError(
            f"{who} sends pictures of {height} x {width} pixels, and image asks for {wanted[0]} x "
            f"{wanted[1]}. {remedy}, or make it with image=[{height}, {width}]"
        )
    return picture


def listed(values: Iterable[float], digits: int = 2) -> str:
    """Return numbers as text, for example ``(1.00, -2.50, 0.00)``."""
    return f"({', '.join(f'{_plain(value, digits):.{digits}f}' for value in values)})"


def rounded(values: Iterable[float], digits: int = 2) -> List[float]:
    """Return rounded numbers, without negative zeros."""
    return [_plain(value, digits) for value in values]


def sideways(turn_deg: float) -> str:
    """Return a clockwise angle in degrees as a direction to turn to, in words."""
    if abs(turn_deg) < 1:
        return "straight ahead"
    return f"{abs(turn_deg):.0f} degrees to the {'right' if turn_deg > 0 else 'left'} of where you face"


def between(degrees: float) -> float:
    """Return the equivalent angle between -180 and 180 degrees."""
    return (degrees + 180.0) % 360.0 - 180.0


def _plain(value: float, digits: int) -> float:
    return round(float(value), digits) + 0.0  # adding 0 turns -0.0 into 0.0
