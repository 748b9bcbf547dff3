"""The planner in the engine: it is handed the simulator's state, plays well, repeats, and is marked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest

pytest.importorskip("mujoco")

from gym_gui.analysis.transcripts.plan_values import planned_of
from gym_gui.cli.contract_tests import check_worker
from gym_gui.controllers.engine.resolved_operator import resolve_operator
from gym_gui.controllers.engine.session_interface import LiveSettings, SessionSettings
from gym_gui.controllers.replays.replay_session import EpisodeReplay, ReplayOrder
from gym_gui.controllers.sessions.local_session import LocalSession
from gym_gui.core.errors import MosaicError, ProtocolError
from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.services.mujoco_mpc_controller import MuJoCoMPCController
from gym_gui.workers.recorded_extras import read_extras
from tests.controllers.engine.test_session_workers import in_time, operator, played
from tests.support.engine import plans
from tests.support.session_log import SessionLog


def mpc(**settings: Any) -> dict[str, Any]:
    return {"agent": {"worker_id": "mujoco_mpc_worker", "settings": settings}}


async def episodes(task: str, seeds: range, steps: int, **settings: Any) -> SessionLog:
    return await played(operator(mpc(**settings), task, max_steps=steps), seeds, len(seeds))


async def test_it_plans_with_the_state_it_is_handed_and_repeats() -> None:
    few = {"rollouts": 64, "horizon": 20, "knots": 12}
    log = await episodes("InvertedDoublePendulum-v5", range(1), 30, **few)
    assert log.episodes[0]["length"] == 30
    assert log.episodes[0]["returns"]["agent_0"] > 250, "it has stood for 30 steps"
    assert log.episodes[0]["saw_state"] == ["agent_0"]
    points = log.column(0, "plan_points")
    assert len(points) == 30 and all(np.shape(each) == (12, 3) for each in points)
    assert all(abs(each[0][2]) < 2 for each in points), "it stays near where it is"
    for told, value in zip(log.column(0, "planned"), log.column(0, "value"), strict=True):
        course = planned_of(told)
        assert course is not None and len(course.steps) == 12 and len(course.controls) == 1
        assert course.earned["plan"][-1] + course.beyond.get("plan", 0) == pytest.approx(value, rel=1e-3)
        assert course.earned["worst plan"][-1] <= course.earned["plan"][-1]
        assert len(orjson.dumps(told)) < 1000
    again = await episodes("InvertedDoublePendulum-v5", range(1), 30, threads=1, **few)
    assert again.column(0, "action") == log.column(0, "action")


@pytest.mark.parametrize("task", ["Pendulum-v1", "MountainCarContinuous-v0"])
def test_where_there_is_no_simulator_to_hand_out_it_is_refused_before_the_start(task: str) -> None:
    with pytest.raises(MosaicError, match=f"MuJoCo MPC is made for InvertedPendulum, .* not for {task}"):
        resolve_operator(operator(mpc(), task))


async def test_a_task_without_a_reward_model_is_refused_before_anything_is_played() -> None:
    with pytest.raises(MosaicError, match="reward of ant_v5 is not known: name a task_file"):
        await episodes("Ant-v5", range(1), 5)


UNSTABLE = """
<mujoco><option timestep="0.01" gravity="0 0 0"/><worldbody>
  <body><joint name="x" type="slide" axis="1 0 0" stiffness="-100"/><geom size=".1" mass="1"/></body>
