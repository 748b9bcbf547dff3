"""Gymnasium-Robotics as a family of environments."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

pytest.importorskip("gymnasium_robotics")

from gym_gui import envs
from gym_gui.core.paradigms.check import CheckStatus
from gym_gui.envs import Environment, document
from gym_gui.envs.environment_registry import family_of


@pytest.fixture(scope="module")
def maze() -> Iterator[Environment]:
    made = envs.make("PointMaze_UMaze-v3", render_mode="rgb_array")
    yield made
    made.close()


def test_what_can_be_made_is_listed_and_says_its_aim(maze: Environment) -> None:
    specs = envs.list_specs("gymnasium_robotics")
    ids = {spec.id for spec in specs}
    assert {"FetchPush-v4", "AntMaze_UMaze-v5", "AdroitHandDoor-v1", "FrankaKitchen-v1"} <= ids
    assert not ids & {"FetchPush-v1", "AntMaze_UMaze-v3", "Hopper-v3"}
    assert all(family_of(spec).summary(spec).endswith(".") for spec in specs)
    others = {spec.id for spec in envs.list_specs("gymnasium")}
    assert not others & ids and not others & {"FetchPush-v1", "Hopper-v3"}


@pytest.mark.parametrize(
    "task",
    [
        "FetchPickAndPlace-v4",
        "PointMaze_UMaze-v3",
        pytest.param("AdroitHandDoor-v1", marks=pytest.mark.full),
        pytest.param("HandReach-v3", marks=pytest.mark.full),
    ],
)
def test_the_contract_is_kept(task: str) -> None:
    """A look at an arm that holds something changes nothing either, which the package does not keep."""
    report = envs.check(task, steps=10)
    assert report.ok, "\n".join(report.lines())
    assert report["rendering"].status is CheckStatus.PASSED


def test_a_goal_that_is_reached_is_success(maze: Environment) -> None:
    seen = maze.adapter.reset(seed=1)["agent_0"]
    assert maze.success() is False
    maze.env.goal = np.array(seen["achieved_goal"])
    result = maze.adapter.step({"agent_0": np.zeros(2, np.float32)})
    assert maze.success() is True and result.rewards["agent_0"] == 1


@pytest.mark.parametrize(
    ("task", "shaped"),
    [
        *(("FetchPush-v4", False), ("FetchPushDense-v4", True), ("AdroitHandDoor-v1", True)),
        *(("AdroitHandDoorSparse-v1", False), ("FrankaKitchen-v1", False)),
    ],
)
def test_rewards_that_point_the_way_are_known(task: str, shaped: bool) -> None:
    spec = envs.resolve(task)
    assert family_of(spec).shaped_rewards(spec) is shaped


def test_pushes_have_their_keys_and_names(maze: Environment) -> None:
    assert [(axis.key, axis.word) for axis in maze.keys("agent_0").axes] == [
        *(("Left", "x -"), ("Right", "x +"), ("Down", "y -"), ("Up", "y +"))
    ]
    arm = envs.make("FetchReach-v4")
    try:
        assert [axis.word for axis in arm.keys("agent_0").axes][-1] == "gripper +"
        assert "4. gripper" in arm.describer("agent_0").briefing("agent_0")
    finally:
        arm.close()
    assert document(maze).title == "Point Maze UMaze"
