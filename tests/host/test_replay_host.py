"""Replays in a session host process: complete, and nothing of it left, however it ends."""

from __future__ import annotations

import asyncio
import dataclasses
import os
import signal
import time
from pathlib import Path

import pytest

from gym_gui.analysis import open_run
from gym_gui.controllers.replays.replay_reel import ReplayStore
from gym_gui.controllers.replays.replay_session import ReplayOrder
from gym_gui.core.config import OperatorConfig
from gym_gui.core.errors import MosaicError, UsageError
from gym_gui.host.replay_client import ReplaySession
from gym_gui.host.replay_messages import replay_message, replay_order_of
from gym_gui.host.service_names import pb
from gym_gui.services.runs.recorded_episode import load_episode
from tests.support.engine import arena, player, record_run
from tests.support.processes import Offspring


async def order_of(tmp_path: Path, task: str = "CartPole-v1", **config: object) -> ReplayOrder:
    choose = player(lambda s: (s.seed + s.step_index) % 2)
    operator = OperatorConfig("op", "", "", task, {}, **config)  # type: ignore[arg-type]
    folder = await record_run(tmp_path, (operator, {"agent_0": choose}), seeds=(5,))
    return ReplayOrder.of(load_episode(open_run(folder)))


async def test_all_looks_arrive_in_order(tmp_path: Path, offspring: Offspring) -> None:
    order, reel, told = await order_of(tmp_path), ReplayStore(), list[int]()
    session = ReplaySession(order, reel, lambda: told.append(len(reel)))
    await session.play()
    steps = order.lines.count(b"\n")
    assert [look.step for look in reel.states] == list(range(steps + 1))
    assert session.over and session.departs == ""
    assert session.meanings == {"agent_0": ("left", "right")}
    assert told[0] == 1, "the first look does not wait for the others"
    picture = reel.picture(steps)
    assert picture is not None and picture.shape == (400, 600, 3)
    reel.close()
    offspring.assert_none()


@pytest.mark.full
async def test_one_who_is_busy_gets_the_last_looks_too(tmp_path: Path, offspring: Offspring) -> None:
    """The host has said everything, in a message for each look, while the client still takes the first.

    Taking each of the others lasts a good while too: what is known of the end of the host's process by then,
    a turn of the event loop after the other, is known before the last look is taken.
    """
    order = await order_of(tmp_path, arena("Corridor"), env_kwargs={"length": 16, "pause_s": 0.06})
    reel, messages = ReplayStore(), list[int]()

    def busy() -> None:
        messages.append(len(reel))
        time.sleep(0.5 if len(messages) > 1 else 4.0)

    session = ReplaySession(order, reel, busy)
    await session.play()
    assert len(messages) > 12, "the looks came one by one"
    assert [look.step for look in reel.states] == list(range(17))
    assert session.over and session.departs == ""
    reel.close()
    offspring.assert_none()


async def test_what_one_agent_saw_arrives_in_place_of_the_whole(tmp_path: Path, offspring: Offspring) -> None:
    order = dataclasses.replace(
        await order_of(tmp_path, "MiniGrid-Empty-5x5-v0", max_steps=3), seen_from="agent_0"
    )
    reel = ReplayStore()
    await ReplaySession(order, reel, lambda: None).play()
    sights = [look.observed for look in reel.states]
    assert [observed.step for observed in sights if observed is not None] == [0, 1, 2, 2], (
        "the last is kept at the end"
    )
    assert sights[0] is not None and "You look east" in sights[0].text and sights[0].picture is None
    own = reel.picture(0)
    assert own is not None and own.shape[0] == own.shape[1] == 7 * (own.shape[0] // 7), (
        "its seven by seven cells"
    )
    reel.close()
    offspring.assert_none()


async def test_stopping_leaves_nothing(tmp_path: Path, offspring: Offspring) -> None:
    reel, begun = ReplayStore(), asyncio.Event()
    session = ReplaySession(await order_of(tmp_path), reel, begun.set)
    task = asyncio.create_task(session.play())
    await asyncio.wait_for(begun.wait(), 60)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    reel.close()
    offspring.assert_none()


async def test_a_killed_host_is_told_in_words(tmp_path: Path, offspring: Offspring) -> None:
    reel, begun = ReplayStore(), asyncio.Event()
    order = await order_of(tmp_path, arena("Corridor"), env_kwargs={"length": 15_000})
    session = ReplaySession(order, reel, begun.set)
    task = asyncio.create_task(session.play())
    await asyncio.wait_for(begun.wait(), 60)
    os.kill(session.pid, signal.SIGKILL)
    with pytest.raises(MosaicError, match=r"SIGKILL|signal 9"):
        await asyncio.wait_for(task, 30)
    reel.close()
    offspring.assert_none()


async def test_what_is_not_installed_is_said(tmp_path: Path, offspring: Offspring) -> None:
    order = await order_of(tmp_path)
    order = dataclasses.replace(order, operator={**order.operator, "task": "Nowhere-v1"})
    reel = ReplayStore()
    with pytest.raises(UsageError, match="Nowhere-v1"):
        await ReplaySession(order, reel, lambda: None).play()
    reel.close()
    offspring.assert_none()


async def test_an_episode_travels(tmp_path: Path) -> None:
    order = await order_of(tmp_path)
    for max_steps in (None, 7):
        order = dataclasses.replace(order, max_steps=max_steps, seats={"b": "a", "a": "b"})
        got = replay_order_of(pb.ReplayRequest.FromString(replay_message(order).SerializeToString()))
        assert got == order
        assert list(got.seats) == ["b", "a"], "in their order"
