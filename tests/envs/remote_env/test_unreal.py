"""Unreal's maps by the real client, against a server that speaks UnrealCV's protocol (long)."""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gym_gui.core.paradigms.check import check_environment
from gym_gui.envs.families.simulators import SimulatorFamily
from gym_gui.envs.families.unreal import UnrealFamily
from tests.support.simulators import (
    Engine,
    engine,
    installed,
    made,
    nobody_is_there,
    one_that_is_started_again_is_waited_for,
    one_that_is_stopped_is_not_waited_for,
)

pytestmark = [pytest.mark.full, pytest.mark.timeout(900)]
FORWARD, BACK, LEFT, RIGHT, TURN_LEFT, TURN_RIGHT, NOOP = range(7)


@pytest.fixture(scope="module")
def family(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimulatorFamily]:
    with installed(UnrealFamily(), tmp_path_factory.mktemp("data")) as found:
        yield found


def _engine(*arguments: str) -> Any:
    return engine("unrealcv_server", sys.executable, *arguments)


@pytest.fixture
def world() -> Iterator[Engine]:
    with _engine() as found:
        yield found


def walker(family: SimulatorFamily, port: int, **settings: Any) -> Any:
    return made(family, "unreal/Map-v0", port, **{"image": [24, 32], **settings})


def test_a_camera_walks_to_a_lamp(family: SimulatorFamily, world: Engine) -> None:
    """At (4, -3) in metres with y to the left, where Unreal has (400, 300) with y to the right."""
    env = walker(family, world.port, goal="Lamp", mask=True, depth=True, turn_deg=90)
    seen, _ = env.reset()
    assert np.allclose(seen["goal"], [4, -3, 1.5])
    assert np.allclose(seen["position"], [0, 0, 1.5])
    assert np.allclose(seen["heading"], [1, 0])
    assert seen["mask"][0, 0].tolist() == [1, 2, 3]
    assert (seen["depth"] == 5.0).all()
    assert seen["depth"].shape == (24, 32)
    for _ in range(4):
        seen = env.step(FORWARD)[0]
    assert np.allclose(seen["position"], [4, 0, 1.5])
    assert seen["image"][0, 0].tolist() == [200, 100, 50]
    seen = env.step(TURN_RIGHT)[0]
    assert np.allclose(seen["heading"], [0, -1], atol=1e-6)
    assert "The goal is 3.00 m away, straight ahead." in env.ask("text")
    _, reward, terminated, _, _ = env.step(FORWARD)
    assert (reward, terminated) == (pytest.approx(1.0), False)
    assert env.step(FORWARD)[2]
    assert env.ask("success") is True
    assert ["distance", 1.0] in env.ask("facts")
    assert env.render().shape == (24, 32, 3)
    env.close()


def test_sidesteps_and_turns_go_the_right_way(family: SimulatorFamily, world: Engine) -> None:
    env = walker(family, world.port, start=[1, 1, 1.5, 90], step_m=0.5)
    seen, _ = env.reset()
    assert np.allclose(seen["heading"], [0, 1], atol=1e-6)
    assert np.allclose(env.step(FORWARD)[0]["position"], [1, 1.5, 1.5])
    assert np.allclose(env.step(LEFT)[0]["position"], [0.5, 1.5, 1.5])
    assert np.allclose(env.step(RIGHT)[0]["position"], [1, 1.5, 1.5])
    assert np.allclose(env.step(BACK)[0]["position"], [1, 1, 1.5])
    env.step(TURN_LEFT)
    assert ["heading", 120] in env.ask("facts")
    assert env.step(NOOP)[1] == 0.0
    assert env.ask("success") is None
    env.close()


def test_a_wall_blocks_the_player_and_costs(family: SimulatorFamily, world: Engine) -> None:
    env = walker(family, world.port, start=[4.5, 0, 1.5, 0])
    env.reset()
    seen, reward, terminated, _, info = env.step(FORWARD)
    assert np.allclose(seen["position"], [5, 0, 1.5])
    assert (reward, terminated, info) == (pytest.approx(-0.1), False, {"hit": True})
    assert "Something blocked your last step." in env.ask("text")
    assert env.step(BACK)[4] == {}
    other = walker(family, world.port, camera=1, start=[4.5, 0, 1.5, 0])
    other.reset()
    seen, *_, info = other.step(FORWARD)
    assert np.allclose(seen["position"], [5.5, 0, 1.5]), "other cameras pass through"
    assert info == {}
    env.close()
    other.close()


def test_the_contract_holds(family: SimulatorFamily, world: Engine) -> None:
    spec = family.specs()[0]
    arguments = {"port": world.port, "goal": "Lamp", "image": [24, 32]}
    report = check_environment(
        lambda: family.adapter(spec, family.build(spec, render_mode="rgb_array", env_kwargs=arguments)),
        steps=20,
    )
    assert report.ok, "\n".join(report.lines())
    assert report["interleaving"].status == "skipped"


