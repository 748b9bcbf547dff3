"""Describes Gymnasium's classic control environments: positions and motions in sentences."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import atan2, degrees
from typing import Any, NamedTuple

from gym_gui.core.experiment.prompt_inputs import Mode
from gym_gui.core.types import AgentID
from gym_gui.envs.describers.value_words import number
from gym_gui.envs.describers.vectors import Component, VectorDescriber
from gym_gui.envs.instance import Instance

_TURNS = ("clockwise", "counterclockwise")
_SIDES = ("left", "right")


class Task(NamedTuple):
    """Description of one classic control task.

    Attributes:
        said: Function that returns an observation as text.
        size: Number of values in an observation.
        about: Function that returns the goal, given the environment.
        reads: Sentence that explains the text.
        meanings: Meanings of discrete actions, by name.
        acted: Components of a continuous action.
    """

    said: Callable[[Sequence[float]], str]
    size: int
    about: Callable[[Any], str]
    reads: str = ""
    meanings: Mapping[str, str] = {}  # never changed
    acted: tuple[Component, ...] = ()


class ControlDescriber(VectorDescriber):
    """Describes the observations of a classic control task in sentences.

    Args:
        environment: One of Gymnasium's classic control environments.
        task: Task of the environment.
        observed: Names of the observation's numbers in facts.
    """

    def __init__(self, environment: Instance, task: Task, observed: Sequence[Component] = ()) -> None:
        about = task.about(environment.env)
        super().__init__(environment, observed, task.acted, about=about, meanings=task.meanings)
        self._task = task

    def text(self, agent: AgentID, observation: Any, mode: Mode = "egocentric") -> str:
        if getattr(observation, "shape", ()) != (self._task.size,):
            return super().text(agent, observation, mode)
        return self._task.said(observation.tolist())

    def reading(self, agent: AgentID, mode: Mode = "egocentric") -> str:
        return self._task.reads


def _way(value: float, names: tuple[str, str]) -> str:
    """Return the first name for a negative ``value``, the second for a positive one."""
    return names[value > 0]


def _moves(speed: float, unit: str, verb: str = "moving", names: tuple[str, str] = _SIDES) -> str:
    return f"{verb} {_way(speed, names)} at {number(abs(speed))} {unit}" if speed else "at rest"


def _leans(angle: float, names: tuple[str, str], off: str) -> str:
    """Return an angle in radians as text in degrees, with its direction."""
    return f"{number(abs(degrees(angle)))} degrees {_way(angle, names)}{off}"


def _cart_pole(seen: Sequence[float]) -> str:
    x, speed, angle, turning = seen
    where = f"{number(abs(x))} m {_way(x, _SIDES)} of the centre" if x else "at the centre"
    rotating = _moves(degrees(turning), "degrees/s", "rotating")
    return f"Cart: {where}, {_moves(speed, 'm/s')}.\nPole: leaning {_leans(angle, _SIDES, '')}, {rotating}."


def _cart_pole_rules(env: Any) -> str:
    edge, lean = getattr(env, "x_threshold", 2.4), getattr(env, "theta_threshold_radians", 0.2095)
    ends = (
        f"when the pole leans more than {number(degrees(lean))} degrees or the cart is more than "
        f"{number(edge)} m from the centre"
    )
    if getattr(env, "_sutton_barto_reward", False):
        return f"It costs 1, and the game ends, {ends}; all other steps pay nothing."
    return f"Every step pays 1. The game ends {ends}."


def _car(seen: Sequence[float]) -> str:
    x, speed = seen
    off = x - _BOTTOM
    return (
        f"Car: at {number(x)}, {number(abs(off))} {_way(off, _SIDES)} of the bottom of the valley, "
        f"{_moves(speed, 'a step')}."
    )


_BOTTOM = -0.5236
"""Position of the valley's bottom in MountainCar, where cos(3x) is smallest: -pi / 6."""
_CAR_READS = "Places run from -1.2, where a wall is, to 0.6; the bottom of the valley is at -0.52."


