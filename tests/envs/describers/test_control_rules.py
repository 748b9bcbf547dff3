"""What is said of rules and rewards in classic control, against games that are played."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gym_gui import envs
from gym_gui.envs import Environment

AGENT = "agent_0"


def made(task: str, **env_kwargs: Any) -> tuple[Environment, str]:
    environment = envs.make(task, env_kwargs=env_kwargs)
    said = environment.describer(AGENT).briefing(AGENT)
    environment.adapter.reset(seed=1)
    return environment, said


def play(environment: Environment, state: Any, action: Any) -> tuple[float, bool]:
    """The reward of one step from a state, and whether it ended the game."""
    environment.env.state = np.array(state, dtype=np.float64)
    step = environment.adapter.step({AGENT: action})
    return float(step.rewards[AGENT]), step.terminated[AGENT]


@pytest.mark.parametrize(("sutton", "stands", "falls"), [(False, 1, 1), (True, 0, -1)])
def test_what_a_step_of_the_pole_pays(sutton: bool, stands: float, falls: float) -> None:
    environment, said = made("CartPole-v1", sutton_barto_reward=sutton)
    assert play(environment, (0, 0, 0, 0), 0) == (stands, False)
    assert play(environment, (0, 0, 0.3, 0), 0) == (falls, True)
    assert ("It costs 1, and the game ends, when" in said) is sutton
    assert ("Every step pays 1. The game ends when" in said) is not sutton


@pytest.mark.parametrize(
    ("task", "action", "reward"), [("MountainCar-v0", 1, -1), ("MountainCarContinuous-v0", [0.0], 100)]
)
def test_the_flag_ends_the_game_at_the_speed_it_asks_for(task: str, action: Any, reward: float) -> None:
    for asked in (0.0, 0.05):
        environment, said = made(task, goal_velocity=asked)
        action = np.array(action, np.float32) if isinstance(action, list) else action
        slow = play(environment, (0.55, 0.03), action)
        assert slow == ((-1 if task == "MountainCar-v0" else 0, False) if asked else (reward, True))
        environment.adapter.reset(seed=1)
        assert play(environment, (0.55, 0.06), action) == (reward, True)
        told = (
            "reaching it at a speed of 0.05 or more ends the game" if asked else "reaching it ends the game"
        )
        assert told in said


def test_what_a_step_of_the_pendulum_costs() -> None:
    environment, said = made("Pendulum-v1")
    angle, speed, torque = 0.5, 2.0, 1.5
    cost = angle**2 + speed**2 / 10 + torque**2 / 1000
    reward, over = play(environment, (angle, speed), np.array([torque], np.float32))
    assert reward == pytest.approx(-cost) and not over
    assert "a tenth of the square of its speed, and a thousandth of the square of the torque." in said


def test_the_acrobot_is_done_above_the_line() -> None:
    environment, said = made("Acrobot-v1")
    assert play(environment, (0, 0, 0, 0), 1) == (-1, False)
    assert play(environment, (np.pi, 0, 0, 0), 1) == (0, True)
    assert "more than 1 above the pivot, which ends the game" in said and "by chance" not in said
