"""SMAC's battles, against a server that speaks StarCraft II's interface (long)."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gym_gui.core.paradigms.check import check_environment
from gym_gui.envs.families.simulators import SimulatorFamily
from gym_gui.envs.families.smac import SmacFamily
from gym_gui.envs.remote_env import close_servers
from tests.support import sc2_path
from tests.support.simulators import (
    Engine,
    engine,
    installed,
    made,
    nobody_is_there,
    one_that_is_stopped_is_not_waited_for,
)

pytestmark = [pytest.mark.full, pytest.mark.timeout(900)]
STAND, EAST = 1, 4


@pytest.fixture(scope="module")
def family(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimulatorFamily]:
    with installed(SmacFamily(), tmp_path_factory.mktemp("data")) as found:
        yield found


@pytest.fixture
def world(family: SimulatorFamily) -> Iterator[Engine]:
    with engine("sc2_server", family.interpreter) as found:
        yield found


def battle(family: SimulatorFamily, port: int | None, name: str = "3m", **settings: Any) -> Any:
    return made(family, f"smac/{name}", port, **settings)


def stand(env: Any) -> Any:
    """A step in which no unit moves."""
    return env.step(dict.fromkeys(env.agents, STAND))


def fought(env: Any, seed: int) -> tuple[list[Any], float, int]:
    """All go east until they can shoot, then shoot the lowest number that they reach."""
    seen, _ = env.reset(seed=seed)
    told, total, steps = [seen], 0.0, 0
    while env.agents:
        actions: dict[str, int] = {}
        for agent, each in seen.items():
            legal = np.flatnonzero(each["action_mask"])
            assert (legal.tolist() == [0]) == (not each["observation"].any()), "the dead do nothing"
            targets = [int(action) for action in legal if action >= 6]
            actions[agent] = targets[0] if targets else EAST if EAST in legal else int(legal[0])
        seen, rewards, terminated, truncated, _ = env.step(actions)
        assert len(set(rewards.values())) == 1 and not any(truncated.values())
        total, steps = total + next(iter(rewards.values())), steps + 1
        told.append((seen, rewards, terminated))
    return told, total, steps


def test_a_battle_is_won_together_by_hitting_the_same(family: SimulatorFamily, world: Engine) -> None:
    env = battle(family, world.port)
    seen, _ = env.reset(seed=1)
    assert list(seen) == ["unit_0", "unit_1", "unit_2"]
    assert seen["unit_0"]["observation"][-5:].tolist() == [1, 0, 1, 0, 0]
    assert np.flatnonzero(seen["unit_0"]["action_mask"]).tolist() == [1, 2, 3, 4, 5]
    assert env.ask("text", "unit_1").startswith("You are a marine, health 45 of 45.\nUnit 0: a marine")
    _, total, steps = fought(env, 1)
    assert env.ask("success") is True
    assert total == pytest.approx(20.0, abs=0.2) and 10 < steps < 60
    env.close()


def test_who_stands_still_is_cut_off_and_has_won_nothing(family: SimulatorFamily, world: Engine) -> None:
    env = battle(family, world.port, limit=3)
    env.reset(seed=0)
    for step in range(3):
        *_, terminated, truncated, _ = stand(env)
        assert not any(terminated.values())
        assert all(truncated.values()) == (step == 2)
    assert env.ask("success") is False
    env.close()


def test_a_seed_is_a_battle(family: SimulatorFamily, world: Engine) -> None:
    env = battle(family, world.port)
    rows = [str(fought(env, seed)[0]) for seed in (3, 4, 3)]
    assert rows[0] == rows[2] != rows[1]
    env.close()


def test_whoever_begins_a_battle_takes_the_engine_over(family: SimulatorFamily, world: Engine) -> None:
    one, other = battle(family, world.port), battle(family, world.port)
    one.reset(seed=0)
    other.reset(seed=0)
    with pytest.raises(Exception, match=r"the connection was lost; begin another episode"):
        stand(one)
    stand(other)
    other.close()
    one.close()


def test_the_contract_holds(family: SimulatorFamily, world: Engine) -> None:
    spec = next(spec for spec in family.specs() if spec.id == "smac/5m_vs_6m")
    report = check_environment(
        lambda: family.adapter(spec, family.build(spec, render_mode=None, env_kwargs={"port": world.port})),
        steps=20,
    )
    assert report.ok, "\n".join(report.lines())
    assert report["masks"].status == "passed"


def test_it_is_started_from_sc2path_and_ended_with_its_environment(
    family: SimulatorFamily, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = sc2_path.lay(tmp_path, family.interpreter, builds=(60000, 75689))
    monkeypatch.setenv("SC2PATH", str(home))
    env = battle(family, None, timeout_s=10)
    _, total, _ = fought(env, 1)
    assert total == pytest.approx(20.0, abs=0.2)
    (note,) = home.glob("Versions/Base75689/started-*")
    pid = int(note.name.rpartition("-")[2])
    os.kill(pid, 0)
    env.close()
    close_servers()
    _gone(pid)


def _gone(pid: int) -> None:
    until = time.monotonic() + 10
    while time.monotonic() < until:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    raise AssertionError("the engine outlives its environment")


# -- what goes wrong ---------------------------------------------------------------------


def test_without_starcraft_it_says_where_it_is_looked_for(
    family: SimulatorFamily, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SC2PATH", str(tmp_path))
    said = rf"StarCraft II is not installed: there is no Versions/Base…/SC2_x64 in {tmp_path}\. Set SC2PATH"
    with pytest.raises(Exception, match=said):
        battle(family, None).reset()


def test_one_that_ends_as_it_is_started_is_not_waited_for(
    family: SimulatorFamily, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    binary = tmp_path / "Versions" / "Base75689" / "SC2_x64"
    binary.parent.mkdir(parents=True)
    binary.write_text("#!/bin/sh\nexit 3\n")
    binary.chmod(0o755)
    monkeypatch.setenv("SC2PATH", str(tmp_path))
    with pytest.raises(Exception, match="StarCraft II ended with status 3 as it was started"):
        battle(family, None).reset()


def test_a_map_that_is_not_there_is_named(family: SimulatorFamily, world: Engine) -> None:
    with pytest.raises(Exception, match=r"has no map Maps/SMAC_Maps/MMM\.SC2Map\. Put the maps"):
        battle(family, world.port, "MMM").reset()
    with pytest.raises(Exception, match="has 7 units against 8, not 8 against 8: is it another map"):
        battle(family, world.port, "8m").reset()


@pytest.mark.parametrize(
    ("arguments", "settings", "said"),
    [
        (("--build", "50000", "--version", "3.10.0"), {}, "is version 3.10.0, which is too old; 3.16.1"),
        ((), {"version": "5.0"}, "is version 4.10.0, and version asks for 5.0"),
        (("--nonsense", "http"), {}, "sent an invalid answer: another program listens there"),
        (("--nonsense", "ping"), {}, "broke the connection in ping, or sent an invalid answer"),
        (("--nonsense", "observation"), {}, "broke the connection in observation"),
    ],
)
def test_another_version_and_what_is_no_answer_are_said(
    family: SimulatorFamily, arguments: tuple[str, ...], settings: dict[str, str], said: str
) -> None:
    with (
        engine("sc2_server", family.interpreter, *arguments) as strange,
        pytest.raises(Exception, match=said),
    ):
        battle(family, strange.port, **settings).reset()


def test_an_engine_that_is_killed_is_found_again_by_the_next_episode(
    family: SimulatorFamily, world: Engine
) -> None:
    env = battle(family, world.port)
    env.reset(seed=0)
    world.kill()
    with pytest.raises(Exception, match=r"broke the connection in action.*Start StarCraft II, or leave port"):
        stand(env)
    with pytest.raises(Exception, match=r"cannot be reached: Connection refused"):
        env.reset()
    world.start()
    env.reset(seed=0)
    stand(env)
    env.close()


def test_nobody_listens(family: SimulatorFamily) -> None:
    nobody_is_there(lambda port: battle(family, port), "StarCraft II")


def test_an_engine_that_is_stopped_is_waited_for_no_longer_than_said(
    family: SimulatorFamily, world: Engine
) -> None:
    said = (r"did not answer within 1 s in action", r"did not answer within 1 s")
    one_that_is_stopped_is_not_waited_for(battle(family, world.port), world, stand, said, 6)
