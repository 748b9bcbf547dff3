"""Giving a slot to another player while the session plays."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from gym_gui.controllers.engine.resolved_operator import ResolvedOperator
from gym_gui.controllers.engine.session_interface import LiveSettings, SessionSettings
from gym_gui.controllers.sessions.local_session import LocalSession
from gym_gui.core.errors import UsageError
from gym_gui.core.experiment.assignment import WorkerAssignment
from tests.support.engine import arena
from tests.support.little_workers import RANDOM, little_worker
from tests.support.processes import Offspring, alive
from tests.support.session_log import SessionLog
from tests.support.staff import hired, request
from tests.support.trained import PLAYABLE, needs_a_trained_policy
from tests.support.waiting import in_time
from tests.support.watching import plans, resolved

CORRIDOR = arena("Corridor")
LONG = {"length": 10**6}


def policy(kind: str = "random", **settings: Any) -> WorkerAssignment:
    if kind == "noop":
        return WorkerAssignment("operators_worker", "baseline", {"behavior": "noop"})
    return WorkerAssignment(worker_type=kind, settings=settings)


def scripted(*actions: int) -> WorkerAssignment:
    return policy("human", script=list(actions), script_end="repeat")


@asynccontextmanager
async def session(
    played: ResolvedOperator | None = None, concurrency: int = 1, live: bool = True
) -> AsyncIterator[tuple[LocalSession, SessionLog]]:
    watcher = SessionLog()
    settings = SessionSettings(concurrency, live=LiveSettings() if live else None)
    played = played or resolved(task=CORRIDOR, env_kwargs=LONG)
    session = LocalSession(played, settings, watcher)
    await session.start()
    session.pace(300)  # else an endless corridor would take the machine from the other tests
    watcher.answer = session.answer
    try:
        yield session, watcher
    finally:
        await session.close()


async def test_it_decides_from_the_next_decision_on_and_that_is_recorded() -> None:
    async with session() as (live, watcher):
        live.pause()
        live.play(plans(1))
        await in_time(lambda: watcher.views, "the reset is shown")
        for k in (1, 2, 3):
            live.step()
            await in_time(lambda k=k: live.controller.total_steps == k, "a step")
        player = await live.rebind("agent_0", scripted(1, 2, 1))
        assert player["worker_id"] == "human_worker" and player["version"]
        assert player["worker_type"] == "human" and player["policy"] == "script"
        live.resume()
        await in_time(lambda: live.controller.total_steps > 20, "it goes on")
        live.abort()
    (change,) = watcher.episodes[0]["rebound"]
    at = change.pop("step_index")
    assert at in (3, 4), "what had been decided stands"
    assert change == {"agent_id": "agent_0", **{k: player[k] for k in ("worker_id", "worker_type", "policy")}}
    sources = watcher.column(0, "action_source")
    assert set(sources[:at]) == {"policy"} and set(sources[at:]) == {"human"}


async def test_what_was_done_before_is_told_as_theirs_who_did_it() -> None:
    async with session() as (live, watcher):
        live.pause()
        live.play(plans(1))
        await in_time(lambda: watcher.views, "the reset is shown")
        live.step()
        await in_time(lambda: watcher.last.step == 1, "a step")
        assert watcher.last.agents[0].by == ""
        looks = len(watcher.views)
        await live.rebind("agent_0", scripted(1, 2, 1))
        assert len(watcher.views) > looks, "it is told at once"
        assert (watcher.last.step, watcher.last.agents[0].by) == (1, "random")
        for k in (2, 3):
            live.step()
            await in_time(lambda k=k: watcher.last.step == k, "a step")
        assert watcher.last.agents[0].by == ""


async def test_the_process_before_is_stopped_and_play_never_stopped_meanwhile(offspring: Offspring) -> None:
    async with session() as (live, watcher):
        live.play(plans(1))
        await in_time(lambda: live.controller.total_steps > 10, "it plays")
        (before,) = offspring.workers("op")
        steps = live.controller.total_steps
        task = asyncio.create_task(live.rebind("agent_0", policy("noop")))
        await in_time(lambda: live.controller.total_steps > steps + 10 or task.done(), "it plays on")
        await task
        (after,) = offspring.workers("op")
        assert after != before and not alive(before)
        steps = live.controller.total_steps
        await in_time(lambda: live.controller.total_steps > steps + 10, "it plays on")
        assert not watcher.episodes and not watcher.ends


async def test_later_episodes_begin_with_the_new_player() -> None:
    played = resolved(task=CORRIDOR, env_kwargs={"length": 3})
    async with session(played) as (live, watcher):
        live.play(plans(1))
        await in_time(lambda: 0 in watcher.episodes, "the first is over")
        await live.rebind("agent_0", policy("noop"))
        live.play(plans(2, first=1))
        await in_time(lambda: 1 in watcher.episodes, "the second is over")
        assert watcher.episodes[0]["agents"]["agent_0"]["policy"] == "random"
        assert watcher.episodes[1]["agents"]["agent_0"]["policy"] == "noop"
        assert "rebound" not in watcher.episodes[1] and watcher.column(1, "action") == [0] * 3


async def test_a_policy_takes_over_from_a_person_who_has_been_asked() -> None:
    played = resolved({"agent": {"type": "human"}}, task=CORRIDOR, env_kwargs={"length": 6})
    async with session(played) as (live, watcher):
        live.play(plans(1))
        await in_time(lambda: watcher.questions, "the person is asked")
        live.answer(watcher.questions[0].id, 2)
        await in_time(lambda: len(watcher.questions) == 2, "again")
        await live.rebind("agent_0", policy("noop"))
        await in_time(lambda: watcher.episodes, "it is over")
        assert watcher.withdrawn == [watcher.questions[1].id]
        assert watcher.column(0, "action") == [2, 0, 0, 0, 0, 0]
        assert watcher.column(0, "action_source") == ["human"] + ["policy"] * 5
        assert watcher.episodes[0]["rebound"][0]["step_index"] == 1


async def test_a_person_takes_over_from_a_policy() -> None:
    played = resolved(task=CORRIDOR, env_kwargs=LONG)
    async with session(played, concurrency=4) as (live, watcher):
        live.play(plans(1, 2))
        await in_time(lambda: live.controller.total_steps > 10, "it plays")
        await live.rebind("agent_0", policy("human"))
        await in_time(lambda: watcher.questions, "the person is asked")
        begun = min(q.step for q in watcher.questions)
        watcher.reply = lambda q: 1 if q.step < begun + 10 else None
        live.answer(watcher.questions[0].id, 1)
        await in_time(lambda: {q.episode for q in watcher.questions} == {0, 1}, "in both episodes")
        last = await in_time(lambda: [q for q in watcher.questions if watcher.reply(q) is None], "again")
        live.abort()
        assert watcher.withdrawn[:1] == [last[0].id]
        live.play(plans(7, 8, 9, first=5))
        await in_time(lambda: watcher.questions[-1].episode == 5, "the person is asked")
        assert live.controller.live == 1, "one episode at a time from now on"
        await live.rebind("agent_0", policy("noop"))
        await in_time(lambda: live.controller.live == 3, "and as many as before again")


async def test_it_gets_a_session_out_of_a_policy_that_hangs(offspring: Offspring) -> None:
    async with session() as (live, watcher):
        live.play(plans(1))
        await in_time(lambda: live.controller.total_steps > 10, "it plays")
        (hung,) = offspring.workers("op")
        os.kill(hung, signal.SIGSTOP)
        await asyncio.sleep(0.1)
        await live.rebind("agent_0", policy("noop"))
        assert not alive(hung)
        steps = live.controller.total_steps
        await in_time(lambda: live.controller.total_steps > steps + 10, "it plays on")
        assert not watcher.episodes


async def test_rules_of_the_new_player_hold() -> None:
    played = resolved(
        {"agent": {"type": "human", "on_invalid": "random_legal"}}, task=CORRIDOR, env_kwargs=LONG
    )
    async with session(played, live=False) as (live, watcher):
        live.play(plans(1))
        await in_time(lambda: live.controller.total_steps > 5, "it plays")
        await live.rebind("agent_0", WorkerAssignment(worker_type="human", on_invalid="error"))
        await in_time(lambda: watcher.episodes, "its first refusal ends the episode")
        assert watcher.episodes[0]["status"] == "failed"


NOBODY = [
    ("agent_1", policy(), "unknown agent"),
    ("agent_0", WorkerAssignment("nobody_worker", "rl"), "nobody_worker"),
    # What is said first where a worker's packages are not there.
    ("agent_0", policy("rl", checkpoint="/nowhere/at/all"), "/nowhere/at/all" if PLAYABLE else "install"),
    ("agent_0", policy("human", script=[9]), "script entry 0"),
    ("agent_0", WorkerAssignment("operators_worker", "rl"), "not 'rl'"),
]


async def test_who_cannot_play_there_is_refused_and_the_one_before_goes_on(offspring: Offspring) -> None:
    async with session() as (live, watcher):
        live.play(plans(1))
        for agent, assignment, words in NOBODY:
            with pytest.raises(UsageError) as caught:
                await live.rebind(agent, assignment)
            assert words in str(caught.value) and "\n" not in str(caught.value), words
            steps = live.controller.total_steps
            await in_time(lambda at=steps: live.controller.total_steps > at + 10, f"it plays on: {words}")
            assert not watcher.episodes and len(offspring.workers("op")) == 1, words
            await in_time(
                lambda: len(offspring.find("mosaic_worker", "--operator")) == 1,
                f"no other worker is left: {words}",
            )


@needs_a_trained_policy
async def test_spaces_that_do_not_fit_are_a_reason() -> None:
    played = resolved(task=CORRIDOR, env_kwargs={**LONG, "box": True})
    async with session(played) as (live, _):
        with pytest.raises(UsageError, match="cannot play agent_0"):
            await live.rebind("agent_0", policy("rl", checkpoint="docs/examples/checkpoints/ppo_cartpole"))


DYING = """
import os
from mosaic_worker import Worker

