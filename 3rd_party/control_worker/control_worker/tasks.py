"""Models of the tasks with LQR: state, equations of motion and linearization."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import atan2, cos, sin
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import expm, solve_discrete_are

Array = NDArray[np.float64]
Measured = Mapping[str, float]
"""Measured quantities of an observation by name, as in facts."""

_LARGEST = 1e12
"""Largest number in a setting; larger numbers are mistakes, because computations with them overflow."""
_STEP = 1e-5
"""Step of central differences at the upright state; the models are smooth there: errors are about 1e-10."""


def _as_measured(measured: Measured) -> Measured:
    return measured


@dataclass(frozen=True)
class Task:
    """A system with an upright state in which all numbers are zero.

    Attributes:
        state: Names of the state's components, in the order of ``moves``.
        moves: Function ``(state, force, constants)`` that returns the state's change per second.
        constants: Constants of the model, in SI units.
        step_s: Duration of an environment step in seconds; the force is constant during a step.
        weights: Cost of the square of each component.
        effort: Cost of the square of the force.
        error: Quantities whose weighted sum PID controls, with their weights.
        pid: Gains of PID.
        limit: Largest force; if more is needed, ``recovers`` is used.
        read: Function that adds quantities derived from the measured ones.
        place: Name of the position, for managers that set its target; ``""`` without a position.
        strides: Largest deviation that counts for a quantity; beyond it, a nearer target is used.
        recovers: Function ``(state, constants)`` that returns the force if linear feedback is too weak.
    """

    state: Sequence[str]
    moves: Callable[[Array, float, Mapping[str, float]], Array]
    constants: Mapping[str, float]
    step_s: float
    weights: Sequence[float]
    effort: float
    error: Mapping[str, float]
    pid: tuple[float, float, float]
    limit: float
    read: Callable[[Measured], Measured] = field(default=_as_measured)
    place: str = ""
    strides: Measured = field(default_factory=dict[str, float])
    recovers: Callable[[Array, Mapping[str, float]], float] | None = None

    def gains(self, weights: Sequence[float], effort: float, constants: Mapping[str, float]) -> Array:
        """Return the optimal feedback of the linearized, discretized model: the force is ``-gains @ state``.

        Args:
            weights: Costs of the state's numbers.
            effort: Cost of the force; more than 0.
            constants: Constants of the model.

        Returns:
            Gains of shape ``(len(state),)``.

        Raises:
            numpy.linalg.LinAlgError: No feedback keeps the cost finite.
        """
        a, b = discretised(*linearised(self, constants), self.step_s)
        q, r = np.diag(np.asarray(weights, np.float64)), np.array([[effort]])
        p = np.asarray(solve_discrete_are(a, b, q, r))
        return np.asarray(np.linalg.solve(r + b.T @ p @ b, b.T @ p @ a))[0]


def linearised(task: Task, constants: Mapping[str, float]) -> tuple[Array, Array]:
    """Return the Jacobians of ``moves`` at the upright state, by the state (n, n) and by the force (n, 1)."""
    n = len(task.state)
    zero = np.zeros(n)

    def slope(way: Array, force: float) -> Array:
        ahead = task.moves(_STEP * way, _STEP * force, constants)
        return (ahead - task.moves(-_STEP * way, -_STEP * force, constants)) / (2 * _STEP)

    return np.column_stack([slope(each, 0.0) for each in np.eye(n)]), slope(zero, 1.0)[:, None]


def discretised(a: Array, b: Array, step_s: float) -> tuple[Array, Array]:
    """Return a linear system in discrete time, with a constant force in each step (zero-order hold)."""
    n = len(a)
    both = np.zeros((n + 1, n + 1))
    both[:n, :n], both[:n, n:] = a * step_s, b * step_s
    grown = np.asarray(expm(both))
    return grown[:n, :n], grown[:n, n:]


def _cart_pole(state: Array, force: float, c: Mapping[str, float]) -> Array:
    """Return the change per second of a cart with a pole.

    The state is position, speed, angle from upright (clockwise) and angular speed.

    Both equations of motion are solved for the two accelerations; ``pole_centre`` is the distance of the
    pole's center of mass from the hinge, ``pole_inertia`` is about that center.
    """
    _, speed, angle, turning = state.tolist()
    lever = c["pole_mass"] * c["pole_centre"]
    inertia = np.array(
        [
            [c["cart_mass"] + c["pole_mass"], lever * cos(angle)],
            [lever * cos(angle), c["pole_inertia"] + lever * c["pole_centre"]],
        ]
    )
    pushed = c["gear"] * force + lever * turning**2 * sin(angle) - c["cart_damping"] * speed
    turned = lever * c["gravity"] * sin(angle) - c["pole_damping"] * turning
    faster, turning_faster = np.linalg.solve(inertia, np.array([pushed, turned])).tolist()
    return np.array([speed, faster, turning, turning_faster])


def _pendulum(state: Array, force: float, c: Mapping[str, float]) -> Array:
    """Return the change per second of a rod that hangs on one end.

    The state is the angle from upright (counterclockwise) and the angular speed; the force is a torque.
    """
    angle, turning = state.tolist()
    inertia = c["mass"] * c["length"] ** 2 / 3
    torque = force + c["mass"] * c["gravity"] * c["length"] / 2 * sin(angle)
    return np.array([turning, torque / inertia])


def _swing(state: Array, c: Mapping[str, float]) -> float:
    """Return a torque that brings a pendulum's energy to that of standing upright at rest.

    Åström and Furuta, Swinging up a pendulum by energy control, Automatica 36 (2000).
    """
    angle, turning = state.tolist()
    energy = c["mass"] * c["length"] ** 2 / 6 * turning**2
    missing = c["mass"] * c["gravity"] * c["length"] / 2 * (1 - cos(angle)) - energy
    return 2.0 * missing * (turning or 1e-3)


def _with_angle(measured: Measured) -> Measured:
    """Add the angle, if the observation has its cosine and sine."""
    if not {"x_cos_theta", "y_sin_theta"} <= set(measured):
        return measured
    return {**measured, "angle": atan2(measured["y_sin_theta"], measured["x_cos_theta"])}


TASKS: Mapping[str, Task] = {
    # Barto, Sutton and Anderson's model with Gymnasium's constants; pushes have 10 N.
    "CartPole": Task(
        ("cart_position", "cart_velocity", "pole_angle", "pole_angular_velocity"),
        _cart_pole,
        {
            "gravity": 9.8,
            "cart_mass": 1.0,
            "pole_mass": 0.1,
            "pole_centre": 0.5,
            "pole_inertia": 0.1 * 1.0**2 / 12,
            "cart_damping": 0.0,
            "pole_damping": 0.0,
            "gear": 10.0,
        },
        0.02,
        (1.0, 0.1, 1.0, 0.1),
        1.0,
        {"pole_angle": 1.0, "cart_position": 0.05},
        (-1.0, -0.1, -0.3),
        limit=1.0,
        place="cart_position",
        strides={"cart_position": 1.0},
    ),
    "Pendulum": Task(
        ("angle", "angular_velocity"),
        _pendulum,
        {"gravity": 10.0, "mass": 1.0, "length": 1.0},
        0.05,
        (1.0, 0.1),  # the costs of the environment itself
        0.001,
        {"angle": 1.0},
        (20.0, 0.0, 6.0),
        limit=2.0,
        read=_with_angle,
        recovers=_swing,
    ),
    # Masses and inertias are those of gymnasium's inverted_pendulum.xml, compiled.
    "InvertedPendulum": Task(
        (
            "position_of_the_cart_along_the_linear_surface",
            "linear_velocity_of_the_cart",
            "vertical_angle_of_the_pole_on_the_cart",
            "angular_velocity_of_the_pole_on_the_cart",
        ),
        _cart_pole,
        {
            "gravity": 9.81,
            "cart_mass": 10.47197551,
            "pole_mass": 5.01859164,
            "pole_centre": 0.3,
            "pole_inertia": 0.18874977,
            "cart_damping": 1.0,
            "pole_damping": 1.0,
            "gear": 100.0,
        },
        0.04,
        (1.0, 0.1, 1.0, 0.1),
        0.1,
        {"vertical_angle_of_the_pole_on_the_cart": 1.0, "position_of_the_cart_along_the_linear_surface": 0.1},
        (-10.0, 0.0, -2.0),
        limit=3.0,
        place="position_of_the_cart_along_the_linear_surface",
        strides={"position_of_the_cart_along_the_linear_surface": 0.5},
    ),
}
"""Tasks by the environment's name without its version."""


def task_of(env_id: str) -> Task | None:
    """Return the task of an environment; ``None`` if there is no model of it."""
    return TASKS.get(env_id.rpartition("/")[2].rpartition("-v")[0])


def constants_of(task: Task, given: Mapping[str, Any]) -> Mapping[str, float]:
    """Return a task's constants, some replaced by given ones.

    Raises:
        ValueError: A given constant is unknown or no number.
    """
    return {**task.constants, **numbers("model", given, task.constants)}


def numbers(
    setting: str, given: Mapping[str, Any], known: Sequence[str] | Mapping[str, Any] = ()
) -> Measured:
    """Return the numbers of a setting, by name.

    Args:
        setting: Name of the setting, for errors.
        given: Value of the setting.
        known: Allowed names; empty to allow all.

    Raises:
        ValueError: A name is unknown, or its value is no number.
    """
    for name, value in given.items():
        if known and name not in known:
            raise ValueError(f"{setting} has {name!r}, which is unknown; known names: {', '.join(known)}")
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) <= _LARGEST:
            raise ValueError(
                f"{setting}: {name} is {value!r:.40}, which is not a number in the allowed range"
            )
    return {name: float(value) for name, value in given.items()}
