"""People in slots: asked, answered for in time, and never waited for by a session that does not move."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from gym_gui.controllers.engine.resolved_operator import ResolvedOperator
from gym_gui.controllers.engine.session_interface import LiveSettings, SessionSettings
from gym_gui.controllers.sessions.local_session import LocalSession
from gym_gui.core.live import HumanQuestion
from tests.support.engine import arena
from tests.support.session_log import SessionLog
from tests.support.waiting import in_time
from tests.support.watching import plans, resolved

CORRIDOR = arena("Corridor")
LONG = {"length": 10**6}


def person(**more: Any) -> dict[str, Any]:
    """A slot that a person plays."""
    return {"agent": {"type": "human", **more}}


def game(workers: Any = None, task: str = CORRIDOR, **kwargs: Any) -> ResolvedOperator:
    return resolved(workers or person(), task=task, **({"env_kwargs": kwargs} if kwargs else {}))


@asynccontextmanager
async def session(
    played: ResolvedOperator, concurrency: int = 1, live: bool = True
) -> AsyncIterator[tuple[LocalSession, SessionLog]]:
    watcher = SessionLog()
    settings = SessionSettings(concurrency, live=LiveSettings() if live else None)
    session = LocalSession(played, settings, watcher)
    ready = await session.start()
    watcher.answer = session.answer
    assert ready.concurrency == (1 if live else concurrency), "a person plays one episode at a time"
    try:
        yield session, watcher
    finally:
        await session.close()


async def asked(watcher: SessionLog, count: int = 1) -> HumanQuestion:
    """The newest question, once so many have been asked."""
    await in_time(lambda: len(watcher.questions) >= count, f"question {count} is asked")
    return watcher.questions[-1]


async def test_a_person_is_asked_and_plays() -> None:
    async with session(game(length=4)) as (live, watcher):
        live.play(plans(1))
        for k, action in enumerate((2, 0, 1, 2), 1):
            question = await asked(watcher, k)
            assert (question.step, question.agent, question.slot, question.legal) == (
                k - 1,
                "agent_0",
                "agent_0",
                None,
            )
            assert question.deadline_s is None and question.attempt == 0 and question.space["n"] == 3
            live.answer(question.id, action)
        await in_time(lambda: watcher.episodes, "it is over")
    assert watcher.column(0, "action") == [2, 0, 1, 2] and not watcher.withdrawn
    assert watcher.column(0, "action_source") == ["human"] * 4


async def test_without_a_deadline_a_person_is_waited_for() -> None:
    async with session(game(length=2)) as (live, watcher):
        live.play(plans(1))
        question = await asked(watcher)
        await asyncio.sleep(0.4)
        assert live.controller.total_steps == 0 and watcher.questions == [question]


async def test_where_nobody_looks_nobody_is_asked() -> None:
    async with session(game(person(on_invalid="random_legal"), length=3), 4, live=False) as (live, watcher):
        live.play(plans(1, 2))
        await in_time(lambda: len(watcher.episodes) == 2, "both are over")
        assert not watcher.questions and watcher.column(0, "action_source") == ["random_legal"] * 3


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (0, "action 0 is not legal now"),
        (7, "action 7 is outside 0..2"),
        (-1, "action -1 is outside 0..2"),
        ("left", "'left' is not an action of a Discrete space"),
        (None, "None is not an action of a Discrete space"),
        (1.5, "1.5 is not an action of a Discrete space"),
        ([1], "[1] is not an action of a Discrete space"),
        (True, "True is not an action of a Discrete space"),
    ],
)
async def test_an_answer_that_cannot_be_played_is_asked_for_again(answer: Any, reason: str) -> None:
    async with session(game(length=1, masked=True)) as (live, watcher):
        live.play(plans(1))
        first = await asked(watcher)
        assert first.legal == (1, 2)
        live.answer(first.id, answer)
        again = await asked(watcher, 2)
        assert again.id != first.id and again.attempt == 1 and reason in again.reason
        live.answer(again.id, 2)
        await in_time(lambda: watcher.episodes, "it is over")
        assert watcher.episodes[0]["status"] == "completed" and watcher.column(0, "action") == [2]
        assert watcher.episodes[0]["invalid_actions"] == {"agent_0": 0}, "a slip is no unusable reply"


@pytest.mark.parametrize("rule", ["noop", "random_legal"])
async def test_after_the_deadline_the_fallback_plays_and_is_recorded(rule: str) -> None:
    played = game(person(deadline_s=0.05, on_invalid=rule), length=3)
    async with session(played) as (live, watcher):
        live.play(plans(1))
        question = await asked(watcher)
        assert question.deadline_s == 0.05
        await in_time(lambda: watcher.episodes, "it is over")
        assert watcher.column(0, "action_source") == [rule] * 3
        assert watcher.withdrawn == [q.id for q in watcher.questions]
        assert watcher.episodes[0]["invalid_actions"] == {"agent_0": 3}


async def test_who_answers_in_time_plays_in_real_time() -> None:
    played = game(person(deadline_s=0.2, on_invalid="noop"), length=4)
    async with session(played) as (live, watcher):
        watcher.reply = lambda q: 2 if q.step % 2 == 0 else None
        live.play(plans(1))
        await in_time(lambda: watcher.episodes, "it is over")
        assert watcher.column(0, "action_source") == ["human", "noop", "human", "noop"]
        assert watcher.column(0, "action")[::2] == [2, 2]


async def test_a_late_answer_is_dropped() -> None:
    played = game(person(deadline_s=0.05, on_invalid="noop"), length=3)
    async with session(played) as (live, watcher):
        live.play(plans(1))
        first = await asked(watcher)
        await in_time(lambda: first.id in watcher.withdrawn, "too late")
        for number in (first.id, 0, -1, 10**6):
            live.answer(number, 2)
        await in_time(lambda: watcher.episodes, "it is over")
        assert watcher.column(0, "action_source") == ["noop"] * 3


async def test_an_answer_counts_once() -> None:
    async with session(game(length=2)) as (live, watcher):
        live.play(plans(1))
        question = await asked(watcher)
        live.answer(question.id, 1)
        live.answer(question.id, 2)
        live.answer((await asked(watcher, 2)).id, 0)
        await in_time(lambda: watcher.episodes, "it is over")
        assert watcher.column(0, "action") == [1, 0]


async def test_while_paused_nobody_is_asked_and_no_time_runs() -> None:
    played = game(person(deadline_s=0.3, on_invalid="noop"), length=2)
    async with session(played) as (live, watcher):
        live.play(plans(1))
        first = await asked(watcher)
        live.pause()
        assert watcher.withdrawn == [first.id]
        await asyncio.sleep(0.5)
        assert live.controller.total_steps == 0 and watcher.questions == [first]
        live.answer(first.id, 2)
        live.resume()
        again = await asked(watcher, 2)
        assert again.step == 0 and again.deadline_s is not None and again.deadline_s <= 0.3
        live.answer(again.id, 1)
        live.answer((await asked(watcher, 3)).id, 1)
        await in_time(lambda: watcher.episodes, "it is over")
        assert watcher.column(0, "action_source") == ["human"] * 2


async def test_a_step_asks_for_the_one_action_that_it_needs() -> None:
    async with session(game(length=3)) as (live, watcher):
        live.pause()
        live.play(plans(1))
        await in_time(lambda: watcher.views, "the reset is shown")
        await asyncio.sleep(0.1)
        assert not watcher.questions
        for k in (1, 2, 3):
            live.step()
            question = await asked(watcher, k)
            live.answer(question.id, 1)
            await in_time(lambda k=k: live.controller.total_steps == k, "the step is taken")
            await asyncio.sleep(0.05)
            assert len(watcher.questions) == k, "nothing is asked before the next step"
        assert watcher.episodes[0]["status"] == "completed"


@pytest.mark.parametrize("how", ["abort", "close"])
async def test_ending_it_takes_questions_back_and_the_worker_goes_on(how: str) -> None:
    async with session(game(**LONG)) as (live, watcher):
        live.play(plans(1))
        first = await asked(watcher)
        begun = time.perf_counter()
        if how == "close":
            await live.close()
            assert time.perf_counter() - begun < 2.0
        else:
            live.abort()
            assert watcher.episodes[0]["status"] == "aborted"
        assert watcher.withdrawn == [first.id]
        live.answer(first.id, 1)
        if how == "abort":
            live.play(plans(2))  # the same index: nothing of the first is left
            second = await asked(watcher, 2)
            live.answer(second.id, 2)
            assert (await asked(watcher, 3)).step == 1


async def test_two_people_at_once_are_both_asked() -> None:
    workers = {"player_0": {"type": "human"}, "player_1": {"type": "human"}}
    async with session(game(workers, "classic/rps_v2", max_cycles=3)) as (live, watcher):
        watcher.reply = lambda q: 0 if q.slot == "player_0" else 1
        live.play(plans(1, 2))
        await in_time(lambda: len(watcher.episodes) == 2, "both episodes are over")
        assert {q.slot for q in watcher.questions} == {"player_0", "player_1"}
        assert {row["action_source"] for row in watcher.rows[1]} == {"human"}
        assert watcher.episodes[0]["returns"] == {"player_0": -3.0, "player_1": 3.0}


async def test_two_people_who_act_together_are_asked_together() -> None:
    played = game(
        {"a": {"type": "human"}, "b": {"type": "human"}},
        arena("Crowd"),
        agents=["a", "b"],
        script=[{}, {}, {"terminated": ["a", "b"]}],
    )
    async with session(played) as (live, watcher):
        live.play(plans(1))
        await asked(watcher, 2)
        # Who is asked first is their two processes' affair.
        first, second = watcher.questions
        assert {first.slot, second.slot} == {"a", "b"}
        live.answer(second.id, 1)
        await asyncio.sleep(0.05)
        assert live.controller.total_steps == 0
        live.answer(first.id, 0)
        await asked(watcher, 4)
        assert live.controller.total_steps == 1


async def test_people_play_one_episode_after_the_other() -> None:
    async with session(game(length=2), concurrency=8) as (live, watcher):
        watcher.reply = lambda q: q.step
        live.play(plans(1, 2, 3))
        await in_time(lambda: len(watcher.episodes) == 3, "all are over")
        assert [q.episode for q in watcher.questions] == [0, 0, 1, 1, 2, 2]
        assert watcher.withdrawn == []


async def test_a_person_and_a_policy_share_a_game() -> None:
    task = "classic/tictactoe_v3"
    workers = {"player_1": {"type": "human"}, "player_2": {"type": "random"}}
    async with session(game(workers, task)) as (live, watcher):
        watcher.reply = lambda q: q.legal[0]
        live.play(plans(3))
        await in_time(lambda: watcher.episodes, "it is over")
        sources = {row["agent_id"]: row["action_source"] for row in watcher.rows[0]}
        assert sources == {"player_1": "human", "player_2": "policy"}
        assert {q.agent for q in watcher.questions} == {"player_1"}


async def test_a_script_may_leave_the_rest_to_the_person() -> None:
    played = game(person(settings={"script": [2, 2], "script_end": "ask"}), length=4)
    async with session(played) as (live, watcher):
        live.play(plans(1))
        for k in (1, 2):
            question = await asked(watcher, k)
            assert question.step == k + 1
            live.answer(question.id, 0)
        await in_time(lambda: watcher.episodes, "it is over")
        assert watcher.column(0, "action") == [2, 2, 0, 0]