class Main(Worker):
    def load(self, slot):
        os._exit(3)
"""


async def test_a_worker_that_dies_while_it_loads_is_a_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, offspring: Offspring
) -> None:
    from gym_gui.workers.registry import WorkerTypeRegistry

    for kept in ("_types", "_aliases"):
        monkeypatch.setattr(WorkerTypeRegistry, kept, dict(getattr(WorkerTypeRegistry, kept)))
    async with session() as (live, watcher):
        WorkerTypeRegistry.register(little_worker(tmp_path, DYING, "dying_worker"))
        live.play(plans(1))
        with pytest.raises(UsageError, match="dying_worker"):
            await live.rebind("agent_0", WorkerAssignment("dying_worker", "baseline"))
        WorkerTypeRegistry.register(little_worker(tmp_path, RANDOM, "late_worker"))
        player = await live.rebind("agent_0", WorkerAssignment("late_worker", "baseline"))
        assert player["worker_id"] == "late_worker" and not watcher.episodes
        assert len(offspring.find("mosaic_worker", "--operator")) == 1


async def test_one_after_the_other_the_last_one_stays(offspring: Offspring) -> None:
    async with session() as (live, _):
        live.play(plans(1))
        players = await asyncio.gather(
            *(live.rebind("agent_0", policy(kind)) for kind in ("noop", "random", "noop"))
        )
        assert [p["policy"] for p in players] == ["noop", "random", "noop"]
        assert len(offspring.workers("op")) == 1
        steps = live.controller.total_steps
        await in_time(lambda: live.controller.total_steps > steps + 10, "it plays on")


async def test_a_process_that_fills_other_slots_too_stays(tmp_path: Path) -> None:
    async with hired(little_worker(tmp_path, RANDOM), request("first"), request("second")) as (table, staff):
        first, second = table.slots
        pid = first.process.pid
        await staff.stop_worker(first)
        table.begin(0, slot=1)
        table.ask(0, slot=1)
        assert len(await table.hear(1)) == 1 and alive(pid)
        await staff.stop_worker(second)
        assert not alive(pid) and staff.processes() == []
        await staff.stop_worker(second)  # it is gone already


async def test_closing_ends_one_that_is_still_loading(offspring: Offspring, tmp_path: Path) -> None:
    from gym_gui.workers.registry import WorkerTypeRegistry

    slow = """
import time
from mosaic_worker import Worker

class Main(Worker):
    def load(self, slot):
        time.sleep(600)
"""
    async with session() as (live, _):
        WorkerTypeRegistry.register(little_worker(tmp_path, slow, "slow_worker"))
        task = asyncio.create_task(live.rebind("agent_0", WorkerAssignment("slow_worker", "baseline")))
        await in_time(lambda: offspring.find("slow_worker"), "it is started")
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    assert not offspring.pids()
