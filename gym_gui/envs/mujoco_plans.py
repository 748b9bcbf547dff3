"""Draws players' planned paths into MuJoCo's scene for the next picture."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gym_gui.core.types import Plan

_NEAR: tuple[float, ...] = (1.0, 0.55, 0.1, 1.0)
_FAR: tuple[float, ...] = (0.95, 0.2, 0.55, 1.0)
_THICKNESS = 0.008
"""Thickness of a plan's line, relative to the model's extent."""
_PLANS, _POINTS = 8, 64
"""Largest number of drawn plans, and of points of each: a viewer with too many marks stops for good."""


def mark(env: Any, plans: Sequence[Plan]) -> None:
    """Draw planned paths as lines into an environment's next picture, from orange to pink.

    Args:
        env: Gymnasium's ``MujocoEnv``, made with ``rgb_array``. Its viewer drops the marks after one picture.
        plans: Points in world coordinates; plans whose points do not have three numbers are left out.
    """
    if env.render_mode != "rgb_array":
        return
    viewer = env.mujoco_renderer._get_viewer("rgb_array")
    for plan in plans[:_PLANS]:
        try:
            points = np.asarray(plan[:_POINTS], np.float64)
        except (
            ValueError,
            TypeError,
            OverflowError,
            LookupError,
        ):  # any program may have written the record
            continue
        if points.ndim != 2 or points.shape[1] != 3 or not np.isfinite(points).all():
            continue
        share = np.linspace(0.0, 1.0, max(len(points) - 1, 1))[:, None]
        colors = (1 - share) * np.array(_NEAR) + share * np.array(_FAR)
        for start, end, color in zip(points, points[1:], colors, strict=False):
            _line(viewer, start, end, color, _THICKNESS * float(env.model.stat.extent))


def _line(
    viewer: Any,
    start: NDArray[np.float64],
    end: NDArray[np.float64],
    color: NDArray[np.float64],
    thickness: float,
) -> None:
    """Draw a capsule from one point to another, or a dot if the points are equal."""
    mujoco: Any = import_module("mujoco")
    length = float(np.linalg.norm(end - start))
    turn, mat = np.array([1.0, 0, 0, 0]), np.empty(9)
    if length > 0:
        mujoco.mju_quatZ2Vec(turn, (end - start) / length)
    mujoco.mju_quat2Mat(mat, turn)
    viewer.add_marker(
        type=mujoco.mjtGeom.mjGEOM_CAPSULE,
        pos=(start + end) / 2,
        size=np.array([thickness, thickness, length / 2]),
        mat=mat,
        rgba=color,
    )
