"""Controllers by themselves: models against the engine's, gains, PID, and what they refuse."""

from __future__ import annotations

import re
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from control_worker.controllers import Feedback, Pid, controller
from control_worker.main import ControlWorker
from control_worker.tasks import TASKS, discretised, linearised, task_of
from gym_gui.core.spaces import to_space
from mosaic_worker.worker import LoadError, Slot


@pytest.mark.parametrize(
    ("env_id", "name"), [("CartPole-v1", "CartPole"), ("phys2d/CartPole-v1", "CartPole")]
)
def test_a_task_is_known_by_its_name_without_version(env_id: str, name: str) -> None:
    assert task_of(env_id) is TASKS[name]
    assert task_of("InvertedDoublePendulum-v5") is None


@pytest.mark.parametrize("name", sorted(TASKS))
def test_the_linearised_task_falls_by_itself_and_stands_with_feedback(name: str) -> None:
    task = TASKS[name]
    a, b = discretised(*linearised(task, task.constants), task.step_s)
    gains = task.gains(task.weights, task.effort, task.constants)
    assert max(abs(np.linalg.eigvals(a))) > 1
    assert max(abs(np.linalg.eigvals(a - b @ gains[None]))) < 1


def test_the_model_of_the_inverted_pendulum_moves_as_mujoco_does() -> None:
    mujoco: Any = pytest.importorskip("mujoco")
    env = pytest.importorskip("gymnasium").make("InvertedPendulum-v5").unwrapped
    task, (model, data) = TASKS["InvertedPendulum"], (env.model, env.data)
    rng = np.random.default_rng(3)
    for _ in range(20):
        x, angle, speed, turning, force = rng.uniform(-0.2, 0.2, 5)
        data.qpos[:], data.qvel[:], data.ctrl[:] = (x, angle), (speed, turning), force
        mujoco.mj_forward(model, data)
        moved = task.moves(np.array([x, speed, angle, turning]), force, task.constants)
        # The pole of the XML leans by a millimetre, and the model here does not.
        np.testing.assert_allclose(moved[[1, 3]], data.qacc, atol=0.05, rtol=0.01)


def test_pid_answers_to_the_error_its_sum_and_its_change() -> None:
    pid = Pid({"x": 1.0}, (2.0, 1.0, 0.5), {"x": 1.0}, step_s=0.5, reach=(-100.0, 100.0))
    assert pid({"x": 0.0}) == pytest.approx(2 * 1 + 1 * 0.5)
    assert pid({"x": 0.5}) == pytest.approx(2 * 0.5 + 1 * 0.75 + 0.5 * (-0.5 / 0.5))


def test_the_integral_does_not_wind_up_at_the_limit() -> None:
    pid = Pid({"x": 1.0}, (1.0, 1.0, 0.0), {}, step_s=1.0, reach=(-1.0, 1.0))
    for _ in range(50):
        pid({"x": -10.0})
    assert pid({"x": 0.1}) == pytest.approx(-0.2)


def test_the_integral_does_not_wind_up_where_only_one_side_has_a_force() -> None:
    pid = Pid({"x": 1.0}, (1.0, 1.0, 0.0), {}, step_s=1.0, reach=(0.0, 1.0))
    for _ in range(50):
        pid({"x": 0.1})
    assert pid({"x": -0.1}) == pytest.approx(0.2)


def test_a_force_that_the_integral_holds_at_the_limit_comes_back() -> None:
    pid = Pid({"x": 1.0}, (1.0, 1.0, 2.0), {}, step_s=1.0, reach=(-1.0, 1.0))
    for x in (-10.0, -5.0, 0.0):  # the change outweighs the error, and the integral grows
        pid({"x": x})
    forces = [pid({"x": 0.1}) for _ in range(60)]
    assert max(forces) > 1 and forces[-1] < 0


def test_feedback_leads_to_the_target() -> None:
    assert Feedback({"x": 2.0}, {"x": 3.0})({"x": 1.0}) == 4.0


def test_what_is_far_counts_as_a_stride() -> None:
    led = Feedback({"x": 2.0, "speed": 1.0}, {"x": 3.0}, {"x": 0.5})
    assert [led({"x": x, "speed": 1.0}) for x in (0.0, 2.8, 9.0)] == pytest.approx([0.0, -0.6, -2.0])


@pytest.mark.parametrize(
    ("env_id", "option"),
    [("CartPole-v1", "explore"), ("CartPole-v1", "go to(the left)"), ("Pendulum-v1", "go to(0.5 m)")],
)
def test_an_option_that_names_no_place_is_refused(env_id: str, option: str) -> None:
    seen = gym.spaces.Dict({"observation": gym.spaces.Box(-1, 1, (4,)), "option": gym.spaces.Discrete(2)})
    slot = Slot(0, "agent_0", env_id, to_space(seen), to_space(gym.spaces.Discrete(2)), options=(option,))
    with pytest.raises(
        LoadError, match=f"a controller can only go to positions.*'{re.escape(option)}' of '{env_id}'"
    ):
        ControlWorker().load(slot)


@pytest.mark.parametrize(
    ("settings", "env_id", "says"),
    [
        ({}, "Acrobot-v1", "LQR has no model of this environment"),
        ({"model": {"gravitation": 1}}, "CartPole-v1", "'gravitation', which is unknown"),
        ({"model": {"pole_mass": "heavy"}}, "CartPole-v1", "not a number"),
        ({"setpoint": {"pole": 1}}, "CartPole-v1", "known names: cart_position"),
        ({"weights": {"pole_angle": -1}}, "CartPole-v1", "0 or more"),
        ({"model": {"gear": 0}}, "CartPole-v1", "no feedback"),
        ({"controller": "gains"}, "CartPole-v1", "gains is missing"),
        ({"controller": "pid"}, "Acrobot-v1", "error is missing"),
        ({"controller": "pid", "error": {"x": 1}}, "Acrobot-v1", "kp, ki and kd are missing"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(settings: dict[str, Any], env_id: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        controller(settings, task_of(env_id), (-1.0, 1.0))


@pytest.mark.parametrize(
    ("env_id", "model"),
    [
        ("Pendulum-v1", {"length": 0}),
        ("Pendulum-v1", {"mass": 0}),
        ("Pendulum-v1", {"length": 1e200}),
        ("CartPole-v1", {"cart_mass": 0, "pole_mass": 0}),
        ("CartPole-v1", {"gear": 0}),
        ("CartPole-v1", {"pole_centre": 10**400}),
    ],
)
def test_a_model_that_cannot_be_is_refused_in_a_sentence(env_id: str, model: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"check model, weights and effort|which is not a number"):
        controller({"model": model}, task_of(env_id), (-1.0, 1.0))
