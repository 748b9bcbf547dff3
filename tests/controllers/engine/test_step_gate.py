"""A pace is kept, evenly, from the moment it is set; pausing and stepping go before it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from itertools import pairwise
from typing import Any

import pytest

from gym_gui.controllers.engine.session import SessionController
from gym_gui.controllers.engine.session_interface import SessionSettings
from gym_gui.controllers.sessions.local_session import LocalSession
from gym_gui.core.errors import UsageError
from tests.support.clockwork import Clockwork, by_clockwork
from tests.support.engine import arena, bind_operator, plans, player
from tests.support.session_log import SessionLog
from tests.support.waiting import in_time
from tests.support.watching import resolved


@asynccontextmanager
async def session(
    seeds: Any = (1,),
    concurrency: int = 1,
    pace: float | None = None,
    log: SessionLog | None = None,
    choose: Callable[[Any], int] = lambda _: 0,
) -> AsyncIterator[SessionController]:
    """Endless episodes."""
    bound = await bind_operator(arena("Corridor"), {"agent_0": player(choose)}, env_kwargs={"length": 10**6})
    controller = SessionController(bound, log or SessionLog(), concurrency=concurrency)
    controller.pace(pace)
    controller.add(plans(seeds))
    task = asyncio.create_task(controller.run())
    try:
        yield controller
    finally:
        controller.stop()
        await asyncio.wait_for(task, 10)


async def taken(controller: SessionController, seconds: float) -> int:
    before = controller.total_steps
    await asyncio.sleep(seconds)
    return controller.total_steps - before


def steps_at(pace: float, seconds: float, needs: Callable[[int], float] = lambda _: 0.0) -> list[float]:
    """When steps are taken that a policy has answered; each of its answers ``needs`` some time."""
    times: list[float] = []

    async def play(loop: Clockwork) -> list[float]:
        def choose(_: Any) -> int:
            times.append(loop.time())
            loop.pass_time(needs(len(times)))
            return 0

        async with session(pace=pace, choose=choose) as controller:
            await asyncio.sleep(seconds)
            assert len(times) - 1 <= controller.total_steps <= len(times)
        return times[1:]  # each is asked for the next one once it has taken one

    return by_clockwork(play)


def test_steps_are_spaced_evenly_at_the_pace() -> None:
    times = steps_at(50, 0.61)
    assert times == pytest.approx([0.02 * k for k in range(1, 31)], abs=0.001)


def test_who_answers_late_but_in_time_delays_nobody() -> None:
    times = steps_at(50, 0.61, lambda number: 0.015 if number % 3 else 0.0)
    assert times == pytest.approx([0.02 * k for k in range(1, 31)], abs=0.001)


def test_what_was_missed_is_not_made_up_for_in_a_burst() -> None:
    times = steps_at(50, 1.0, lambda number: 0.31 if number == 5 else 0.0)
    gaps = [later - earlier for earlier, later in pairwise(times)]
    assert max(gaps) == pytest.approx(0.31, abs=0.021)
    assert all(gap > 0.019 for gap in gaps[5:]) and len(times) < 50 * 1.0 - 14


async def test_every_episode_has_a_pace_of_its_own() -> None:
    steps: dict[int, int] = {}  # by the seed of the episode

    def choose(asked: Any) -> int:
        steps[asked.seed] = asked.step_index
        return 0

    async with session(range(4), 4, pace=50, choose=choose) as controller:
        begun = time.perf_counter()
        await in_time(lambda: controller.total_steps >= 80, "twenty steps each")
        assert time.perf_counter() - begun >= 20 / 50 - 0.01
        assert len(steps) == 4 and max(steps.values()) <= 22


async def test_a_new_pace_holds_at_once() -> None:
    async with session(pace=0.01) as controller:
        await in_time(lambda: controller.live == 1, "it began")
        assert await taken(controller, 0.05) == 0, "a step in a hundred seconds"
        controller.pace(None)
        await in_time(lambda: controller.total_steps > 200, "as fast as it can")
        controller.pace(0.01)
        assert await taken(controller, 0.1) == 0


async def test_pausing_and_stepping_go_before_the_pace() -> None:
    async with session(pace=0.01) as controller:
        await in_time(lambda: controller.live == 1, "it began")
        controller.pause()
        for k in range(1, 4):
            controller.step()
            await in_time(lambda k=k: controller.total_steps == k, "a step at once")
        controller.pace(500)
        assert await taken(controller, 0.05) == 0, "it is paused"
        controller.resume()
        await in_time(lambda: controller.total_steps > 10, "it goes on")


async def test_steps_that_were_not_taken_are_forgotten_when_it_goes_on() -> None:
    async with session(pace=0.01) as controller:
        controller.step()
        assert await taken(controller, 0.02) == 0, "only what is paused is stepped"
        controller.pause()
        controller.resume()
        controller.pause()
        assert await taken(controller, 0.05) == 0


async def test_more_episodes_begin_while_others_wait_for_their_time() -> None:
    async with session(concurrency=3, pace=0.01) as controller:
        await in_time(lambda: controller.live == 1, "it began")
        controller.add(plans((5, 6, 7))[1:])
        await in_time(lambda: controller.live == 3, "two more", 2.0)


async def test_abort_ends_what_waits_and_the_session_plays_on() -> None:
    sheet = SessionLog()
    async with session((1, 2, 3), 2, pace=0.01, log=sheet) as controller:
        await in_time(lambda: controller.live == 2, "they began")
        controller.abort()
        assert {sheet.episodes[i]["status"] for i in (0, 1)} == {"aborted"} and controller.waiting == 0
        sheet.episodes.clear()
        controller.pace(None)
        controller.add(plans((8,)))
        await in_time(lambda: controller.total_steps > 50, "it plays again, even the same index")
        assert controller.live == 1 and not sheet.episodes


@pytest.mark.parametrize("pace", [0, -1, float("nan"), float("inf")])
async def test_a_pace_that_cannot_be_kept_is_refused(pace: float) -> None:
    session = LocalSession(resolved(objects={"agent_0": player()}), SessionSettings(1), SessionLog())
    await session.start()
    try:
        with pytest.raises(UsageError, match="Choose a number above 0, or no limit"):
            session.pace(pace)
    finally:
        await session.close()
