"""Converts the output of an environment's ``render`` to one kind of image or to text."""

from __future__ import annotations

from typing import Any, Optional, Sequence, cast

import numpy as np
from numpy.typing import NDArray

Picture = NDArray[np.uint8]


def as_picture(rendered: Any) -> Optional[Picture]:
    """Return an RGB image, or ``None`` if nothing was rendered.

    Accepts all forms that environments return: arrays and nested lists of bytes, floats between 0 and 1
    (or 0 and 255), gray (H, W) or (H, W, 1), RGBA, arrays that are not contiguous, and a list of frames,
    of which the last is used.

    Args:
        rendered: Return value of ``render()`` for ``rgb_array``.

    Returns:
        (H, W, 3) ``uint8``, a contiguous copy.

    Raises:
        ValueError: ``rendered`` is no image.
    """
    if rendered is None or isinstance(rendered, str):
        return None
    image: NDArray[Any] = np.asarray(_last_frame(rendered))
    if image.ndim == 4 and len(image):
        image = image[-1]
    if image.size == 0:
        return None
    if image.ndim == 2:
        image = image[..., np.newaxis]
    if image.ndim != 3 or image.shape[2] not in (1, 3, 4):
        raise ValueError(f"its shape is {image.shape}, not (height, width, 3)")
    image = _bytes(image)
    if image.shape[2] == 1:
        image = np.repeat(image, 3, axis=2)
    return np.array(image[..., :3], dtype=np.uint8, order="C")


def _last_frame(rendered: Any) -> Any:
    """Return the last frame of a list of frames; return an image made of nested lists unchanged."""
    if not isinstance(rendered, (list, tuple)):
        return rendered
    frames = cast("Sequence[Any]", rendered)
    return frames[-1] if frames and np.ndim(frames[-1]) == 3 else frames


def _bytes(image: NDArray[Any]) -> NDArray[Any]:
    if image.dtype == np.uint8:
        return image
    if image.dtype == np.bool_:
        return image.astype(np.uint8) * np.uint8(255)
    if not np.issubdtype(image.dtype, np.number):
        raise ValueError(f"its values are {image.dtype}, not numbers")
    if np.issubdtype(image.dtype, np.floating):
        image = np.nan_to_num(image, nan=0.0)
        if image.max() <= 1.0:
            image = image * 255.0
        image = np.rint(image)
    return np.clip(image, 0, 255)


def as_text(rendered: Any) -> str:
    """Return rendered text with its color codes, or ``""`` if ``rendered`` is no text."""
    if hasattr(rendered, "getvalue"):  # a StringIO
        rendered = rendered.getvalue()
    if isinstance(rendered, (list, tuple)):  # frames since the last call of render()
        frames = cast("Sequence[Any]", rendered)
        rendered = frames[-1] if frames else ""
    text: Any = rendered
    return text if isinstance(text, str) else ""
