"""The robotic warehouse as a family of environments."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("rware")

from gym_gui import envs
from gym_gui.core.errors import UnknownNameError, UsageError
from gym_gui.core.paradigms.check import CheckStatus
from gym_gui.envs import Environment, document

TASK = "rware-tiny-2ag-v2"
NOOP, FORWARD, LEFT, RIGHT, TOGGLE = range(5)


@pytest.fixture
def warehouse() -> Iterator[Environment]:
    made = envs.make(TASK, render_mode="rgb_array")
    made.adapter.reset(seed=1)
    yield made
    made.close()


def bring_to_goal(environment: Environment) -> Any:
    """Have the first robot, which carries the first shelf that is asked for, step onto a goal."""
    game: Any = environment.env
    robot, shelf = game.agents[0], game.request_queue[0]
    x, y = game.goals[0]
    robot.x, robot.y, robot.dir = x, y - 1, type(robot.dir).DOWN
    shelf.x, shelf.y, robot.carrying_shelf = x, y - 1, shelf
    game._recalc_grid()
    return environment.adapter.step({"agent_0": FORWARD, "agent_1": NOOP})


def test_some_are_listed_and_all_are_found() -> None:
    ids = [spec.id for spec in envs.list_specs("rware")]
    assert len(ids) == 36 and {TASK, "rware-large-8ag-hard-v2"} <= set(ids)
    assert envs.resolve("rware-medium-19ag-easy-v2").family == "rware"
    for unknown in ("rware-tiny-1ag-hard-v2", "rware-tiny-20ag-v2", "rware-huge-2ag-v2"):
        with pytest.raises(UnknownNameError):
            envs.resolve(unknown)


@pytest.mark.parametrize("task", [TASK, "rware-small-4ag-easy-v2", "rware-tiny-8ag-hard-v2"])
def test_the_contract_is_kept(task: str) -> None:
    report = envs.check(task, steps=60)
    assert report.ok, "\n".join(report.lines())
    assert report["rendering"].status is CheckStatus.PASSED


@pytest.mark.parametrize("observed", ["image", "image_dict"])
def test_other_observations_keep_the_contract_too(observed: str) -> None:
    report = envs.check(TASK, env_kwargs={"observation_type": observed, "max_steps": 20}, steps=30)
    assert report.ok, "\n".join(report.lines())


def test_a_delivery_is_paid_to_who_made_it(warehouse: Environment) -> None:
    result = bring_to_goal(warehouse)
    assert result.rewards == {"agent_0": 1.0, "agent_1": 0.0} and warehouse.success() is None


def test_enumerations_are_written_as_words() -> None:
    environment = envs.make(TASK, env_kwargs={"reward_type": "global"})
    try:
        environment.adapter.reset(seed=1)
        assert bring_to_goal(environment).rewards == {"agent_0": 1.0, "agent_1": 1.0}
    finally:
        environment.close()
    with pytest.raises(UsageError, match="individual, two_stage"):
        envs.make(TASK, env_kwargs={"reward_type": "everybody"})


def test_time_that_is_up_is_a_cut() -> None:
    environment = envs.make(TASK, env_kwargs={"max_steps": 3})
    try:
        environment.adapter.reset(seed=1)
        for _ in range(3):
            result = environment.adapter.step({"agent_0": NOOP, "agent_1": NOOP})
        assert all(result.truncated.values()) and not any(result.terminated.values())
    finally:
        environment.close()


def test_a_warehouse_is_drawn_without_a_display(warehouse: Environment) -> None:
    picture, game = warehouse.picture(), warehouse.env
    assert picture is not None and picture.shape == (342, 311, 3)
    for shelf in game.shelfs:
        color = [0, 128, 128] if shelf in game.request_queue else [72, 61, 139]
        assert picture[shelf.y * 31 + 4, shelf.x * 31 + 4].tolist() == color
    for x, y in game.goals:
        assert picture[y * 31 + 3, x * 31 + 3].tolist() == [60, 60, 60]


def test_names_keys_and_page(warehouse: Environment) -> None:
    assert warehouse.keys("agent_0").bindings == {"N": 0, "Up": 1, "Left": 2, "Right": 3, "Space": 4}
    assert warehouse.teams == {"team": ("agent_0", "agent_1")} and warehouse.noop_action("agent_1") == NOOP
    page = document(warehouse)
    assert page.title == "Warehouse, tiny, 2 robots"
    assert page.actions["agent_1"][TOGGLE] == (TOGGLE, "toggle load") and page.max_steps == 500
