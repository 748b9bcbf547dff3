"""Converts coordinates between AirSim (north, east, down) and ROS (east, north, up).

AirSim: https://cosys-lab.github.io/Cosys-AirSim/apis/#coordinate-system. A vehicle's own axes are forward,
right, down in AirSim, and forward, left, up in ROS (REP 103, https://www.ros.org/reps/rep-0103.html).
Quaternions have ``w`` first and rotate the vehicle's axes into those of the world.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

FRAMES = ("ned", "enu")
_HALF = math.sqrt(0.5)
_WORLD = (0.0, _HALF, _HALF, 0.0)
"""Rotation by 180 degrees about the line between north and east: exchanges them, and turns up into down."""
_BODY = (0.0, 1.0, 0.0, 0.0)
"""Rotation by 180 degrees about the forward axis."""


def point(value: Any, frame: str) -> Any:
    """Convert a point or velocity in the world's axes from ``ned`` to ``frame``, or from ``frame`` to
    ``ned``.
    """
    x, y, z = value
    return np.array([x, y, z] if frame == "ned" else [y, x, -z], np.float64)


def along(value: Any, frame: str) -> Any:
    """Convert a velocity in a vehicle's own axes from ``ned`` to ``frame``, or from ``frame`` to ``ned``."""
    x, y, z = value
    return np.array([x, y, z] if frame == "ned" else [x, -y, -z], np.float64)


def orientation(quaternion: Any, frame: str) -> Any:
    """Convert a vehicle's orientation from ``ned`` to ``frame``, or back; the result has ``w`` not
    negative.
    """
    turned = tuple(float(each) for each in quaternion)
    if frame != "ned":
        turned = product(product(_WORLD, turned), _BODY)
    found = np.array(turned, np.float64)
    return -found if found[0] < 0 else found


def product(one: Any, other: Any) -> Any:
    """Return the product of two quaternions: the rotation ``other``, then ``one``."""
    a, b, c, d = one
    w, x, y, z = other
    return (
        a * w - b * x - c * y - d * z,
        a * x + b * w + c * z - d * y,
        a * y - b * z + c * w + d * x,
        a * z + b * y - c * x + d * w,
    )


def heading(quaternion: Any) -> float:
    """Return the heading of a vehicle (``ned``) in degrees clockwise from north, from 0 to 360."""
    w, x, y, z = quaternion
    return math.degrees(math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))) % 360.0


def bearing(start: Any, end: Any) -> float:
    """Return the direction from ``start`` to ``end`` (``ned``) in degrees clockwise from north, from 0 to
    360.
    """
    return math.degrees(math.atan2(end[1] - start[1], end[0] - start[0])) % 360.0
