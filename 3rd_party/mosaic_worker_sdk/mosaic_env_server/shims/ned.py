"""Coordinates of AirSim (north, east, down) and those of ROS (east, north, up), each as the other.

AirSim: https://cosys-lab.github.io/Cosys-AirSim/apis/#coordinate-system. A vehicle's own axes are forward,
right, down in the one and forward, left, up in the other (REP 103, https://www.ros.org/reps/rep-0103.html).
Quaternions have ``w`` first, and turn the vehicle's axes into those of the world.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

FRAMES = ("ned", "enu")
_HALF = math.sqrt(0.5)
_WORLD = (0.0, _HALF, _HALF, 0.0)
"""Half a turn about the line between north and east: exchanges them, and turns up into down."""
_BODY = (0.0, 1.0, 0.0, 0.0)
"""Half a turn about the forward axis."""


def point(value: Any, frame: str) -> Any:
    """A point or velocity of the world from ``ned`` to ``frame``, and from ``frame`` to ``ned``."""
    x, y, z = value
    return np.array([x, y, z] if frame == "ned" else [y, x, -z], np.float64)


def along(value: Any, frame: str) -> Any:
    """A velocity along a vehicle's own axes, likewise in both directions."""
    x, y, z = value
    return np.array([x, y, z] if frame == "ned" else [x, -y, -z], np.float64)


def orientation(quaternion: Any, frame: str) -> Any:
    """A vehicle's orientation, likewise in both directions; the same turn, with ``w`` not negative."""
    turned = tuple(float(each) for each in quaternion)
    if frame != "ned":
        turned = product(product(_WORLD, turned), _BODY)
    found = np.array(turned, np.float64)
    return -found if found[0] < 0 else found


def product(one: Any, other: Any) -> Any:
    """First ``other``, then ``one``."""
    a, b, c, d = one
    w, x, y, z = other
    return (
        a * w - b * x - c * y - d * z,
        a * x + b * w + c * z - d * y,
        a * y - b * z + c * w + d * x,
        a * z + b * y - c * x + d * w,
    )


def heading(quaternion: Any) -> float:
    """Where a vehicle faces (``ned``): degrees clockwise from north, between 0 and 360."""
    w, x, y, z = quaternion
    return math.degrees(math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))) % 360.0


def bearing(start: Any, end: Any) -> float:
    """Where ``end`` lies from ``start`` (``ned``), likewise."""
    return math.degrees(math.atan2(end[1] - start[1], end[0] - start[0])) % 360.0
