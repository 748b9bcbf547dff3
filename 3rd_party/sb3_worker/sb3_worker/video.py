"""A film of the policy at play: one episode."""

# Environments and encoders are typed only in part.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mosaic_worker.film import MOST_FRAMES, CannotFilm, picture_of, write_film
from sb3_worker.config import ConfigError
from sb3_worker.environments import make_environment, one_line
from sb3_worker.evaluate import stack
from sb3_worker.policy import Policy


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
    return write_film(frames, folder, step)


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
            frames.append(picture_of(env))
            masks = env.get_wrapper_attr("action_masks")()[None]
            choice = policy.choose(stack([observation]), None if masks.all() else masks, memory=memory)
            memory = choice.memory
            observation, _, terminated, truncated, _ = env.step(choice.actions[0])
            if terminated or truncated:
                frames.append(picture_of(env))
                break
    except CannotFilm:
        raise
    except Exception as error:  # foreign code may raise anything
        raise CannotFilm(f"{env_id} cannot be shown: {one_line(error)}") from error
    finally:
        env.close()
    return frames
