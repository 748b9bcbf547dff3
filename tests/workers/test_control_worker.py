"""Classical control in the engine: it balances, it swings up, it repeats, and says what it lacks."""

from __future__ import annotations

from typing import Any

import pytest

from gym_gui.cli.contract_tests import check_worker
from gym_gui.controllers.engine.resolved_operator import resolve_operator
from gym_gui.core.errors import MosaicError
from tests.controllers.engine import test_session_workers as sessions
from tests.controllers.engine.test_session_workers import operator
from tests.support.seldom import some_of
from tests.support.session_log import SessionLog


def control(**settings: Any) -> dict[str, Any]:
    return {"agent": {"worker_id": "control_worker", "type": "baseline", "settings": settings}}


async def played(players: dict[str, Any], task: str, seeds: range) -> SessionLog:
    return await sessions.played(operator(players, task), seeds, len(seeds))


def returns(log: SessionLog) -> list[float]:
    assert {episode["status"] for episode in log.episodes.values()} == {"completed"}
    assert not any(sum(episode["invalid_actions"].values()) for episode in log.episodes.values())
    return [log.episodes[i]["returns"]["agent_0"] for i in sorted(log.episodes)]


@pytest.mark.parametrize("controller", some_of(["lqr", "pid"], "pid"))
async def test_the_pole_stays_up_on_twenty_of_twenty_seeds(controller: str) -> None:
    log = await played(control(controller=controller), "CartPole-v1", range(20))
    assert returns(log) == [500.0] * 20


async def test_the_pendulum_swings_up_and_stays_and_the_episodes_repeat() -> None:
    log = await played(control(), "Pendulum-v1", range(10))
    random = await played({"agent": {"type": "random"}}, "Pendulum-v1", range(10))
    own = returns(log)
    assert sum(own) / 10 > -200
    assert sum(returns(random)) / 10 < -900
    again = await played(control(), "Pendulum-v1", range(2))
    assert again.column(1, "action") == log.column(1, "action")


@pytest.mark.parametrize("controller", some_of(["lqr", "pid"], "lqr"))
async def test_the_inverted_pendulum_stays_up(controller: str) -> None:
    pytest.importorskip("mujoco")
    log = await played(control(controller=controller), "InvertedPendulum-v5", range(3))
    assert returns(log) == [1000.0] * 3


async def test_gains_of_ones_own_balance_and_lead_to_a_target() -> None:
    gains = {
        "pole_angle": -60.0,
        "pole_angular_velocity": -15.5,
        "cart_position": -8.7,
        "cart_velocity": -9.7,
    }
    log = await played(
        control(controller="gains", gains=gains, setpoint={"cart_position": 0.5}), "CartPole-v1", range(2)
    )
    assert returns(log) == [500.0] * 2


async def test_a_target_that_is_far_is_reached_without_falling_on_the_way() -> None:
    log = await played(control(setpoint={"cart_position": 2.0}), "CartPole-v1", range(3))
    assert returns(log) == [500.0] * 3


@pytest.mark.parametrize(
    ("task", "episodes", "length", "least"),
    [("CartPole-v1", 3, 500, 3), pytest.param("InvertedPendulum-v5", 1, 1000, 12, marks=pytest.mark.full)],
)
async def test_it_goes_where_its_manager_wants_and_never_falls(
    task: str, episodes: int, length: int, least: int
) -> None:
    if task.startswith("Inverted"):
        pytest.importorskip("mujoco")
    manager = {"agent": {"type": "random"}}
    log = await sessions.played(operator(control(), task, manager=manager), range(episodes), 3)
    for index in range(episodes):
        assert log.episodes[index]["returns"] == {"agent_0": length, "agent_0/goal": length}
        asked = [row for row in log.rows[index] if row["agent_id"] == "agent_0/goal"]
        *ended, last = (row["option_ended_by"] for row in asked)
        assert set(ended) == {"over"} and last in ("over", "episode")
        assert len(ended) >= least


async def test_numbers_that_are_not_measured_are_named_with_those_that_are() -> None:
    log = await played(control(controller="gains", gains={"pole": 1.0}), "CartPole-v1", range(1))
    assert log.episodes[0]["status"] == "failed"
    assert "is not measured; measured quantities: cart_position, cart_velocity" in log.episodes[0]["error"]


def test_where_lqr_has_no_model_it_is_refused() -> None:
    with pytest.raises(MosaicError, match="LQR is made for CartPole"):
        resolve_operator(operator(control(), "MountainCarContinuous-v0"))


async def test_more_than_one_force_is_refused_before_the_start() -> None:
    pytest.importorskip("mujoco")
    with pytest.raises(MosaicError, match="State feedback needs an action that is one number"):
        await played(control(controller="gains", gains={"angle_of_the_torso": 1}), "Hopper-v5", range(1))


@pytest.mark.parametrize("task", some_of(["CartPole-v1", "Pendulum-v1"], "CartPole-v1"))
def test_it_keeps_the_contract_in_its_tasks(task: str) -> None:
    assert check_worker("control_worker", env=task) == 0