</worldbody><actuator><motor joint="x" gear="1e-9" ctrllimited="true" ctrlrange="-1 1"/></actuator></mujoco>
"""
"""What is pushed away from the middle, ever harder: where it begins says how soon its simulation breaks."""


async def test_where_all_rollouts_diverge_the_episode_fails_and_others_go_on(tmp_path: Path) -> None:
    model = tmp_path / "unstable.xml"
    model.write_text(UNSTABLE, "utf-8")
    players = mpc(rollouts=4, horizon=44, aim="reward", threads=1)
    config = operator(players, "HalfCheetah-v5", max_steps=1, env_kwargs={"xml_file": str(model)})
    log = await played(config, range(4), 4)
    assert [log.episodes[i]["status"] for i in range(4)] == ["completed"] * 3 + ["failed"]
    failed = log.episodes[3]
    assert failed["error"] == ("agent_0: all 2 rollouts diverged: from this state on the simulation breaks")
    assert (failed["length"], failed["outcome"], log.rows[3]) == (0, None, [])
    assert failed["saw_state"] == ["agent_0"]
    assert all(log.episodes[i]["length"] == 1 and log.episodes[i]["error"] is None for i in range(3))


async def test_a_task_file_whose_reward_is_no_number_fails_its_episode_and_says_so(tmp_path: Path) -> None:
    task = tmp_path / "far.toml"
    task.write_text('[[terms]]\nqpos = "rootx"\ntarget = 1e200\n', "utf-8")
    log = await episodes("HalfCheetah-v5", range(1), 2, task_file=str(task), rollouts=4, horizon=3, threads=1)
    assert log.episodes[0]["status"] == "failed" and log.rows[0] == []
    assert "rollouts are not numbers" in log.episodes[0]["error"]
    assert "\n" not in log.episodes[0]["error"]


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


@pytest.mark.full
async def test_where_its_plans_go_is_in_the_picture_live_and_in_replay() -> None:
    """With the same actions, pictures differ by the plans alone; at the reset there is none."""
    few = {"rollouts": 4, "iterations": 1, "horizon": 20, "threads": 1}
    shown: list[list[Any]] = []
    for points in (12, 0):
        config = operator(mpc(plan_points=points, **few), "Hopper-v5")
        log = SessionLog()
        settings = SessionSettings(1, max_steps=2, live=LiveSettings())
        session = LocalSession(resolve_operator(config), settings, log)
        await session.start()
        session.play(plans(range(1)))
        await in_time(lambda log=log: 0 in log.episodes, "the episode is over")
        await session.close()
        lines = b"\n".join(map(orjson.dumps, log.rows[0]))
        replay = EpisodeReplay(ReplayOrder(config.to_record(), 0, 0, {"agent_0": "agent_0"}, 2, lines))
        replay.open()
        again = [frame.picture for frame in replay.frames()]
        replay.close()
        assert not replay.departs
        shown.append([log.frames[-1][1], again[0], again[-1]])
    live, reset, replayed = (np.array_equal(a, b) for a, b in zip(*shown, strict=True))
    assert (live, reset, replayed) == (False, True, False)


@pytest.mark.parametrize("points", ["here", [1, 2], [["x", 0, 0]], [[0, 0, 0]] * 65, [[True]]])
def test_plans_that_are_no_points_are_refused(points: Any) -> None:
    assert read_extras(orjson.dumps({"plan_points": [[0, 0.5, 1]]}).decode())
    with pytest.raises(ProtocolError, match="'plan_points' are not at most 64 points of numbers"):
        read_extras(orjson.dumps({"plan_points": points}).decode())


@pytest.mark.parametrize(
    "course",
    [
        "here",
        {"steps": [0] * 65},
        {"steps": [0], "more": 1},
        {"steps": [0, 1], "earned": {"plan": [1]}},
        {"steps": [0], "earned": {"plan": ["x"]}},
        {"steps": [0], "controls": [[0]] * 17},
    ],
)
def test_courses_without_bounds_are_refused(course: Any) -> None:
    fine = {"steps": [0, 5], "earned": {"plan": [0, 1.5]}, "beyond": {"plan": 100.0}, "controls": [[0, 1]]}
    assert read_extras(orjson.dumps({"planned": fine}).decode()) == {"planned": fine}
    with pytest.raises(ProtocolError, match="'planned' is not 'steps'"):
        read_extras(orjson.dumps({"planned": course}).decode())


@pytest.mark.parametrize(
    ("task", "worker"),
    [
        ("Hopper-v5", "mujoco_mpc_worker"),
        ("connect_four_v3", "openspiel_worker"),
        ("classic/chess_v6", "openspiel_worker"),
        ("open_spiel/kuhn_poker", "openspiel_worker"),
    ],
)
def test_a_planner_without_a_name_is_the_one_that_is_made_for_the_environment(task: str, worker: str) -> None:
    (player,) = operator({"agent": {"type": "planner"}}, task).workers.values()
    assert (player.worker_type, player.worker_id) == ("planner", worker)


def test_where_no_planner_is_made_for_the_environment_one_has_to_be_named() -> None:
    with pytest.raises(MosaicError, match="type 'planner' has no default worker here"):
        operator({"agent": {"type": "planner"}}, "CartPole-v1")
