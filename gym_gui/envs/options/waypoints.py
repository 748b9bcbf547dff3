"""Options of tasks in which something is moved along a line: go to a place and come to rest there.

They are for tasks whose observation holds the place and its speed: cart-poles do. Gymnasium's MuJoCo runners
leave their place out of what is observed, so that whether one has arrived cannot be told there.
``control_worker`` carries them out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from gym_gui.core.paradigms import Option, OptionLibrary


class Motion(NamedTuple):
    """Where it is in m, and how fast in m/s."""

    place: float
    speed: float


class Track(NamedTuple):
    """A line with places on it.

    Attributes:
        place: Number of the observation's component that says where on it one is.
        speed: The same for how fast.
        observed: Components that there are.
        stops: Places that options lead to, in m.
        near: How far from a place one has arrived, in m.
        still: How slow, in m/s.
        budget: Moves that the longest way takes with a margin.
    """

    place: int
    speed: int
    observed: int
    stops: Sequence[float]
    near: float
    still: float
    budget: int

    def read(self, observation: Any) -> Motion:
        """What an observation says of where one is."""
        return Motion(float(observation[self.place]), float(observation[self.speed]))

    def arrived(self, seen: Motion, stop: float) -> bool:
        """Whether one is at a place, at rest."""
        return abs(seen.place - stop) <= self.near and abs(seen.speed) <= self.still


TRACKS: Mapping[str, Track] = {
    "classic_control.cartpole": Track(0, 1, 4, (-1.0, -0.5, 0.0, 0.5, 1.0), 0.1, 0.2, 200),
    "mujoco.inverted_pendulum": Track(0, 2, 4, (-0.75, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75), 0.05, 0.1, 150),
}
"""By the module of an environment within Gymnasium, without its version."""


def waypoint_options(track: Track) -> OptionLibrary:
    """``go to(0.5 m)`` for each place of a track."""
    return OptionLibrary(tuple(_go_to(track, stop) for stop in track.stops), track.read)


def _go_to(track: Track, stop: float) -> Option:
    return Option(
        "go to",
        (f"{stop:g} m",),
        track.budget,
        lambda seen: not track.arrived(seen, stop),
        lambda seen, began: track.arrived(seen, stop),
        meaning="move there and come to rest; left is less than 0",
    )
