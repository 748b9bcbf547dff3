"""Describes Box2D environments, for whose vectors Gymnasium's documentation has no table."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gym_gui.envs.describers.vectors import Component, VectorDescriber
from gym_gui.envs.instance import Instance

_LANDER = (
    Component("x (0 is the pad, more is right of it)"),
    Component("y (0 is on the pad)"),
    Component("velocity to the right"),
    Component("velocity upwards"),
    Component("tilt to the left", "rad"),
    Component("speed of tilting to the left (1 is 2.5 rad/s)"),
    Component("first leg on the ground", switch=True),
    Component("second leg on the ground", switch=True),
)
_LANDER_GAME = (
    "Come down on the pad softly and upright. A step pays 100 x how much nearer to the pad, slower and (in "
    "radians) more upright it made you, and 10 for each leg that came to the ground, taken back when it "
    "leaves it; a step of the main engine costs 0.3 x its thrust, of a side engine 0.03 x. The game ends "
    "with 100 when you lie still, with -100 when you crash or fly further than 1 to a side."
)
_LANDER_ACTIONS = (
    Component("main engine: off below 0, from 0 to 1 half to full thrust"),
    Component("side engines: below -0.5 left (push and turn left), above 0.5 right, else off"),
)
_ENGINES: Mapping[str, str] = {
    "noop": "let it fall",
    "left engine": "push the lander to the left and turn it to the left",
    "main engine": "push the lander the way its top points",
    "right engine": "push the lander to the right and turn it to the right",
}


def _leg(which: str) -> tuple[Component, ...]:
    return (
        Component(f"{which} hip, angle", "rad"),
        Component(f"{which} hip, speed (1 is what its motor can do)"),
        Component(f"{which} knee, angle", "rad"),
        Component(f"{which} knee, speed (1 is what its motor can do)"),
        Component(f"{which} leg on the ground", switch=True),
    )


_WALKER = (
    Component("tilt of the hull, backwards", "rad"),
    Component("turning of the hull, backwards"),
    Component("velocity forward"),
    Component("velocity upwards"),
    *_leg("first"),
    *_leg("second"),
    *(Component(f"lidar {i + 1}") for i in range(10)),
)
_WALKER_GAME = (
    "Getting forward pays 300 over the whole way, and a step 5 x how much nearer to upright (in radians) it "
    "brought the hull; each motor costs 0.028 x its force. The game ends at the far end, and with -100 when "
    "the hull touches the ground or is behind the start."
)
_LIDAR = (
    "The lidar measures ten ways from the hull, the first straight down and the last nearly straight "
    "ahead: 1 is free as far as it reaches, less is ground or a hindrance so far along."
)


_CAR_ACTIONS = (
    Component("steering: -1 is left, 1 is right"),
    Component("gas, from 0 to 1"),
    Component("brake, from 0 to 1"),
)
_CAR: Mapping[str, str] = {
    "noop": "roll on",
    "right": "steer right",
    "left": "steer left",
    "gas": "give gas",
    "brake": "brake",
}
_CAR_GAME = (
    "Every step costs 0.1, and each new piece of the track is rewarded, with 1000 for the whole of it; "
    "leaving the field costs 100."
)


def lander(environment: Instance) -> VectorDescriber:
    """Return a describer of LunarLander, with discrete or continuous actions."""
    return VectorDescriber(environment, _LANDER, _LANDER_ACTIONS, about=_LANDER_GAME, meanings=_ENGINES)


def walker(environment: Instance) -> VectorDescriber:
    """Return a describer of BipedalWalker, with or without obstacles; rewards are the same."""
    joints = tuple(
        Component(f"{joint} {what}: speed of the motor")
        for joint in ("first", "second")
        for what in ("hip", "knee")
    )
    return VectorDescriber(environment, _WALKER, joints, about=_WALKER_GAME, reads=_LIDAR)


def car(environment: Instance) -> VectorDescriber:
    """Return a describer of CarRacing, whose observation is only a picture."""
    return VectorDescriber(environment, (), _CAR_ACTIONS, about=_CAR_GAME, meanings=_CAR)


DESCRIBERS: Mapping[str, Callable[[Instance], VectorDescriber]] = {
    "box2d.lunar_lander": lander,
    "box2d.bipedal_walker": walker,
    "box2d.car_racing": car,
}
"""Functions that make describers of Box2D environments, by module within Gymnasium."""
