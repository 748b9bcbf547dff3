"""Rewards of Gymnasium's MuJoCo tasks, computed for many trajectories at once.

Each function computes the environment's own reward with the constants of that environment; tests compare both
on random states.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Constants = Mapping[str, Any]
_EFFORT = 0.01
"""Cost of the squared controls on the way to a position, in meters."""


class Steps(NamedTuple):
    """Steps of an environment, for any number of trajectories.

    Attributes:
        before: Positions before each step, (..., nq).
        qpos: Positions after it, (..., nq).
        qvel: Speeds after it, (..., nv).
        action: Action, (..., nu).
        seconds: Duration of one step.
        sensors: Measurements of the model's sensors after it, (..., nsensordata).
    """

    before: Array
    qpos: Array
    qvel: Array
    action: Array
    seconds: float
    sensors: Array


class StepRewards(NamedTuple):
    """Rewards of steps, shape (...), and whether they end the episode, shape (...)."""

    reward: Array
    ends: Flags


Reward = Callable[[Steps, Constants], StepRewards]


def _squares(x: Array) -> Array:
    return np.sum(np.square(x), axis=-1)


def _forward(steps: Steps, c: Constants) -> Array:
    """Return the speed along the first axis minus the cost of the controls."""
    speed = (steps.qpos[..., 0] - steps.before[..., 0]) / steps.seconds
    return float(c["forward_reward_weight"]) * speed - float(c["ctrl_cost_weight"]) * _squares(steps.action)


def _never(reward: Array) -> StepRewards:
    return StepRewards(reward, np.zeros(reward.shape, np.bool_))


def _runner(steps: Steps, c: Constants) -> StepRewards:
    return _never(_forward(steps, c))


def _within(x: Array, ends: Any) -> Flags:
    low, high = map(float, ends)
    return (low < x) & (x < high)


def _hopper(steps: Steps, c: Constants) -> StepRewards:
    state = np.concatenate((steps.qpos[..., 2:], steps.qvel), axis=-1)
    healthy = (
        np.all(_within(state, c["healthy_state_range"]), axis=-1)
        & _within(steps.qpos[..., 1], c["healthy_z_range"])
        & _within(steps.qpos[..., 2], c["healthy_angle_range"])
    )
    return _upright(steps, c, healthy)


def _walker(steps: Steps, c: Constants) -> StepRewards:
    healthy = _within(steps.qpos[..., 1], c["healthy_z_range"]) & _within(
        steps.qpos[..., 2], c["healthy_angle_range"]
    )
    return _upright(steps, c, healthy)


def _upright(steps: Steps, c: Constants, healthy: Flags) -> StepRewards:
    reward = _forward(steps, c) + float(c["healthy_reward"]) * healthy
    return StepRewards(reward, ~healthy & bool(c["terminate_when_unhealthy"]))


def _inverted_pendulum(steps: Steps, c: Constants) -> StepRewards:
    falls = np.abs(steps.qpos[..., 1]) > 0.2
    return StepRewards(np.where(falls, 0.0, 1.0), falls)


def _inverted_double_pendulum(steps: Steps, c: Constants) -> StepRewards:
    # The environment reads the tip at the last Runge-Kutta stage, which differs by some 1e-5 m.
    x, first, second = np.moveaxis(steps.qpos, -1, 0)
    tip_x = x + 0.6 * (np.sin(first) + np.sin(first + second))
    tip_y = 0.6 * (np.cos(first) + np.cos(first + second))
    falls = tip_y <= 1
    far = 0.01 * tip_x**2 + (tip_y - 2) ** 2
    fast = 1e-3 * steps.qvel[..., 1] ** 2 + 5e-3 * steps.qvel[..., 2] ** 2
    return StepRewards(float(c["healthy_reward"]) * ~falls - far - fast, falls)


def _reacher(steps: Steps, c: Constants) -> StepRewards:
    first, second, *target = np.moveaxis(steps.qpos, -1, 0)
    tip_x = 0.1 * np.cos(first) + 0.11 * np.cos(first + second)
    tip_y = 0.1 * np.sin(first) + 0.11 * np.sin(first + second)
    far = np.hypot(tip_x - target[0], tip_y - target[1])
    return _never(
        -far * float(c["reward_dist_weight"]) - _squares(steps.action) * float(c["reward_control_weight"])
    )


def going_to(place: Sequence[float]) -> Reward:
    """Return a reward for approaching a position: minus the distance in meters.

    The first numbers of the model's state must be its position on the ground.

    If the environment has bounds for the body's height, its episode ends outside them: the body has fallen.
    """

    def paid(steps: Steps, c: Constants) -> StepRewards:
        far = np.sqrt(_squares(steps.qpos[..., :2] - np.asarray(place, np.float64)))
        paid = _never(-far - _EFFORT * _squares(steps.action))
        if not c.get("terminate_when_unhealthy"):
            return paid
        return StepRewards(paid.reward, ~_within(steps.qpos[..., 2], c["healthy_z_range"]))

    return paid


REWARDS: Mapping[str, Reward] = {
    "inverted_pendulum_v5": _inverted_pendulum,
    "inverted_double_pendulum_v5": _inverted_double_pendulum,
    "hopper_v5": _hopper,
    "half_cheetah_v5": _runner,
    "walker2d_v5": _walker,
    "reacher_v5": _reacher,
    "swimmer_v5": _runner,
}
"""Reward functions by the environment's module."""
