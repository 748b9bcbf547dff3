"""AirSim's environments by the real client, against a server that speaks the engine's protocol (long)."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gym_gui.analysis import open_run
from gym_gui.controllers.engine.resolved_operator import resolve_operator
from gym_gui.controllers.runs.script_execution import OperatorScriptExecutionManager
from gym_gui.controllers.sessions.local_session import LocalSession
from gym_gui.core.experiment.experiment_data import experiment_from_data
from gym_gui.core.paradigms.check import check_environment
from gym_gui.envs.families.airsim import AirSimFamily
from gym_gui.envs.families.simulators import SimulatorFamily
from tests.support.simulators import (
    Engine,
    engine,
    free_port,
    installed,
    made,
    nobody_is_there,
    one_that_is_started_again_is_waited_for,
    one_that_is_stopped_is_not_waited_for,
)

pytestmark = [pytest.mark.full, pytest.mark.timeout(900)]
NORTH = np.array([1, 0, 0, 0], np.float32)
STILL = np.zeros(4, np.float32)


@pytest.fixture(scope="module")
def family(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimulatorFamily]:
    with installed(AirSimFamily(), tmp_path_factory.mktemp("data")) as found:
        yield found


def _engine(family: SimulatorFamily, *arguments: str) -> Any:
    return engine("airsim_server", family.interpreter, *arguments)


@pytest.fixture
def world(family: SimulatorFamily) -> Iterator[Engine]:
    with _engine(family) as found:
        yield found


def drone(family: SimulatorFamily, port: int, **settings: Any) -> Any:
    return made(family, "airsim/Drone-v0", port, **settings)


def test_a_drone_flies_to_its_goal(family: SimulatorFamily, world: Engine) -> None:
    env = drone(family, world.port, goal=[8.2, 0, -2], image=[24, 32])
    seen, _ = env.reset(seed=0)
    assert np.allclose(seen["position"], [0, 0, -2])
    assert np.allclose(seen["goal"], [8.2, 0, -2])
    assert seen["image"][0, 0].tolist() == [0, 100, 50]
    total, steps, terminated = 0.0, 0, False
    while not terminated:
        seen, reward, terminated, truncated, info = env.step(NORTH)
        total, steps = total + reward, steps + 1
        assert not truncated
        assert steps < 20
    assert steps == 13
    assert total == pytest.approx(6.5)
    assert np.allclose(seen["velocity"], [5, 0, 0])
    assert seen["image"][0, 0, 0] in (129, 130)
    assert (info, env.ask("success")) == ({}, True)
    assert "You have reached the goal." in env.ask("text")
    assert ["distance", 1.7] in env.ask("facts")
    assert env.render().shape == (24, 32, 3)
    env.close()


def test_in_lockstep_time_stands_still_between_steps(family: SimulatorFamily, world: Engine) -> None:
    env = drone(family, world.port)
    env.reset()
    first = env.step(NORTH)[0]["position"]
    time.sleep(0.3)
    second = env.step(NORTH)[0]["position"]
    assert second[0] - first[0] == pytest.approx(0.5)
    running = drone(family, world.port, lockstep=False)
    running.reset()
    first = running.step(NORTH)[0]["position"]
    time.sleep(0.5)
    assert running.step(STILL)[0]["position"][0] > first[0] + 1.0
    running.close()


def test_enu_is_the_same_flight_in_other_numbers(family: SimulatorFamily, world: Engine) -> None:
    ned, enu = [], []
    env = drone(family, world.port, goal=[3, 1, -2])
    env.reset()
    for action in ([0.5, 0.2, -0.4, 1.0], [0.1, -0.2, 0.0, 1.0]):
        ned.append(env.step(np.array(action, np.float32)))
    env = drone(family, world.port, goal=[1, 3, 2], frame="enu")
    env.reset()
    for action in ([0.2, 0.5, 0.4, -1.0], [-0.2, 0.1, 0.0, -1.0]):
        enu.append(env.step(np.array(action, np.float32)))
    for one, other in zip(ned, enu, strict=True):
        north, east, down = one[0]["position"]
        assert np.allclose(other[0]["position"], [east, north, -down])
        assert other[1] == pytest.approx(one[1])
    assert "heading 9 degrees" in env.ask("text")
    assert "1 being 45 degrees a second" in env.ask("briefing")
    env.close()


def test_along_its_own_axes_a_drone_flies_where_it_faces(family: SimulatorFamily, world: Engine) -> None:
    env = drone(family, world.port, axes="body", yaw_rate=90, step_s=1.0)
    env.reset()
    env.step(np.array([0, 0, 0, 1], np.float32))
    seen = env.step(np.array([1, 0, 0, 0], np.float32))[0]
    assert np.allclose(seen["position"], [0, 5, -2], atol=1e-4)
    assert ["heading", 90] in env.ask("facts")
    env.close()


def test_a_collision_ends_the_episode_and_costs(family: SimulatorFamily, world: Engine) -> None:
    env = drone(family, world.port, goal=[20, 0, -2], step_s=1.0)
    env.reset()
    assert not env.step(NORTH)[2], "standing on the ground before take-off was no collision"
    _, reward, terminated, _, info = env.step(NORTH)
    assert terminated
    assert reward == pytest.approx(5.0 - 10.0)
    assert info == {"hit": "Wall"}
    assert env.ask("success") is False
    assert ["hit", "Wall"] in env.ask("facts")
    env.reset()
    assert not env.step(NORTH)[2], "nor is the one of the episode before"
    env.close()


def test_a_car_is_driven(family: SimulatorFamily, world: Engine) -> None:
    env = made(family, "airsim/Car-v0", world.port, goal=[9, 0, -50], step_s=0.5)
    env.reset()
    for _ in range(3):
        seen = env.step(np.array([1, 0], np.float32))[0]
    assert seen["velocity"][0] == pytest.approx(4.5)
    assert "The goal is" in env.ask("text")
    seen = env.step(np.array([-1, 0.5], np.float32))[0]
    assert seen["velocity"][0] < 4.5
    assert seen["position"][1] > 0
    env.close()


def test_the_contract_holds(family: SimulatorFamily, world: Engine) -> None:
    spec = family.specs()[0]
    arguments = {"port": world.port, "goal": [5, 5, -3]}
    report = check_environment(
        lambda: family.adapter(spec, family.build(spec, render_mode="rgb_array", env_kwargs=arguments)),
        steps=20,
    )
    assert report.ok, "\n".join(report.lines())
    assert report["interleaving"].status == "skipped"


def test_two_environments_do_not_fly_one_drone(family: SimulatorFamily, world: Engine) -> None:
    one, other = drone(family, world.port), drone(family, world.port)
    one.reset()
    other.reset()
    with pytest.raises(Exception, match=r"taken over AirSim at .*: an engine plays one episode at a time"):
        one.step(NORTH)
    other.step(NORTH)
    one.reset()
    one.step(NORTH)
    one.close()


# -- what goes wrong ---------------------------------------------------------------------


def test_nobody_listens(family: SimulatorFamily) -> None:
    nobody_is_there(lambda port: drone(family, port), "AirSim")
    with pytest.raises(Exception, match=r"has no episode: call reset|cannot be reached"):
        drone(family, free_port()).step(NORTH)


def test_another_version_is_refused(family: SimulatorFamily) -> None:
    with (
        _engine(family, "--version", "1") as old,
        pytest.raises(Exception, match=r"has version 1 of the interface.*cosysairsim 3.5"),
    ):
        drone(family, old.port).reset()


def test_an_engine_that_is_killed_is_found_again_by_the_next_episode(
    family: SimulatorFamily, world: Engine
) -> None:
    env = drone(family, world.port)
    env.reset()
    env.step(NORTH)
    world.kill()
    with pytest.raises(Exception, match=r"broke the connection in \w+.*Start the engine"):
        env.step(NORTH)
    with pytest.raises(Exception, match=r"the connection was lost; begin another episode"):
        env.step(NORTH)
    with pytest.raises(Exception, match=r"cannot be reached"):
        env.reset()
    world.start()
    seen, _ = env.reset()
    assert np.allclose(seen["position"], [0, 0, -2])
    assert np.allclose(env.step(NORTH)[0]["position"], [0.5, 0, -2])
    world.kill()
    world.start()
    with pytest.raises(Exception, match=r"broke the connection"):
        env.step(NORTH)
    env.reset()
    env.step(NORTH)
    env.close()


async def test_an_engine_killed_in_mid_run_and_started_again_fails_no_episode(
    family: SimulatorFamily, world: Engine, tmp_path: Path
) -> None:
    random = {"worker_id": "operators_worker", "worker_type": "baseline", "settings": {"behavior": "random"}}
    kwargs = {"port": world.port, "timeout_s": 20}
    operator = {"id": "op", "task": "airsim/Car-v0", "env_kwargs": kwargs, "workers": {"agent": random}}
    execution = {"num_episodes": 6, "seeds": 1, "max_steps": 150}
    experiment = experiment_from_data({"operators": [operator], "execution": execution})
    resolved = [resolve_operator(each) for each in experiment.operators]

    def kill_and_start() -> None:
        world.kill()
        time.sleep(0.5)
        world.start()

    deed = threading.Timer(2.0, kill_and_start)
    deed.start()
    result = await OperatorScriptExecutionManager(experiment, resolved, LocalSession, tmp_path).run()
    deed.join()
    assert (result.status, result.episodes, result.failed) == ("completed", 6, 0)
    (retry,) = open_run(result.folder).record.retries
    assert retry.lost == "environment" and "broke the connection in" in retry.reason


def test_an_engine_that_is_just_being_started_again_is_waited_for(
    family: SimulatorFamily, world: Engine
) -> None:
    env = drone(family, world.port, timeout_s=20)
    one_that_is_started_again_is_waited_for(env, world, lambda env: env.step(NORTH))


def test_an_engine_that_is_stopped_is_waited_for_no_longer_than_said(
    family: SimulatorFamily, world: Engine
) -> None:
    said = (
        r"did not answer within [\d.]+ s in \w+\. Start the engine, or give",
        r"did not answer within 1 s in getServerVersion",
    )
    env = drone(family, world.port)
    one_that_is_stopped_is_not_waited_for(env, world, lambda env: env.step(NORTH), said, 6)


@pytest.mark.parametrize(
    ("nonsense", "said"),
    [
        ("bytes", "broke the connection in getServerVersion, or sent an invalid answer"),
        ("getServerVersion", "reports no version: this is not AirSim"),
        ("simGetGroundTruthKinematics", "sent an invalid answer to simGetGroundTruthKinematics"),
        ("simGetImages", "sent an invalid answer to simGetImages|sent no picture"),
        ("simGetCollisionInfo", "sent an invalid answer to simGetCollisionInfo"),
    ],
)
def test_what_is_no_answer_is_said(family: SimulatorFamily, nonsense: str, said: str) -> None:
    with _engine(family, "--nonsense", nonsense) as strange, pytest.raises(Exception, match=said):
        drone(family, strange.port, image=[24, 32]).reset()


def test_pictures_of_another_size_are_refused_with_both_sizes(family: SimulatorFamily, world: Engine) -> None:
    env = drone(family, world.port, image=[84, 84])
    with pytest.raises(
        Exception, match=r"pictures of 24 x 32 pixels, and image asks for 84 x 84.*CaptureSet"
    ):
        env.reset()
    env = drone(family, world.port, image=[24, 32])
    env.reset()
    env.close()


def test_what_the_engine_refuses_is_passed_on(family: SimulatorFamily, world: Engine) -> None:
    with pytest.raises(Exception, match=r"refused enableApiControl: .*Vehicle API for 'Nobody'"):
        drone(family, world.port, vehicle="Nobody").reset()
    with pytest.raises(Exception, match=r"refused simGetImages: .*No camera of that name"):
        drone(family, world.port, camera="7", image=[24, 32]).reset()
    env = drone(family, world.port, vehicle="Drone1")
    env.reset()
    env.close()
