"""A film of the policy at play: one episode, as mp4, else as gif."""

# Environments and encoders are typed only in part.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mosaic_worker.training import VIDEOS
from sb3_worker.config import ConfigError
from sb3_worker.environments import make_environment, one_line
from sb3_worker.evaluate import stack
from sb3_worker.policy import Policy

MOST_FRAMES = 500
_FPS = 30

Frames = Sequence[NDArray[np.uint8]]


class CannotFilm(Exception):
    """There is no picture to take, or nothing to write it with; the message says why."""


def film(policy: Policy, env_id: str, folder: Path, step: int, seed: int) -> Path:
    """Play an episode with the most likely actions and write it to ``videos/``.

    Args:
        policy: As it is now.
        env_id: Where.
        folder: The run folder.
        step: Steps trained, for the name.
        seed: Of the environment.

    Returns:
        The file.

    Raises:
        CannotFilm: See there.
    """
    # Nobody asked for a window: what draws with SDL draws into memory.
    os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
    frames = _episode(policy, env_id, seed)
    target = folder / VIDEOS / f"step-{step:09d}"
    target.parent.mkdir(parents=True, exist_ok=True)
    said: list[str] = []
    for suffix, write in WRITERS.items():
        path = target.with_suffix(suffix)
        pending = path.with_name(f".{path.name}.new")
        try:
            write(frames, pending)
        except ImportError as error:
            said.append(one_line(error))
            continue
        except OSError as error:
            pending.unlink(missing_ok=True)
            raise CannotFilm(f"{path} cannot be written: {one_line(error)}") from error
        pending.replace(path)
        return path
    raise CannotFilm(f"neither av nor pillow is installed ({'; '.join(said)})")


def _episode(policy: Policy, env_id: str, seed: int) -> list[NDArray[np.uint8]]:
    frames: list[NDArray[np.uint8]] = []
    try:
        env = make_environment(env_id, policy.description.preprocessing, "rgb_array")
    except ConfigError as error:
        raise CannotFilm(one_line(error)) from error
    try:
        observation, _ = env.reset(seed=seed)
        memory = np.zeros((1, policy.memory), np.float32) if policy.memory else None
        for _ in range(MOST_FRAMES):
            frames.append(_picture(env))
            masks = env.get_wrapper_attr("action_masks")()[None]
            choice = policy.choose(stack([observation]), None if masks.all() else masks, memory=memory)
            memory = choice.memory
            observation, _, terminated, truncated, _ = env.step(choice.actions[0])
            if terminated or truncated:
                frames.append(_picture(env))
                break
    except CannotFilm:
        raise
    except Exception as error:  # foreign code may raise anything
        raise CannotFilm(f"{env_id} cannot be shown: {one_line(error)}") from error
    finally:
        env.close()
    return frames


def _picture(env: Any) -> NDArray[np.uint8]:
    picture = env.render()
    if not isinstance(picture, np.ndarray) or picture.ndim != 3 or picture.shape[2] != 3:
        raise CannotFilm("the environment draws no pictures")
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
            # One thread, as everything in a training.
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


WRITERS: dict[str, Callable[[Frames, Path], None]] = {".mp4": _write_mp4, ".gif": _write_gif}
"""How to write each kind of file, the best first."""
