"""Options of tasks in which something moves along a line or on a plane: go to a place.

They are for tasks whose observation holds the place: cart-poles' does. Gymnasium's MuJoCo runners leave their
place out of what is observed unless they are made with ``exclude_current_positions_from_observation=False``;
else whether one has arrived cannot be told there. ``control_worker`` carries carts, ``mujoco_mpc_worker``
runners.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from gym_gui.core.paradigms import Option, OptionLibrary

Place = tuple[float, ...]
"""In m."""


class Motion(NamedTuple):
    """Where it is, and how fast in m/s, where that counts."""

    place: Place
    speed: float


class Track(NamedTuple):
    """A line or a plane with places on it.

    Attributes:
        place: Numbers of the observation's components that say where on it one is.
        speed: The same for how fast, where one has to come to rest.
        observed: Components that there are.
        stops: Places that options lead to.
        near: How far from a place one has arrived, in m.
        still: How slow, in m/s.
        budget: Moves that the longest way takes with a margin.
    """

    place: tuple[int, ...]
    speed: tuple[int, ...]
    observed: int
    stops: Sequence[Place]
    near: float
    still: float
    budget: int

    def read(self, observation: Any) -> Motion:
        """What an observation says of where one is."""
        place, speed = ([float(observation[i]) for i in numbers] for numbers in (self.place, self.speed))
        return Motion(tuple(place), math.hypot(*speed))

    def arrived(self, seen: Motion, stop: Place) -> bool:
        """Whether one is at a place, at rest where that counts."""
        return math.dist(seen.place, stop) <= self.near and seen.speed <= self.still


def _line(*stops: float) -> tuple[Place, ...]:
    return tuple((stop,) for stop in stops)


def _around(far: float) -> tuple[Place, ...]:
    """The corners of a square around where runners start."""
    return ((far, far), (far, -far), (-far, far), (-far, -far))


TRACKS: Mapping[str, Track] = {
    "classic_control.cartpole": Track((0,), (1,), 4, _line(-1.0, -0.5, 0.0, 0.5, 1.0), 0.1, 0.2, 200),
    "mujoco.inverted_pendulum": Track(
        (0,), (2,), 4, _line(-0.75, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75), 0.05, 0.1, 150
    ),
    "mujoco.swimmer": Track((0, 1), (), 10, _around(0.5), 0.1, 0.0, 400),
    "mujoco.ant": Track((0, 1), (), 107, _around(1.5), 0.3, 0.0, 300),
}
"""By the module of an environment within Gymnasium, without its version."""


def waypoint_options(track: Track) -> OptionLibrary:
    """``go to(0.5 m)`` for each place of a track, ``go to(1 m, -1 m)`` on a plane."""
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
