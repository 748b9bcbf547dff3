"""Controllers that compute a force from measured quantities."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import inf
from typing import Any

import numpy as np

from control_worker.tasks import Array, Measured, Task, constants_of, numbers

Controller = Callable[[Measured], float]
"""Controller of one episode, called once a step."""


@dataclass(frozen=True)
class Feedback:
    """Linear state feedback: a gain for each measured quantity.

    Attributes:
        gains: Force per unit that a quantity is below its target.
        setpoint: Target of each quantity; 0 for all others.
        strides: Largest deviation that counts for a quantity; unlimited for others. One further away gets a
            nearer target, so that a distant target is reached without falling.
    """

    gains: Measured
    setpoint: Measured
    strides: Measured = field(default_factory=dict[str, float])

    def __call__(self, measured: Measured) -> float:
        return sum(gain * self._missing(name, measured[name]) for name, gain in self.gains.items())

    def _missing(self, name: str, value: float) -> float:
        missing = self.setpoint.get(name, 0.0) - value
        stride = self.strides.get(name, inf)
        return min(max(missing, -stride), stride)


@dataclass(frozen=True)
class Lqr:
    """A task's optimal linear feedback, with a fallback for forces above the task's limit.

    Attributes:
        task: Task that is controlled.
        constants: Constants of the task's model.
        feedback: Linear feedback with the gains.
    """

    task: Task
    constants: Mapping[str, float]
    feedback: Feedback

    def __call__(self, measured: Measured) -> float:
        force = self.feedback(measured)
        if self.task.recovers is None or abs(force) <= self.task.limit:
            return force
        state: Array = np.array([measured[name] for name in self.task.state])
        return self.task.recovers(state, self.constants) if abs(state[0]) > _NEAR else force


_NEAR = 0.5
"""Angle from upright, in radians, below which the linear feedback acts even at the force limit."""


class Pid:
    """PID controller: gains for an error, its integral and its derivative.

    To prevent windup, the integral does not grow in the direction in which the force is at its limit.

    Args:
        error: Weights of the quantities whose weighted sum is the controlled value.
        gains: Proportional, integral, derivative.
        setpoint: Targets.
        step_s: Seconds between two calls.
        reach: Smallest and largest force.
    """

    def __init__(
        self,
        error: Measured,
        gains: tuple[float, float, float],
        setpoint: Measured,
        step_s: float,
        reach: tuple[float, float],
    ) -> None:
        self._error = Feedback(error, setpoint)
        self._gains, self._step_s, self._reach = gains, step_s, reach
        self._sum = 0.0
        self._last: float | None = None

    def __call__(self, measured: Measured) -> float:
        error = self._error(measured)
        change = 0.0 if self._last is None else (error - self._last) / self._step_s
        self._last = error
        total = self._sum + error * self._step_s
        kp, ki, kd = self._gains
        force = kp * error + ki * total + kd * change
        least, most = self._reach
        beyond = min(force - least, 0.0) or max(force - most, 0.0)
        if beyond * ki * error <= 0:  # within the limits, or moving back into them
            self._sum = total
        return force


def controller(
    settings: Mapping[str, Any], task: Task | None, reach: tuple[float, float]
) -> Callable[[], Controller]:
    """Return a function that makes the controller of an episode.

    Args:
        settings: Settings of the slot.
        task: Model of the environment, or ``None``.
        reach: Smallest and largest force that the environment takes.

    Raises:
        ValueError: A setting is missing or wrong; the message is a sentence.
    """
    kind = str(settings.get("controller") or "lqr")
    setpoint = numbers("setpoint", settings.get("setpoint") or {})
    if kind == "lqr":
        fixed = _lqr(settings, task, setpoint)
        return lambda: fixed
    if kind == "gains":
        gains = numbers("gains", settings.get("gains") or {})
        if not gains:
            raise ValueError(
                "the setting gains is missing: set a gain for each quantity that counts, by name"
            )
        feedback = Feedback(gains, setpoint)
        return lambda: feedback
    error = numbers("error", settings.get("error") or (task.error if task else {}))
    if not error:
        raise ValueError("the setting error is missing: name the quantities to control")
    given = (float(settings.get(k) or 0.0) for k in ("kp", "ki", "kd"))
    k = tuple(given)
    if not any(k):
        if task is None:
            raise ValueError("the settings kp, ki and kd are missing: set at least one gain")
        k = task.pid
    step_s = float(settings.get("step_s") or (task.step_s if task else 1.0))
    return lambda: Pid(error, (k[0], k[1], k[2]), setpoint, step_s, reach)


def _lqr(settings: Mapping[str, Any], task: Task | None, setpoint: Measured) -> Lqr:
    if task is None:
        raise ValueError(
            "LQR has no model of this environment (it has CartPole, Pendulum and InvertedPendulum): "
            "set your own gains with controller: gains, or use controller: pid"
        )
    numbers("setpoint", setpoint, task.state)
    constants = constants_of(task, settings.get("model") or {})
    weighed = numbers("weights", settings.get("weights") or {}, task.state)
    weights = [weighed.get(name, usual) for name, usual in zip(task.state, task.weights, strict=True)]
    if min(weights) < 0:
        raise ValueError("weights must be 0 or more")
    effort = float(settings.get("effort") or task.effort)
    try:
        gains = task.gains(weights, effort, constants)
    except (
        np.linalg.LinAlgError,
        ArithmeticError,
        ValueError,
    ):  # a rod without length, or extreme masses
        raise ValueError(
            "no feedback of this model keeps the cost finite: check model, weights and effort"
        ) from None
    by_name = dict(zip(task.state, gains.tolist(), strict=True))
    return Lqr(task, constants, Feedback(by_name, setpoint, task.strides))
