"""VMAS as a family of environments."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest
from gymnasium import spaces

if importlib.util.find_spec("vmas") is None:
    pytest.skip("vmas is not installed", allow_module_level=True)

from gym_gui import envs
from gym_gui.core.paradigms.check import CheckStatus
from gym_gui.envs import document
from gym_gui.envs.environment_registry import family_of


def test_scenarios_are_listed_and_each_says_its_aim() -> None:
    specs = envs.list_specs("vmas")
    ids = {spec.id for spec in specs}
    assert {"vmas/balance", "vmas/football", "vmas/simple_tag"} <= ids and "vmas/waterfall" not in ids
    assert all(family_of(spec).summary(spec).endswith(".") for spec in specs)
    assert envs.resolve("vmas.balance").id == "vmas/balance"


@pytest.mark.parametrize("task", ["balance", "simple_tag", "football", "navigation"])
def test_the_contract_is_kept(task: str) -> None:
    report = envs.check(f"vmas/{task}", steps=15)
    assert report.ok, "\n".join(report.lines())
    assert report["rendering"].status is CheckStatus.PASSED


def test_road_traffic_is_caught_remembering_and_gets_new_instances() -> None:
    """A library's environment, really broken."""
    report = envs.check("vmas/road_traffic", steps=8)
    assert [finding.name for finding in report.failed] == ["seeding"]
    spec = envs.resolve("vmas/road_traffic")
    assert not family_of(spec).reusable(spec) and family_of(spec).reusable(envs.resolve("vmas/balance"))


def test_instances_draw_from_streams_of_their_own() -> None:
    """The package has one for all, which a reset with a seed sets."""
    one, two = envs.make("vmas/navigation"), envs.make("vmas/navigation")
    try:
        first = one.adapter.reset(seed=3)
        two.adapter.reset(seed=4)
        again = one.adapter.reset(seed=3)
        assert all((first[agent] == again[agent]).all() for agent in first)
        unseeded = [one.adapter.reset() for _ in range(2)]
        assert any((unseeded[0][agent] != unseeded[1][agent]).any() for agent in first)
    finally:
        one.close()
        two.close()


def test_episodes_end_by_time_and_actions_may_be_discrete() -> None:
    environment = envs.make("vmas/simple_spread", env_kwargs={"max_steps": 2, "continuous_actions": False})
    adapter = environment.adapter
    try:
        assert all(
            isinstance(adapter.action_space(agent), spaces.Discrete) for agent in adapter.possible_agents
        )
        assert environment.noop_action("agent_0") == 0
        adapter.reset(seed=1)
        for _ in range(2):
            result = adapter.step(dict.fromkeys(adapter.possible_agents, 0))
        assert all(result.truncated.values()) and not any(result.terminated.values())
        assert all(np.isfinite(reward) for reward in result.rewards.values())
    finally:
        environment.close()


def test_teams_are_as_the_scenario_has_them() -> None:
    teams = {
        "vmas/simple_tag": ({}, {"adversaries", "good"}),
        "vmas/balance": ({}, {"team"}),
        "vmas/football": ({"ai_red_agents": False}, {"blue", "red"}),
    }
    for task, (kwargs, names) in teams.items():
        environment = envs.make(task, env_kwargs=kwargs)
        try:
            assert set(environment.teams) == names
        finally:
            environment.close()


def test_a_world_is_drawn_and_pushed() -> None:
    environment = envs.make("vmas/balance", render_mode="rgb_array")
    try:
        environment.adapter.reset(seed=1)
        picture = environment.picture()
        assert picture is not None and picture.shape == (480, 480, 3)
        red = (picture[..., 0] > 150) & (picture[..., 1] < 100)  # the ball
        assert 20 < red.sum() < 2000
        axes = environment.keys("agent_0").axes
        assert [(axis.key, axis.component) for axis in axes] == [
            *(("Left", 0), ("Right", 0), ("Down", 1), ("Up", 1))
        ]
        assert environment.describer("agent_0").can_say("agent_0")
        assert document(environment).title == "Balance (VMAS)"
    finally:
        environment.close()
