"""Writes pictures to a video file in a common format (H.264 in mp4)."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gym_gui.core.errors import MissingDependencyError, MosaicError, UsageError
from mosaic_worker.plain_files import replaced

SMALL_SIDE = 480
"""Target size of a picture's shorter side in pixels.

A smaller picture is enlarged by a whole factor, so that its cells stay sharp."""


class VideoError(MosaicError):
    """Error for a video that could not be written."""


def write_video(path: Path, pictures: Iterable[NDArray[np.uint8]], fps: float) -> int:
    """Write a video, whole or not at all.

    Pictures that differ in size from the first are cropped or padded to the size of the first.

    Args:
        path: An ``.mp4`` file, which is replaced if it exists.
        pictures: ``(height, width, 3)``, RGB.
        fps: Pictures per second.

    Returns:
        Number of pictures written.

    Raises:
        UsageError: The path is not an ``.mp4`` file, its folder does not exist, or there are no pictures.
        MissingDependencyError: PyAV is not installed.
    """
    if path.suffix.lower() != ".mp4":
        raise UsageError(f"{path.name} is not an .mp4 file", fix=f"Name it {path.with_suffix('.mp4').name}")
    if not path.parent.is_dir():
        raise UsageError(f"there is no folder {path.parent}", fix="Choose another folder for the video")
    try:
        import av
        from av.error import FFmpegError
    except ImportError:
        raise MissingDependencyError("writing a video", "mosaic install gui") from None
    try:
        with replaced(path) as temporary:
            with av.open(str(temporary), "w", format="mp4", options={"movflags": "+faststart"}) as container:
                written = _encode(container, pictures, fps)
            if not written:
                raise UsageError(
                    "there is no picture to write", fix="Choose an environment that draws pictures"
                )
    except (OSError, FFmpegError) as exc:
        reason = exc.strerror or str(exc)
        raise VideoError(f"{path} cannot be written: {reason}", fix="Choose another place") from exc
    return written


def _encode(container: Any, pictures: Iterable[NDArray[np.uint8]], fps: float) -> int:
    """Encode the pictures and return their number. The first picture sets the size of the stream."""
    import av

    stream: Any = None
    written, factor, size = 0, 1, (0, 0)
    for picture in pictures:
        if stream is None:
            factor = max(1, round(SMALL_SIDE / max(1, min(picture.shape[:2]))))
            size = _even(picture.shape[0] * factor, picture.shape[1] * factor)
            stream = _stream(container, size, fps)
        frame = av.VideoFrame.from_ndarray(_fitted(picture, factor, size), format="rgb24")
        container.mux(stream.encode(frame))
        written += 1
    if stream is not None:
        container.mux(stream.encode())
    return written


def _stream(container: Any, size: tuple[int, int], fps: float) -> Any:
    rate = Fraction(fps).limit_denominator(1000)
    stream = container.add_stream("libx264", rate=rate, options={"crf": "18", "preset": "veryfast"})
    stream.height, stream.width = size
    stream.pix_fmt = "yuv420p"  # the format that all players and browsers support
    return stream


def _even(height: int, width: int) -> tuple[int, int]:
    return height + height % 2, width + width % 2


def _fitted(picture: NDArray[np.uint8], factor: int, size: tuple[int, int]) -> NDArray[np.uint8]:
    """Return a picture enlarged by a whole factor and placed on a black background of the video's size."""
    big = picture.repeat(factor, axis=0).repeat(factor, axis=1) if factor > 1 else picture
    if big.shape[:2] == size:
        return np.ascontiguousarray(big)
    canvas = np.zeros((*size, 3), np.uint8)
    height, width = min(big.shape[0], size[0]), min(big.shape[1], size[1])
    canvas[:height, :width] = big[:height, :width]
    return canvas
