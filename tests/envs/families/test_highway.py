"""HighwayEnv as a family of environments."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("highway_env")

from gym_gui import envs
from gym_gui.core.paradigms.check import CheckStatus
from gym_gui.envs import Environment, document
from gym_gui.envs.environment_registry import family_of


@pytest.fixture(scope="module")
def merge() -> Iterator[Environment]:
    made = envs.make("merge-v0", render_mode="rgb_array")
    yield made
    made.close()


def test_all_but_the_averaged_one_are_listed_and_found() -> None:
    ids = [spec.id for spec in envs.list_specs("highway")]
    assert len(ids) > 25 and {"highway-v0", "parking-v0", "intersection-multi-agent-v2"} <= set(ids)
    assert "intersection-multi-agent-v0" not in ids
    assert envs.resolve("highway-fast-v0", env_name="gymnasium").family == "highway"


def test_an_import_of_its_package_changes_nothing_of_what_is_found(merge: Environment) -> None:
    assert not [
        spec.id for spec in envs.list_specs("gymnasium") if spec.id.startswith(("highway-", "merge-"))
    ]


def test_every_road_has_its_aim_and_its_own_name() -> None:
    specs = envs.list_specs("highway")
    assert all(family_of(spec).summary(spec).endswith(".") for spec in specs)
    titles = [family_of(spec).title_of(spec) for spec in specs]
    assert {"Merge", "Merge, connected lanes", "Intersection, continuous"} <= set(titles)


@pytest.mark.parametrize(
    "task",
    [
        pytest.param("merge-v0", marks=pytest.mark.full),
        "parking-ActionRepeat-v0",
        "lane-keeping-v0",
        pytest.param("intersection-multi-agent-v2", marks=pytest.mark.full),
    ],
)
def test_the_contract_is_kept(task: str) -> None:
    report = envs.check(task, steps=12)
    assert report.ok, "\n".join(report.lines())
    assert report["rendering"].status is CheckStatus.PASSED


def test_manoeuvres_have_the_keys_of_the_packages_own_window(merge: Environment) -> None:
    assert merge.action_meanings("agent_0") == ("lane left", "idle", "lane right", "faster", "slower")
    assert merge.noop_action("agent_0") == 1
    assert merge.keys("agent_0").bindings == {"Up": 0, "N": 1, "Down": 2, "Right": 3, "Left": 4}
    assert merge.keys("agent_0", 1).bindings == {"W": 0, "Q": 1, "S": 2, "D": 3, "A": 4}


@pytest.mark.parametrize(("task", "pushed"), [("parking-v0", [0, 0, 1, 1]), ("racetrack-v0", [0, 0])])
def test_steering_is_pushed_while_time_runs(task: str, pushed: list[int]) -> None:
    environment = envs.make(task)
    try:
        scheme = environment.keys("agent_0")
        assert [axis.component for axis in scheme.axes] == pushed and scheme.realtime
        left = next(axis for axis in scheme.axes if axis.word == "steer left")
        assert (left.key, left.value) == ("Left", -1.0)
    finally:
        environment.close()


def test_parking_is_success_in_the_packages_word_and_paid_by_distance() -> None:
    environment = envs.make("parking-v0")
    try:
        environment.adapter.reset(seed=1)
        car, goal = environment.env.controlled_vehicles[0], environment.env.controlled_vehicles[0].goal
        environment.adapter.step({"agent_0": [0.0, 0.0]})
        assert environment.success() is False and environment.rewards_betray
        car.position, car.heading, car.speed = goal.position.copy(), goal.heading, 0.0
        result = environment.adapter.step({"agent_0": [0.0, 0.0]})
        assert environment.success() is True and result.terminated["agent_0"]
    finally:
        environment.close()


def test_who_crashes_at_a_crossing_ends_while_others_drive_on() -> None:
    environment = envs.make("intersection-multi-agent-v2")
    adapter = environment.adapter
    try:
        assert environment.teams == {"team": ("agent_0", "agent_1")} and environment.hidden_information
        adapter.reset(seed=1)
        cars: list[Any] = environment.env.controlled_vehicles
        cars[0].crashed = True
        result = adapter.step({"agent_0": 1, "agent_1": 1})
        assert result.terminated == {"agent_0": True, "agent_1": False}
        assert result.rewards["agent_0"] < 0 < result.rewards["agent_1"]
        assert list(adapter.get_current_agents()) == ["agent_1"] and environment.success() is False
        assert "agent_1" in adapter.step({"agent_1": 1}).observations
    finally:
        environment.close()


def test_it_is_drawn_without_a_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    environment = envs.make("merge-v0", render_mode="rgb_array")
    environment.adapter.reset(seed=1)
    picture = environment.picture()
    assert picture is not None and picture.std() > 5
    environment.close()


def test_a_page_says_what_there_is_to_do(merge: Environment) -> None:
    page = document(merge)
    assert page.title == "Merge" and "A highway merge negotiation environment." in page.text
    picture = merge.picture() if merge.adapter.reset(seed=1) else None
    assert picture is not None and picture.shape == (150, 600, 3) and picture.std() > 5