def _car_rules(env: Any) -> str:
    return (
        f"The flag stands on the right hill at {number(env.goal_position)}; {_arrives(env)}. The motor is "
        "too weak to drive up from the bottom: the car has to swing. Speed is at most "
        f"{number(env.max_speed)} a step, and every step costs 1."
    )


def _strong_car_rules(env: Any) -> str:
    return (
        f"The flag stands on the right hill at {number(env.goal_position)}; {_arrives(env)} and pays 100. "
        "The motor is too weak to drive up from the bottom: the car has to swing. Speed is at most "
        f"{number(env.max_speed)} a step; force costs a tenth of its square."
    )


def _arrives(env: Any) -> str:
    """Return a clause that says that reaching the flag ends a game of MountainCar."""
    fast = f" at a speed of {number(env.goal_velocity)} or more" if env.goal_velocity > 0 else ""
    return f"reaching it{fast} ends the game"


def _pendulum(seen: Sequence[float]) -> str:
    up, left, turning = seen
    angle = atan2(left, up)
    return f"Pendulum: {_leans(angle, _TURNS, ' of upright')}, {_moves(turning, 'rad/s', 'turning', _TURNS)}."


def _pendulum_rules(env: Any) -> str:
    return (
        "Each step costs the square of its angle from upright in radians, a tenth of the square of its "
        "speed, and a thousandth of the square of the torque. The game does not end early."
    )


def _acrobot(seen: Sequence[float]) -> str:
    first, second = atan2(seen[1], seen[0]), atan2(seen[3], seen[2])
    height = -seen[0] - (seen[0] * seen[2] - seen[1] * seen[3])
    return (
        f"First link: {_leans(first, _TURNS, ' of straight down')}, "
        f"{_moves(seen[4], 'rad/s', 'turning', _TURNS)}.\n"
        f"Second link: {_leans(second, _TURNS, ' of the first')}, "
        f"{_moves(seen[5], 'rad/s', 'turning against it', _TURNS)}.\n"
        f"Height of the tip: {number(height)}."
    )


def _acrobot_rules(env: Any) -> str:
    return (
        "Two links of length 1 hang from a pivot, the second one from the end of the first. Every step costs "
        "1 until the tip of the second is more than 1 above the pivot, which ends the game. The motor sits "
        f"between the links.{_noise(env)}"
    )


def _noise(env: Any) -> str:
    most = getattr(env, "torque_noise_max", 0.0)
    return f" Its torque is off by up to {number(most)}, by chance." if most > 0 else ""


_CART_POLE = Task(
    _cart_pole,
    4,
    _cart_pole_rules,
    "Leaning right means that the top of the pole is right of its foot.",
    {"left": "push the cart to the left", "right": "push the cart to the right"},
)
_PENDULUM = Task(
    _pendulum,
    3,
    _pendulum_rules,
    "180 degrees is hanging straight down. Speed is at most 8 rad/s.",
    acted=(Component("torque: more than 0 turns it counterclockwise", "N m"),),
)
TASKS: Mapping[str, Task] = {
    "classic_control.cartpole": _CART_POLE,
    "phys2d.cartpole": _CART_POLE,
    "classic_control.pendulum": _PENDULUM,
    "phys2d.pendulum": _PENDULUM,
    "classic_control.mountain_car": Task(
        _car,
        2,
        _car_rules,
        _CAR_READS,
        {
            "left": "accelerate to the left",
            "noop": "do not accelerate",
            "right": "accelerate to the right",
        },
    ),
    "classic_control.continuous_mountain_car": Task(
        _car,
        2,
        _strong_car_rules,
        _CAR_READS,
        acted=(Component("force: more than 0 to the right, less to the left"),),
    ),
    "classic_control.acrobot": Task(
        _acrobot,
        6,
        _acrobot_rules,
        "The height of the tip is counted from the pivot: -2 is hanging straight down, 2 is the top.",
        {
            "torque -1": "turn the second link clockwise against the first",
            "noop": "leave them to swing",
            "torque +1": "turn the second link counterclockwise against the first",
        },
    ),
}
"""Classic control tasks by module within Gymnasium."""
