"""The DM Control Suite as a family of environments."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

pytest.importorskip("dm_control")

from gym_gui import envs
from gym_gui.core.errors import UsageError
from gym_gui.core.paradigms.check import CheckStatus
from gym_gui.envs import Environment, document
from gym_gui.envs.environment_registry import family_of


@pytest.fixture(scope="module")
def cart() -> Iterator[Environment]:
    made = envs.make("dm_control/cartpole-balance-v0", render_mode="rgb_array")
    yield made
    made.close()


def test_all_tasks_are_listed_and_each_says_its_aim() -> None:
    specs = envs.list_specs("dm_control")
    assert len(specs) > 45 and "dm_control/walker-walk-v0" in {spec.id for spec in specs}
    assert all(family_of(spec).summary(spec).endswith(".") for spec in specs)


def test_shimmys_own_names_are_not_found_beside_them(cart: Environment) -> None:
    """Shimmy registers the same names while it is imported, for environments that are not repeatable."""
    assert not [spec.id for spec in envs.list_specs("gymnasium") if spec.id.startswith("dm_control/")]
    assert envs.resolve("dm_control/cartpole-balance-v0").family == "dm_control"


@pytest.mark.parametrize(
    "task", ["cartpole-balance", "lqr-lqr_2_1", "quadruped-walk", "manipulator-bring_ball", "humanoid-run"]
)
def test_the_contract_is_kept(task: str) -> None:
    report = envs.check(f"dm_control/{task}-v0", steps=15)
    assert report.ok, "\n".join(report.lines())
    assert report["rendering"].status is CheckStatus.PASSED


def test_observations_last_and_time_cuts() -> None:
    environment = envs.make(
        "dm_control/cartpole-balance-v0", env_kwargs={"task_kwargs": {"time_limit": 0.05}}
    )
    adapter = environment.adapter
    try:
        first = adapter.reset(seed=2**40 + 3)["agent_0"]
        kept = {name: value.copy() for name, value in first.items()}
        for _ in range(5):
            result = adapter.step({"agent_0": np.array([1.0])})
        assert all((first[name] == kept[name]).all() for name in kept)
        assert result.truncated["agent_0"] and not result.terminated["agent_0"]
        assert 0 <= result.rewards["agent_0"] <= 1
    finally:
        environment.close()


def test_pictures_are_of_the_size_that_is_wanted(cart: Environment) -> None:
    cart.adapter.reset(seed=1)
    picture = cart.picture()
    assert picture is not None and picture.shape == (360, 480, 3) and picture.std() > 5
    small = envs.make(
        "dm_control/cartpole-balance-v0",
        render_mode="rgb_array",
        env_kwargs={"render_kwargs": {"width": 64, "height": 48}},
    )
    try:
        small.adapter.reset(seed=1)
        drawn = small.picture()
        assert drawn is not None and drawn.shape == (48, 64, 3)
    finally:
        small.close()


def test_what_cannot_draw_is_chosen_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """dm_control chooses while it is imported, which may have been long before a picture is wanted."""
    drawing = importlib.import_module("dm_control._render")
    monkeypatch.setattr(drawing, "BACKEND", "none of them")
    monkeypatch.setattr(drawing, "Renderer", None)
    environment = envs.make("dm_control/pendulum-swingup-v0", render_mode="rgb_array")
    try:
        environment.adapter.reset(seed=1)
        assert environment.picture() is not None
    finally:
        environment.close()
        monkeypatch.undo()
        importlib.reload(drawing)


def test_actuators_name_keys_and_what_is_told(cart: Environment) -> None:
    scheme = cart.keys("agent_0")
    assert [(axis.key, axis.word) for axis in scheme.axes] == [("Left", "slide -"), ("Right", "slide +")]
    assert scheme.realtime
    briefing = cart.describer("agent_0").briefing("agent_0")
    assert "A step lasts 10 ms." in briefing and "1. slide" in briefing
    assert document(cart).title == "Cartpole, balance (DM Control)"


@pytest.mark.parametrize("task", ["soccer-1v1", "soccer-2v2"])
def test_the_contract_is_kept_at_soccer(task: str) -> None:
    report = envs.check(f"dm_control/{task}-v0", steps=15)
    assert report.ok, "\n".join(report.lines())
    assert report["rendering"].status is CheckStatus.PASSED


@pytest.mark.parametrize("goes_on", [False, True])
def test_a_goal_at_soccer_is_a_score_and_an_end_and_time_that_is_up_a_cut(goes_on: bool) -> None:
    kwargs = {"time_limit": 1.0, "terminate_on_goal": not goes_on}
    environment = envs.make("dm_control/soccer-2v2-v0", env_kwargs=kwargs)
    adapter = environment.adapter
    try:
        adapter.reset(seed=3)
        assert environment.teams == {"home": ("player_0", "player_1"), "away": ("player_2", "player_3")}
        match: Any = environment.env._env
        goal = match.task.arena.away_goal
        middle = (np.asarray(goal.lower) + np.asarray(goal.upper)) / 2
        match.task.ball.set_pose(match.physics, position=middle)
        result = adapter.step({agent: np.zeros(3) for agent in adapter.get_current_agents()})
        assert result.rewards["player_0"] > 0 > result.rewards["player_2"]
        assert environment.scores({}) == {"home": 1.0, "away": 0.0}
        assert adapter.is_episode_done() != goes_on
        while not adapter.is_episode_done():
            result = adapter.step({agent: np.zeros(3) for agent in adapter.get_current_agents()})
        assert (result.truncated["player_3"], result.terminated["player_3"]) == (goes_on, not goes_on)
        assert environment.outcome({}) == {"home": "win", "away": "loss"}
    finally:
        environment.close()


def test_a_walker_that_there_is_not_is_named() -> None:
    with pytest.raises(UsageError, match="no walker 'horse'"):
        envs.make("dm_control/soccer-1v1-v0", env_kwargs={"walker": "horse"})
