"""Games on the clock: time runs while the engine waits for a decision, and the side without time loses."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from msgspec import structs

from gym_gui import envs
from gym_gui.controllers.engine.game_clock import GameClock, ended_on_time
from gym_gui.controllers.engine.session_interface import LiveSettings, SessionSettings
from gym_gui.controllers.sessions.local_session import LocalSession
from gym_gui.core.experiment.execution import Opening, TimeControl
from gym_gui.core.records import parse_episode
from gym_gui.core.validation import ConfigError
from tests.support.session_log import SessionLog
from tests.support.waiting import in_time
from tests.support.watching import plans, resolved

PEOPLE = {"player_0": {"type": "human"}, "player_1": {"type": "human"}}


async def test_a_clock_counts_as_chess_players_do() -> None:
    now, over = [100.0], list[str]()
    clock = GameClock(TimeControl(60, 2), over.append, now=lambda: now[0])

    def think(agent: str, seconds: float) -> bool:
        clock.ask([agent])
        now[0] += seconds
        return clock.answer(agent)

    # The first move of a side is free; later ones cost time, and bring the increment.
    assert think("white", 30) and think("black", 45) and clock.left_s("white") == clock.left_s("black") == 60
    assert think("white", 10) and clock.left_s("white") == 52
    clock.ask(["black"])
    now[0] += 5
    assert clock.runs("black") and clock.left_s("black") == 55 and not clock.runs("white")
    # While the clock is paused no side's time runs.
    assert clock.run(False) and not clock.run(False) and not clock.runs("black")
    now[0] += 500
    assert clock.left_s("black") == 55
    assert clock.run(True) and clock.runs("black")
    now[0] += 54.9
    assert clock.answer("black") and clock.left_s("black") == pytest.approx(2.1)
    assert not think("white", 52) and clock.left_s("white") == 0 and not over
    clock.stop()
    # Where moves were taken back, clocks go on as they stood.
    later = GameClock(TimeControl(60, 2), over.append, {"white": 20.0}, now=lambda: now[0])
    later.ask(["white"])
    now[0] += 1
    assert later.left_s("white") == 19 and later.left_s("black") == 60
    later.stop()


def test_what_cannot_be_a_time_control() -> None:
    assert [TimeControl(*each).words for each in ((60,), (180, 2), (90, 0.5))] == ["1+0", "3+2", "1.5+0.5"]
    for wrong in ((0,), (-1,), (60, -1), (float("nan"),), (float("inf"),)):
        with pytest.raises(ConfigError):
            TimeControl(*wrong)


def test_who_runs_out_of_time_loses_unless_the_other_cannot_mate(monkeypatch: pytest.MonkeyPatch) -> None:
    environment = envs.make(envs.resolve("classic/chess_v6"))
    environment.adapter.reset(seed=1)
    lost = ended_on_time(environment, "player_0")
    assert lost.outcome == {"player_0": "loss", "player_1": "win"} and lost.result == "Black wins on time"
    board = environment.board()
    assert board is not None
    bare = structs.replace(board, fen="8/8/4k3/8/8/3QK3/8/8 b - - 0 60")  # a lone black king
    monkeypatch.setattr(environment.family, "board", lambda _environment: bare)
    assert ended_on_time(environment, "player_1").result == "White wins on time"
    drawn = ended_on_time(environment, "player_0")
    assert set((drawn.outcome or {}).values()) == {"draw"}
    assert drawn.result == "Draw: White ran out of time, and Black cannot mate"
    environment.close()


@asynccontextmanager
async def session() -> AsyncIterator[tuple[LocalSession, SessionLog]]:
    watcher = SessionLog()
    played = resolved(PEOPLE, task="classic/connect_four_v3")
    live = LocalSession(played, SessionSettings(1, live=LiveSettings()), watcher)
    await live.start()
    watcher.answer = live.answer
    try:
        yield live, watcher
    finally:
        await live.close()


async def test_a_game_ends_on_time() -> None:
    (plan,) = plans(1)
    async with session() as (live, watcher):

        async def answer(count: int, column: int) -> None:
            await in_time(lambda: len(watcher.questions) >= count, f"question {count}")
            live.answer(watcher.questions[count - 1].id, column)

        live.play([replace(plan, time_control=TimeControl(600, 1))])
        for count in (1, 2, 3):
            await answer(count, 3)
        await in_time(lambda: len(watcher.questions) == 4, "the fourth is asked")
        await in_time(lambda: watcher.views[-1].agents[1].clock_runs, "its clock runs")
        (red, yellow) = watcher.views[-1].agents
        assert not red.clock_runs and yellow.clock_runs and 590_000 < (yellow.left_ms or 0) <= 600_000
        live.pause()
        await in_time(lambda: not watcher.views[-1].agents[1].clock_runs, "a pause is told")
        live.resume()
        await in_time(lambda: watcher.views[-1].agents[1].clock_runs, "that it goes on is told")
        count = len(watcher.questions)
        live.abort()
        await in_time(lambda: watcher.episodes, "it is over")
        # Where a move is taken back, clocks go on as they stood, and run at once: both sides have moved.
        live.play([replace(plan, index=1, opening=Opening(0, 2), time_control=TimeControl(600, 1))])
        await in_time(lambda: len(watcher.questions) == count + 1, "the third move is asked for again")
        count = len(watcher.questions)
        await in_time(lambda: watcher.views[-1].agents[0].clock_runs, "its clock runs")
        live.abort()
        await in_time(lambda: len(watcher.episodes) == 2, "it is over")
        # The person does not answer in time.
        live.play([replace(plan, index=2, time_control=TimeControl(0.05))])
        for number in (1, 2):
            await answer(count + number, 3)
        await in_time(lambda: len(watcher.episodes) == 3, "its time is over")
        assert watcher.views[-1].over == "completed" and watcher.views[-1].agents[0].left_ms == 0
    first, _, second = (parse_episode(watcher.episodes[i], "here") for i in range(3))
    assert (first.status, first.out_of_time, first.time_control) == ("aborted", None, TimeControl(600, 1))
    assert first.outcome is None and not first.left_out
    assert second.out_of_time == "player_0" and second.left_out and second.truncated
    assert (second.status, second.result) == ("completed", "Yellow wins on time")
    assert second.outcome == {"player_0": "loss", "player_1": "win"}
    assert [row["truncated"] for row in watcher.rows[2]] == [True, True]
    assert [row["clock_s"] for row in watcher.rows[1]] == [600, 600]
    rows = watcher.rows[0]
    # Each move says what was left after it: the first ones are free, the third one gained a second.
    assert [row["clock_s"] for row in rows[:2]] == [600, 600] and 599 < rows[2]["clock_s"] <= 601
    assert [row["word"] for row in rows] == ["column 4"] * 3
