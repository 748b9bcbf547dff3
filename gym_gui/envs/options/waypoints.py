"""Options "go to" a position, for tasks in which a body moves along a line or on a plane.

The observation must contain the position of the body, as it does for cart-poles. Gymnasium's MuJoCo runners
observe their position only if they are created with ``exclude_current_positions_from_observation=False``;
otherwise an option cannot detect the arrival. ``control_worker`` plays these options for carts, and
``mujoco_mpc_worker`` for runners.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from gym_gui.core.paradigms import Option, OptionLibrary

Place = tuple[float, ...]
"""Coordinates of a position in m."""


class Motion(NamedTuple):
    """Position of a body in m and its speed in m/s; the speed is 0 if the track ignores it."""

    place: Place
    speed: float


class Track(NamedTuple):
    """Line or plane with the positions to which options lead.

    Attributes:
        place: Indices of the observation's components that hold the position.
        speed: Indices of the components that hold the velocity; empty if the body need not come to rest.
        observed: Number of components of the observation.
        stops: Positions to which the options lead.
        near: Largest distance from a position that counts as arrived, in m.
        still: Largest speed that counts as rest, in m/s.
        budget: Number of moves for the longest way, with a margin.
    """

    place: tuple[int, ...]
    speed: tuple[int, ...]
    observed: int
    stops: Sequence[Place]
    near: float
    still: float
    budget: int

    def read(self, observation: Any) -> Motion:
        """Return a body's position and speed from an observation."""
        place, speed = ([float(observation[i]) for i in numbers] for numbers in (self.place, self.speed))
        return Motion(tuple(place), math.hypot(*speed))

    def arrived(self, seen: Motion, stop: Place) -> bool:
        """Return whether a body is near enough to ``stop`` and slow enough."""
        return math.dist(seen.place, stop) <= self.near and seen.speed <= self.still


def _line(*stops: float) -> tuple[Place, ...]:
    return tuple((stop,) for stop in stops)


def _around(far: float) -> tuple[Place, ...]:
    """Return the corners of a square around the origin, where runners start; each coordinate is ±``far``."""
    return ((far, far), (far, -far), (-far, far), (-far, -far))


TRACKS: Mapping[str, Track] = {
    "classic_control.cartpole": Track((0,), (1,), 4, _line(-1.0, -0.5, 0.0, 0.5, 1.0), 0.1, 0.2, 200),
    "mujoco.inverted_pendulum": Track(
        (0,), (2,), 4, _line(-0.75, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75), 0.05, 0.1, 150
    ),
    "mujoco.swimmer": Track((0, 1), (), 10, _around(0.5), 0.1, 0.0, 400),
    "mujoco.ant": Track((0, 1), (), 107, _around(1.5), 0.3, 0.0, 300),
}
"""Tracks by the module of a Gymnasium environment, without its version."""


def waypoint_options(track: Track) -> OptionLibrary:
    """Return one option per position of a track: ``go to(0.5 m)``, or ``go to(1 m, -1 m)`` on a plane."""
    return OptionLibrary(tuple(_go_to(track, stop) for stop in track.stops), track.read)


def _go_to(track: Track, stop: Place) -> Option:
    rest = "move there and come to rest; left is less than 0"
    return Option(
        "go to",
        tuple(f"{x:g} m" for x in stop),
        track.budget,
        lambda seen: not track.arrived(seen, stop),
        lambda seen, began: track.arrived(seen, stop),
        meaning=rest if track.speed else "move there, by way along x and y",
    )