def test_two_in_turn_have_each_its_own_place(family: SimulatorFamily, world: Engine) -> None:
    """The engine lets one client in: they share its connection."""
    one, other = walker(family, world.port), walker(family, world.port, start=[0, 2, 1.5, 90])
    one.reset()
    other.reset()
    for k in range(1, 3):
        assert np.allclose(one.step(FORWARD)[0]["position"], [k, 0, 1.5])
        assert np.allclose(other.step(FORWARD)[0]["position"], [0, 2 + k, 1.5])
    assert one.render()[0, 0].tolist() == [100, 100, 50]
    one.close()
    other.step(FORWARD)
    other.close()


# -- what goes wrong ---------------------------------------------------------------------


def test_nobody_listens(family: SimulatorFamily) -> None:
    nobody_is_there(lambda port: walker(family, port), "UnrealCV")


def test_what_greets_nobody_is_no_unrealcv(family: SimulatorFamily) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as mute,
        pytest.raises(Exception, match=r"did not answer within 1 s: it is stopped or has another client"),
    ):
        walker(family, mute.getsockname()[1]).reset()


def test_a_version_without_pictures_over_the_connection_is_refused(family: SimulatorFamily) -> None:
    said = r"is UnrealCV 0.3.6, and 0.3.7 or newer is needed"
    with _engine("--version", "0.3.6") as old, pytest.raises(Exception, match=said):
        walker(family, old.port).reset()
    with _engine("--version", "") as silent:
        env = walker(family, silent.port)
        env.reset()
        env.close()


def test_an_engine_that_is_killed_is_found_again_by_the_next_episode(
    family: SimulatorFamily, world: Engine
) -> None:
    env, other = walker(family, world.port), walker(family, world.port)
    env.reset()
    other.reset()
    env.step(FORWARD)
    world.kill()
    with pytest.raises(Exception, match=r"broke the connection in .*Start the engine"):
        env.step(FORWARD)
    with pytest.raises(Exception, match=r"is gone|broke the connection"):
        other.step(FORWARD)
    with pytest.raises(Exception, match=r"cannot be reached"):
        env.reset()
    world.start()
    for each in (env, other):
        seen, _ = each.reset()
        assert np.allclose(seen["position"], [0, 0, 1.5])
        assert np.allclose(each.step(FORWARD)[0]["position"], [1, 0, 1.5])
    env.close()
    other.close()


def test_an_engine_that_is_just_being_started_again_is_waited_for(
    family: SimulatorFamily, world: Engine
) -> None:
    env = walker(family, world.port, timeout_s=20)
    one_that_is_started_again_is_waited_for(env, world, lambda env: env.step(FORWARD))


def test_an_engine_that_is_stopped_is_waited_for_no_longer_than_said(
    family: SimulatorFamily, world: Engine
) -> None:
    said = (
        r"did not answer within 1 s in 'vset /camera/0/moveto .*Start the",
        r"did not answer within 1 s: it is stopped",
    )
    env = walker(family, world.port)
    one_that_is_stopped_is_not_waited_for(env, world, lambda env: env.step(FORWARD), said, 4)


@pytest.mark.parametrize(
    ("nonsense", "said"),
    [
        ("bytes version", "sent an invalid answer to 'vget /unrealcv/version'"),
        ("number rotation", "answered another command than 'vget /camera/0/rotation'"),
        ("words vget.*location", "sent an invalid answer to 'vget /camera/0/location'"),
        ("words lit", "sent no picture"),
        ("words depth", "sent a depth that cannot be read"),
    ],
)
def test_what_is_no_answer_is_said(family: SimulatorFamily, nonsense: str, said: str) -> None:
    with _engine("--nonsense", nonsense) as strange, pytest.raises(Exception, match=said):
        walker(family, strange.port, depth=True).reset()


def test_pictures_of_another_size_are_refused_with_both_sizes(family: SimulatorFamily, world: Engine) -> None:
    with pytest.raises(
        Exception, match=r"pictures of 24 x 32 pixels, and image asks for 84 x 84.*unrealcv.ini"
    ):
        walker(family, world.port, image=[84, 84]).reset()
    env = walker(family, world.port)
    env.reset()
    env.close()


def test_what_the_map_has_not_is_said(family: SimulatorFamily, world: Engine) -> None:
    with pytest.raises(Exception, match=r"refused 'vget /object/Door/location': error Can not find object"):
        walker(family, world.port, goal="Door").reset()
    with pytest.raises(Exception, match=r"refused 'vget /camera/7/location'"):
        walker(family, world.port, camera=7).reset()
