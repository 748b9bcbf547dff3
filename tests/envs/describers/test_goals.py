"""Observations with a goal in words and facts."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("gymnasium_robotics")

from gym_gui import envs


def test_what_is_wanted_comes_first() -> None:
    environment = envs.make("PointMaze_UMaze-v3")
    describer = environment.describer("agent_0")
    try:
        environment.adapter.reset(seed=1)
        seen = {
            "desired_goal": np.array([0.5, -1.0]),
            "achieved_goal": np.array([0.25, 2.0]),
            "observation": np.array([0.25, 2.0, 0.0, -0.5]),
        }
        lines = describer.text("agent_0", seen).splitlines()
        assert lines[:2] == ["Wanted: x 0.5, y -1", "Achieved: x 0.25, y 2"]
        assert lines[-1] == "Green ball linear velocity in the y direction: -0.5 m/s" and len(lines) == 6
        facts = set(map(str, describer.facts("agent_0", seen)))
        assert {"desired_goal(1, 0.5)", "desired_goal(2, -1.0)", "achieved_goal(2, 2.0)"} <= facts
        assert "green_ball_linear_velocity_in_the_y_direction(-0.5)" in facts
    finally:
        environment.close()


def test_names_are_short_and_formulas_left_out() -> None:
    environment = envs.make("FetchPush-v4")
    describer = environment.describer("agent_0")
    try:
        seen = environment.adapter.reset(seed=1)["agent_0"]
        said = describer.text("agent_0", seen)
        assert "<sub>" not in said and "Equals" not in said
        assert said.startswith(f"Wanted: x {seen['desired_goal'][0]:.3g}, y ")
        assert said == describer.text("agent_0", seen)
    finally:
        environment.close()


def test_goals_of_several_parts_are_told_part_by_part() -> None:
    environment = envs.make("FrankaKitchen-v1", env_kwargs={"tasks_to_complete": ["microwave", "kettle"]})
    describer = environment.describer("agent_0")
    try:
        seen = environment.adapter.reset(seed=1)["agent_0"]
        assert "desired_goal, microwave: -0.75" in describer.text("agent_0", seen)
        facts = list(map(str, describer.facts("agent_0", seen)))
        assert facts and not [each for each in facts if each.startswith("desired_goal")]
    finally:
        environment.close()
