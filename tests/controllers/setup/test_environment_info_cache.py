"""Descriptions of environments are made by a process of their own once, and kept."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from gym_gui import envs
from gym_gui.controllers.engine.bound_operator import is_alike
from gym_gui.controllers.engine.resolved_operator import seats_here
from gym_gui.controllers.setup.environment_info import EnvironmentInfo
from gym_gui.controllers.setup.environment_info_cache import EnvironmentInfos
from gym_gui.controllers.setup.environment_probe import EnvironmentProbe, EnvironmentRequest
from gym_gui.core.config import OperatorConfig
from gym_gui.core.errors import UsageError
from gym_gui.core.trusted.trust import Origin

CARTPOLE = EnvironmentRequest("CartPole-v1")


@pytest.fixture
async def probe() -> AsyncIterator[EnvironmentProbe]:
    result = EnvironmentProbe()
    yield result
    await result.close()


@pytest.mark.parametrize("task", ["FrozenLake-v1", "Pendulum-v1", "classic/connect_four_v3"])
def test_a_sheet_survives_the_way(task: str) -> None:
    environment = envs.make(task)
    env_info = EnvironmentInfo.of(environment)
    environment.close()
    read = EnvironmentInfo.from_json(json.loads(json.dumps(env_info.to_json())))
    assert read.page == env_info.page and read.teams == env_info.teams
    for agent, slot in env_info.slots.items():
        there = read.slots[agent]
        assert there.words == slot.words and tuple(there.offers) == tuple(slot.offers)
        assert there.env_id == slot.env_id == task


def test_what_a_person_must_know_is_in_it() -> None:
    environment = envs.make("FrozenLake-v1")
    env_info = EnvironmentInfo.of(environment)
    environment.close()
    page, slot = env_info.page, env_info.slots["agent_0"]
    assert page.title and page.summary and "rgb_array" in page.render_modes
    assert slot.words[0] == "left" and slot.action_codec.space.n == 4
    assert set(page.keys["agent_0"][0].bindings.values()) == {0, 1, 2, 3}


async def test_it_is_asked_once_and_kept_on_disk(tmp_path: Path, probe: EnvironmentProbe) -> None:
    first = await EnvironmentInfos(tmp_path, probe).env_info(CARTPOLE)
    assert first.page.keys["agent_0"][0].realtime
    (path,) = tmp_path.glob("*.json")
    silent = EnvironmentProbe()
    again = EnvironmentInfos(tmp_path, silent)
    assert (await again.env_info(CARTPOLE)).page == first.page
    assert not silent.running, "the answer is on the disk"
    path.unlink()
    assert (await again.env_info(CARTPOLE)).page == first.page and not silent.running


async def test_files_in_other_folders_share_it(tmp_path: Path, probe: EnvironmentProbe) -> None:
    asked = [replace(CARTPOLE, origin=Origin("e.json", str(tmp_path / name))) for name in ("one", "two")]
    first = await EnvironmentInfos(tmp_path, probe).env_info(asked[0])
    silent = EnvironmentProbe()
    assert (await EnvironmentInfos(tmp_path, silent).env_info(asked[1])).page == first.page
    assert not silent.running


@pytest.mark.parametrize("content", ["{}", "", "[]", '{"env_id": "x", "slots": 3}'])
async def test_a_damaged_answer_is_asked_again(content: str, tmp_path: Path, probe: EnvironmentProbe) -> None:
    first = await EnvironmentInfos(tmp_path, probe).env_info(CARTPOLE)
    (path,) = tmp_path.glob("*.json")
    path.write_text(content, "utf-8")
    assert (await EnvironmentInfos(tmp_path, probe).env_info(CARTPOLE)).page == first.page


async def test_what_does_not_exist_or_cannot_be_made_is_said_and_not_kept(
    tmp_path: Path, probe: EnvironmentProbe
) -> None:
    env_infos = EnvironmentInfos(tmp_path, probe)
    with pytest.raises(UsageError, match="CartPole-v1"):
        await env_infos.env_info(EnvironmentRequest("CartPol-v1"))
    with pytest.raises(UsageError, match="could not be made"):
        await env_infos.env_info(EnvironmentRequest("FrozenLake-v1", env_kwargs={"map_name": "none such"}))
    assert not list(tmp_path.glob("*.json"))


async def test_cancelling_leaves_no_child(tmp_path: Path, probe: EnvironmentProbe) -> None:
    task = asyncio.ensure_future(EnvironmentInfos(tmp_path, probe).env_info(CARTPOLE))
    while not probe.running:
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not probe.running


_OWN = """
import gymnasium, numpy as np
from gymnasium import spaces

class Own(gymnasium.Env):
    observation_space = spaces.Box(-1, 1, ({size},))
    action_space = spaces.Box(-1, 1, (2,))
"""


async def test_code_of_ones_own_is_looked_at_anew(
    tmp_path: Path, probe: EnvironmentProbe, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may have changed with any file that it reads: here one that it imports.

    Python looks at its seconds and its length alone, so that its length changes.
    """
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    (tmp_path / "own_envs.py").write_text("from own_spaces import Own\n")
    own = OperatorConfig("a", task="own_envs:Own")
    seen: list[tuple[int, ...]] = []
    for size in (2, 10):
        (tmp_path / "own_spaces.py").write_text(_OWN.format(size=size))
        seats = await EnvironmentInfos(tmp_path / "kept", probe).seats(own)
        seen.append(seats.slots["agent_0"].observation_codec.space.shape)
        probe.cancel()
    assert seen == [(2,), (10,)]


@pytest.mark.parametrize("task", ["FrozenLake-v1", "Pendulum-v1", "classic/connect_four_v3"])
async def test_who_can_sit_where_is_read_there_as_it_is_here(
    task: str, tmp_path: Path, probe: EnvironmentProbe
) -> None:
    config = OperatorConfig("a", task=task)
    here, there = seats_here(config), await EnvironmentInfos(tmp_path, probe).seats(config)
    assert replace(there, slots={}) == replace(here, slots={})
    for agent, slot in here.slots.items():
        read = there.slots[agent]
        assert is_alike(read, slot)
        assert (read.noop_action, read.default_action) == (slot.noop_action, slot.default_action)
        assert [*read.options] == [*slot.options] and [*read.offers] == [*slot.offers]
