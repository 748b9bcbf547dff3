"""Environments are looked at in another process, which may die without harm."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

from gym_gui import envs
from gym_gui.controllers.engine.resolved_operator import resolve_operator
from gym_gui.controllers.setup.catalog_cache import CatalogCache
from gym_gui.controllers.setup.environment_info import EnvironmentInfo
from gym_gui.controllers.setup.environment_probe import EnvironmentProbe, EnvironmentRequest
from gym_gui.core.config import OperatorConfig
from gym_gui.core.enums import SteppingParadigm
from gym_gui.core.errors import UsageError
from gym_gui.core.spaces import short_space
from gym_gui.processes.child import ManagedChild
from gym_gui.services.store import Store
from tests.support.processes import Offspring
from tests.support.waiting import eventually

CARTPOLE = EnvironmentRequest("CartPole-v1")


@pytest.fixture
async def probe() -> AsyncIterator[EnvironmentProbe]:
    result = EnvironmentProbe()
    yield result
    await result.close()


def children(offspring: Offspring) -> list[int]:
    return offspring.find("gym_gui.controllers.setup.environment_probe_child")


async def test_a_sheet_says_what_the_environment_itself_says(probe: EnvironmentProbe):
    env_info = await probe.describe(EnvironmentRequest("classic/connect_four_v3"))
    assert env_info.paradigm is SteppingParadigm.SEQUENTIAL
    assert env_info.agents == ("player_0", "player_1")
    assert env_info.summary == "turn by turn · 2 agents · Discrete(7)"
    environment = envs.make("classic/connect_four_v3")
    here = EnvironmentInfo.of(environment)
    environment.close()
    for agent, slot in here.slots.items():
        there = env_info.slots[agent]
        assert (
            there.observation_codec.space == slot.observation_codec.space
            and there.action_codec.space == slot.action_codec.space
        )
        assert there.action_meanings == slot.action_meanings and there.noop_action == slot.noop_action
    assert env_info.teams == here.teams and not env_info.single


async def test_a_single_agent_environment_is_told_apart(probe: EnvironmentProbe):
    env_info = await probe.describe(CARTPOLE)
    assert env_info.single and env_info.summary == "1 agent · Discrete(2)" and env_info.can_have_managers


async def test_managers_are_slots(probe: EnvironmentProbe):
    task = "MiniGrid-DoorKey-5x5-v0"
    plain = await probe.describe(EnvironmentRequest(task))
    assert plain.can_have_managers and plain.agents == ("agent_0",)
    managed = await probe.describe(EnvironmentRequest(task, managed=("agent_0",)))
    assert set(managed.agents) == {"agent_0", "agent_0/goal"}


async def test_a_preview_is_the_first_look_at_the_episode_of_that_seed(probe: EnvironmentProbe):
    request = EnvironmentRequest("MiniGrid-Empty-Random-6x6-v0")
    shown = [await probe.preview(request, seed) for seed in (3, 4, 3)]
    pictures = [look.picture for look in shown]
    assert all(p is not None and p.ndim == 3 and p.shape[2] == 3 for p in pictures)
    assert np.array_equal(pictures[0], pictures[2]) and not np.array_equal(pictures[0], pictures[1])  # type: ignore[arg-type]
    environment = envs.make("MiniGrid-Empty-Random-6x6-v0", render_mode="rgb_array")
    environment.adapter.reset(seed=3)
    assert np.array_equal(environment.env.render(), pictures[0])  # type: ignore[arg-type]
    environment.close()


async def test_one_process_answers_everything(probe: EnvironmentProbe, offspring: Offspring):
    assert not probe.running
    await asyncio.gather(probe.describe(CARTPOLE), probe.preview(CARTPOLE, 0), probe.describe(CARTPOLE))
    assert len(children(offspring)) == 1


async def test_the_engine_is_asked_in_its_own_words(probe: EnvironmentProbe):
    fine = OperatorConfig.single_agent(operator_id="a", task="CartPole-v1", worker_type="random")
    assert await probe.cast(fine) == 1
    wrong = OperatorConfig("a", task="CartPole-v1", workers={"pole": fine.workers["agent_0"]})
    with pytest.raises(UsageError) as here:
        resolve_operator(wrong)
    with pytest.raises(UsageError) as there:
        await probe.cast(wrong)
    assert str(there.value) == str(here.value)


async def test_an_unknown_environment_is_a_sentence(probe: EnvironmentProbe):
    with pytest.raises(UsageError, match=r"CartPool-v1.*Did you mean 'CartPole-v1'"):
        await probe.describe(EnvironmentRequest("CartPool-v1"))
    assert (await probe.describe(CARTPOLE)).env_id == "CartPole-v1"


async def test_an_environment_that_kills_its_process_costs_only_that(
    probe: EnvironmentProbe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "deadly.py").write_text("import os\ndef make(**_):\n    print('oh no')\n    os._exit(3)\n")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    with pytest.raises(
        UsageError, match=r"deadly:make could not be described: its process ended with exit status 3: oh no"
    ):
        await probe.describe(EnvironmentRequest("deadly:make"))
    assert (await probe.describe(CARTPOLE)).env_id == "CartPole-v1"


async def test_one_that_never_comes_back_can_be_cancelled(
    probe: EnvironmentProbe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, offspring: Offspring
):
    started = tmp_path / "started"
    body = f"    pathlib.Path({str(started)!r}).touch()\n    time.sleep(600)\n"
    (tmp_path / "endless.py").write_text(f"import pathlib, time\ndef make(**_):\n{body}")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    endless = EnvironmentRequest("endless:make")

    async def begun() -> None:
        while not started.exists():
            await asyncio.sleep(0.01)
        started.unlink()

    waiting = asyncio.ensure_future(probe.describe(endless))
    await asyncio.wait_for(begun(), 20)
    probe.cancel()
    with pytest.raises(UsageError, match="it was stopped"):
        await waiting
    again = asyncio.ensure_future(probe.describe(endless))
    await asyncio.wait_for(begun(), 20)
    again.cancel()
    with pytest.raises(asyncio.CancelledError):
        await again
    assert not children(offspring)
    assert (await probe.describe(CARTPOLE)).env_id == "CartPole-v1"


async def test_an_idle_child_is_ended_and_another_started_when_needed(offspring: Offspring):
    probe = EnvironmentProbe(idle_s=0.05)
    try:
        await probe.describe(CARTPOLE)
        (first,) = children(offspring)
        while children(offspring):
            await asyncio.sleep(0.02)
        await probe.describe(CARTPOLE)
        assert children(offspring) != [first]
    finally:
        await probe.close()


async def test_closing_leaves_nothing_and_starts_nothing(offspring: Offspring):
    probe = EnvironmentProbe()
    await probe.describe(CARTPOLE)
    await probe.close()
    eventually(lambda: not children(offspring), "the child has ended")
    with pytest.raises(UsageError, match="being closed"):
        await probe.describe(CARTPOLE)


async def test_closing_while_the_child_starts_leaves_nothing(offspring: Offspring):
    begun = asyncio.Event()

    class Told(EnvironmentProbe):
        async def start(self) -> ManagedChild:
            begun.set()
            return await super().start()

    probe = Told()
    asking = asyncio.ensure_future(probe.describe(CARTPOLE))
    await begun.wait()
    await probe.close()
    with pytest.raises(UsageError, match="being closed"):
        await asking
    assert not children(offspring)


async def test_closing_after_the_last_answer_leaves_nothing(offspring: Offspring):
    answered = asyncio.Event()

    class Told(EnvironmentProbe):
        async def exchange(
            self, child: ManagedChild, request: Mapping[str, Any]
        ) -> tuple[dict[str, Any], bytes]:
            answer = await super().exchange(child, request)
            answered.set()
            await asyncio.sleep(0)  # the one who closes comes in between
            return answer

    probe = Told()
    asking = asyncio.ensure_future(probe.describe(CARTPOLE))
    await answered.wait()
    await probe.close()
    assert (await asking).env_id == "CartPole-v1"
    assert not children(offspring)


async def test_what_a_page_knew_looks_at_nothing_once_it_is_closed(tmp_path: Path, offspring: Offspring):
    catalog = CatalogCache(Store(data=tmp_path, runs=tmp_path, cache=tmp_path))
    await catalog.close()
    with pytest.raises(UsageError, match="being closed"):
        await catalog.env_info(CARTPOLE)
    assert not children(offspring)


@pytest.mark.parametrize(
    ("space", "shown"),
    [
        (gymnasium.spaces.Discrete(3), "Discrete(3)"),
        (gymnasium.spaces.Box(0, 1, (3, 2)), "Box(3, 2)"),
        (gymnasium.spaces.Dict(a=gymnasium.spaces.Discrete(2)), "Dict of 1"),
        (gymnasium.spaces.MultiDiscrete([2, 3]), "MultiDiscrete"),
    ],
)
def test_spaces_are_shown_on_a_few_characters(space: object, shown: str):
    assert short_space(space) == shown
