"""Reads films of a policy at play that its training has written. Do not use it in the GUI thread."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gym_gui.core.errors import MissingDependencyError, MosaicError

MOST_FRAMES: Final = 600
"""Largest number of frames that are shown of a film, from its beginning."""
MOST_BYTES: Final = 160 * 2**20
USUAL_FPS: Final = 30.0
_STEP: Final = re.compile(r"step-(\d+)")


class FilmError(MosaicError):
    """Error for a film that cannot be shown."""


@dataclass(frozen=True)
class Film:
    """Decoded frames of a film.

    Attributes:
        path: The file.
        frames: ``(height, width, 3)``, RGB.
        fps: Frames per second.
        step: Training step of the policy; ``None`` if the file's name does not contain it.
    """

    path: Path
    frames: tuple[NDArray[np.uint8], ...]
    fps: float
    step: int | None


def step_of(path: Path) -> int | None:
    """Return the training step in a file's name (``step-000020000.mp4``), or ``None``."""
    found = _STEP.search(path.stem)
    return int(found.group(1)) if found else None


def read_film(path: Path) -> Film:
    """Decode a film or a picture (``.mp4``, ``.gif``, ``.png``).

    Raises:
        FilmError: The file no longer exists or cannot be decoded.
        MissingDependencyError: PyAV is not installed.
    """
    try:
        import av
        from av.error import FFmpegError
    except ImportError:
        raise MissingDependencyError("showing a video", "mosaic install gui") from None
    frames: list[NDArray[np.uint8]] = []
    size = 0
    try:
        with av.open(str(path)) as container:
            stream = container.streams.video[0]
            fps = _rate(stream)
            for frame in container.decode(stream):
                picture = np.ascontiguousarray(frame.to_ndarray(format="rgb24"), np.uint8)
                size += picture.nbytes
                if len(frames) >= MOST_FRAMES or (frames and size > MOST_BYTES):
                    break
                frames.append(picture)
    except (OSError, FFmpegError, IndexError, ValueError) as error:
        raise FilmError(f"{path.name} cannot be shown", fix="Wait for the training's next film") from error
    if not frames:
        raise FilmError(f"{path.name} has no picture", fix="Wait for the training's next film")
    return Film(path, tuple(frames), fps, step_of(path))


def _rate(stream: Any) -> float:
    rate = stream.average_rate
    return float(rate) if rate and 0.5 <= float(rate) <= 240 else USUAL_FPS
