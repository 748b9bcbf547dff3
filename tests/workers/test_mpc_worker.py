"""The planner in the engine: it is handed the simulator's state, plays well, repeats, and is marked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mujoco")

from gym_gui.cli.contract_tests import check_worker
from gym_gui.controllers.resolved_operator import resolve_operator
from gym_gui.core.assignment import WorkerAssignment
from gym_gui.core.errors import MosaicError
from gym_gui.services.mujoco_mpc_controller import MuJoCoMPCController
from tests.controllers.test_session_workers import operator, played
from tests.support.session_log import SessionLog


def mpc(**settings: Any) -> dict[str, Any]:
    return {"agent": {"worker_id": "mujoco_mpc_worker", "settings": settings}}


async def episodes(task: str, seeds: range, steps: int, **settings: Any) -> SessionLog:
    return await played(operator(mpc(**settings), task, max_steps=steps), seeds, len(seeds))


async def test_it_plans_with_the_state_it_is_handed_and_repeats() -> None:
    few = {"rollouts": 64, "horizon": 12, "knots": 12}
    log = await episodes("InvertedDoublePendulum-v5", range(1), 30, **few)
    assert log.episodes[0]["length"] == 30
    assert log.episodes[0]["returns"]["agent_0"] > 270, "it has stood for 30 steps"
    assert log.episodes[0]["saw_state"] == ["agent_0"]
    again = await episodes("InvertedDoublePendulum-v5", range(1), 30, threads=1, **few)
    assert again.column(0, "action") == log.column(0, "action")


@pytest.mark.parametrize("task", ["Pendulum-v1", "MountainCarContinuous-v0"])
def test_where_there_is_no_simulator_to_hand_out_it_is_refused_before_the_start(task: str) -> None:
    with pytest.raises(MosaicError, match="needs state, but here the environment has no simulator"):
        resolve_operator(operator(mpc(), task))


async def test_a_task_without_a_reward_model_is_refused_before_anything_is_played() -> None:
    with pytest.raises(MosaicError, match="reward of ant_v5 is not known here: name a task_file"):
        await episodes("Ant-v5", range(1), 5)


async def test_with_a_task_file_it_is_played(tmp_path: Path) -> None:
    task = tmp_path / "forward.toml"
    task.write_text('[[terms]]\nbody_velocity = "torso"\naxis = "x"\ntarget = 1\n', "utf-8")
    log = await episodes("Ant-v5", range(1), 3, task_file=str(task), rollouts=4, horizon=3, threads=1)
    assert log.episodes[0]["status"] in ("completed", "truncated"), log.episodes[0]
    assert log.episodes[0]["length"] == 3
    task.write_text('[[terms]]\nbody_velocity = "torsoo"\n', "utf-8")
    with pytest.raises(MosaicError, match=r"forward\.toml: terms\[0\]\.body_velocity: the model has no body"):
        await episodes("Ant-v5", range(1), 3, task_file=str(task))


def test_the_controller_of_the_design_documents_seats_it() -> None:
    controller = MuJoCoMPCController()
    seated = controller.assignment(planner="cem", rollouts=16)
    assert isinstance(seated, WorkerAssignment)
    assert (seated.worker_id, seated.worker_type) == ("mujoco_mpc_worker", "planner")
    with pytest.raises(MosaicError, match="rollout"):
        controller.assignment(rollout=3)


def test_it_keeps_the_contract() -> None:
    settings = ("rollouts=4", "iterations=1", "horizon=3", "threads=1")
    assert check_worker("mujoco_mpc_worker", settings, env="Hopper-v5") == 0
