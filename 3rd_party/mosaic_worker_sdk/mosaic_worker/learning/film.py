"""Records a video of a policy at play in the run folder of its training."""

# Environments and encoders are typed only in part.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Callable, Dict, List, Sequence, Tuple

import numpy as np
from numpy.typing import NDArray

from mosaic_worker.failures import one_line
from mosaic_worker.learning.training_command import ConfigError
from mosaic_worker.plain_files import replaced
from mosaic_worker.training import VIDEOS

MOST_FRAMES = 500
"""Largest number of frames of a video."""
_FPS = 30

Frames = Sequence["NDArray[np.uint8]"]
Decide = Callable[[Any, Any, Dict[str, Any], Any], Tuple[Any, Any]]
"""Function from environment, observation, info and memory to action and memory.

The memory is ``None`` at the first step.
"""


class CannotFilm(Exception):
    """No video can be recorded or written; the message says why."""


def film_episode(make: Callable[[], Any], decide: Decide, folder: Path, step: int, seed: int) -> Path:
    """Play an episode and write a video of it to ``videos/`` of a run folder.

    Args:
        make: Makes a Gymnasium environment with render mode ``rgb_array``.
        decide: Chooses the actions.
        folder: The run folder.
        step: Training steps so far, for the name of the file.
        seed: Seed of the environment.

    Returns:
        The file.

    Raises:
        CannotFilm: The environment cannot be made, rendered or played, or the video cannot be written.
    """
    # The video needs no window: environments that render with SDL render into memory.
    os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
    try:
        env = make()
    except ConfigError as error:
        raise CannotFilm(one_line(error)) from error
    frames: List[NDArray[np.uint8]] = []
    try:
        observation, info = env.reset(seed=seed)
        memory, over = None, False
        while not over and len(frames) < MOST_FRAMES:
            frames.append(picture_of(env))
            action, memory = decide(env, observation, info, memory)
            observation, _, terminated, truncated, info = env.step(action)
            over = bool(terminated or truncated)
        if over:
            frames.append(picture_of(env))
    except CannotFilm:
        raise
    except Exception as error:  # code of the environment, which may raise anything
        raise CannotFilm(f"{env.spec.id if env.spec else env} cannot be shown: {one_line(error)}") from error
    finally:
        env.close()
    return write_film(frames, folder, step)


def write_film(frames: Frames, folder: Path, step: int) -> Path:
    """Write frames to ``videos/`` of a run folder as MP4, or as GIF if MP4 cannot be written.

    Args:
        frames: At least one frame; all have the same even height and width, see :func:`picture_of`.
        folder: The run folder.
        step: Training steps so far, for the name of the file.

    Returns:
        The file.

    Raises:
        CannotFilm: No package that writes videos is installed, or the file cannot be written.
    """
    target = folder / VIDEOS / f"step-{step:09d}"
    target.parent.mkdir(parents=True, exist_ok=True)
    said: List[str] = []
    for suffix, write in _WRITERS.items():
        path = target.with_suffix(suffix)
        try:
            with replaced(path) as pending:
                write(frames, pending)
        except ImportError as error:
            said.append(one_line(error))
            continue
        except OSError as error:
            raise CannotFilm(f"{path} cannot be written: {one_line(error)}") from error
        return path
    raise CannotFilm(f"neither av nor pillow is installed ({'; '.join(said)})")


def picture_of(env: Any) -> NDArray[np.uint8]:
    """Render a Gymnasium environment, uint8 (height, width, 3), cropped to even height and width.

    Raises:
        CannotFilm: The environment does not render RGB images.
    """
    picture = env.render()
    if not isinstance(picture, np.ndarray) or picture.ndim != 3 or picture.shape[2] != 3:
        raise CannotFilm("the environment renders no images")
    # Video encoders take even sizes only.
    height, width = (size - size % 2 for size in picture.shape[:2])
    return np.ascontiguousarray(picture[:height, :width], np.uint8)


def _write_mp4(frames: Frames, path: Path) -> None:
    import av
    from av.error import FFmpegError

    height, width = frames[0].shape[:2]
    try:
        with av.open(str(path), "w", format="mp4") as container:
            stream: Any = container.add_stream("libx264", rate=_FPS)
            stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
            # One thread, as in all code that trains.
            stream.codec_context.thread_count = 1
            for frame in frames:
                container.mux(stream.encode(av.VideoFrame.from_ndarray(frame, format="rgb24")))
            container.mux(stream.encode())
    except FFmpegError as error:
        raise ImportError(f"av cannot write mp4 here: {error}") from error


def _write_gif(frames: Frames, path: Path) -> None:
    from PIL import Image

    pictures = [Image.fromarray(frame) for frame in frames]
    pictures[0].save(
        path, format="GIF", save_all=True, append_images=pictures[1:], duration=1000 // _FPS, loop=0
    )


_WRITERS: Dict[str, Callable[[Frames, Path], None]] = {".mp4": _write_mp4, ".gif": _write_gif}
"""Function that writes each kind of file, the preferred kind first."""
