"""What is shown of a session while it plays, and that looking changes nothing."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from gym_gui.controllers.engine.resolved_operator import ResolvedOperator
from gym_gui.controllers.engine.session_interface import LiveSettings, SessionSettings
from gym_gui.controllers.sessions.local_session import LocalSession
from gym_gui.core.errors import UsageError
from gym_gui.core.types import StepSnapshot
from tests.support.engine import arena, player
from tests.support.session_log import SessionLog
from tests.support.waiting import in_time
from tests.support.watching import plans, resolved

CORRIDOR = arena("Corridor")
LIVE = LiveSettings()


def drawer(choose: Callable[[StepSnapshot], Any] | None = None) -> Any:
    """A policy that plays legally, and the same for the same seed and step."""

    def legal(snapshot: StepSnapshot) -> Any:
        number = (snapshot.seed or 0) + 7 * snapshot.step_index
        actions = snapshot.legal_actions
        return number % 2 if actions is None else actions[number % len(actions)]

    return player(choose or legal)


class Painted(gym.Env[Any, Any]):
    """Counts how often it was drawn; each picture shows the number of steps taken."""

    metadata = {"render_modes": ["rgb_array", "ansi"]}  # noqa: RUF012
    observation_space = gym.spaces.Box(-1, 1, (1,), np.float32)
    action_space = gym.spaces.Discrete(2)
    drawn = 0
    modes: list[str | None] = []  # noqa: RUF012

    def __init__(
        self, length: int = 10, render_mode: str | None = None, broken: str = "", cost_s: float = 0.0
    ) -> None:
        if broken == "mode" and render_mode is not None:
            raise RuntimeError("there is no screen")
        self.render_mode, self._length, self._broken, self._cost = render_mode, length, broken, cost_s
        type(self).modes.append(render_mode)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self._now = 0
        return np.zeros(1, np.float32), {}

    def step(self, action: Any) -> Any:
        self._now += 1
        return np.zeros(1, np.float32), 1.0, self._now >= self._length, False, {}

    def render(self) -> Any:
        type(self).drawn += 1
        if self._broken == "draw":
            raise RuntimeError("the paint is dry")
        time.sleep(self._cost)
        if self.render_mode == "ansi":
            return f"step {self._now}"
        return np.full((8, 8, 3), self._now % 256, np.uint8)


class Typed(Painted):
    """Draws letters only."""

    metadata = {"render_modes": ["ansi"]}  # noqa: RUF012


PAINTED = f"{__name__}:Painted"


@pytest.fixture(autouse=True)
def _clean() -> None:
    Painted.drawn = 0
    Painted.modes.clear()


@asynccontextmanager
async def session(
    played: ResolvedOperator, live: LiveSettings | None = LIVE, concurrency: int = 1
) -> AsyncIterator[tuple[LocalSession, SessionLog]]:
    watcher = SessionLog()
    session = LocalSession(played, SessionSettings(concurrency, live=live), watcher)
    await session.start()
    watcher.answer = session.answer
    try:
        yield session, watcher
    finally:
        await session.close()


def corridor(length: int = 10, **more: Any) -> ResolvedOperator:
    return resolved(objects={"agent_0": drawer()}, task=CORRIDOR, env_kwargs={"length": length}, **more)


def painted(**kwargs: Any) -> ResolvedOperator:
    return resolved(objects={"agent_0": drawer()}, task=PAINTED, env_kwargs=kwargs)


# -- looking changes nothing ------------------------------------------------------------------


@pytest.mark.parametrize(
    "task",
    [
        "CartPole-v1",
        "MiniGrid-DoorKey-5x5-v0",
        "classic/connect_four_v3",
        "FrozenLake-v1",
        "MosaicMultiGrid-Soccer-2vs2-IndAgObs-v0",
    ],
)
async def test_an_episode_that_is_watched_is_the_same(task: str) -> None:
    played = resolved(objects=dict.fromkeys(_agents(task), drawer()), task=task)
    hashes: list[dict[int, str]] = []
    for live in (None, LiveSettings(), LiveSettings(1000), LiveSettings(render="none")):
        watcher = SessionLog()
        session = LocalSession(played, SessionSettings(2, max_steps=60, live=live), watcher)
        await session.start()
        session.play(plans(1, 2, 3))
        await in_time(lambda watcher=watcher: len(watcher.episodes) == 3, "all are played")
        await session.close()
        hashes.append({i: e["trajectory_sha256"] for i, e in watcher.episodes.items()})
        assert bool(watcher.views) == (live is not None)
        assert bool(watcher.frames) == (live is not None and live.render == "rgb_array")
    assert all(h == hashes[0] for h in hashes)


def _agents(task: str) -> list[str]:
    from gym_gui import envs

    environment = envs.make(task)
    try:
        return list(environment.adapter.possible_agents)
    finally:
        environment.close()


async def test_nobody_who_does_not_look_pays_for_it() -> None:
    async with session(painted(), None) as (live, watcher):
        live.play(plans(1, 2))
        await in_time(lambda: len(watcher.episodes) == 2, "both are played")
    assert set(Painted.modes) == {None} and Painted.drawn == 0
    assert not watcher.views and not watcher.frames


# -- when it is looked at ---------------------------------------------------------------------


async def test_every_step_is_shown_while_it_is_stepped() -> None:
    async with session(painted(length=4)) as (live, watcher):
        live.pause()
        live.play(plans(1))
        await in_time(lambda: watcher.views, "the reset is shown")
        for k in range(1, 5):
            live.step()
            await in_time(lambda k=k: len(watcher.views) == k + 1, "the step is shown")
        assert [view.step for view in watcher.views] == [0, 1, 2, 3, 4]
        assert [int(frame[0, 0, 0]) for _, frame in watcher.frames] == [0, 1, 2, 3, 4]
        assert [view.frame for view in watcher.views] == [number for number, _ in watcher.frames]
        assert [view.over for view in watcher.views] == [""] * 4 + ["completed"]


async def test_every_step_is_shown_at_a_pace_that_can_be_followed() -> None:
    async with session(painted(length=12), LiveSettings(fps=100)) as (live, watcher):
        live.pace(50)
        live.play(plans(1))
        await in_time(lambda: watcher.episodes, "it is played")
        assert [view.step for view in watcher.views] == list(range(13))


async def test_running_freely_it_is_looked_at_so_often_and_no_more() -> None:
    async with session(painted(length=10**6), LiveSettings(fps=50)) as (live, watcher):
        live.play(plans(1))
        await in_time(lambda: watcher.views, "it is shown")
        begun, before = time.perf_counter(), len(watcher.views)
        await asyncio.sleep(0.5)
        shown, passed = len(watcher.views) - before, time.perf_counter() - begun
        assert shown <= passed * 50 + 2 and shown >= 3
        assert live.controller.total_steps > 20 * shown, "it runs faster than it is shown"
        assert len(watcher.frames) == len(watcher.views)


async def test_many_short_episodes_are_not_drawn_more_often() -> None:
    async with session(painted(length=1), LiveSettings(fps=20), 4) as (live, watcher):
        live.play(plans(*range(400)))
        begun = time.perf_counter()
        await in_time(lambda: len(watcher.episodes) == 400, "all are played")
        assert len(watcher.frames) <= (time.perf_counter() - begun + 0.1) * 2 * 20 + 2


async def test_drawing_takes_half_of_the_time_at_most() -> None:
    async with session(painted(length=10**6, cost_s=0.05), LiveSettings(fps=1000)) as (live, watcher):
        live.play(plans(1))
        await in_time(lambda: watcher.views, "it is shown")
        begun, before = time.perf_counter(), Painted.drawn
        await asyncio.sleep(0.6)
        drawn = Painted.drawn - before
        assert 1 <= drawn <= (time.perf_counter() - begun) / 0.1 + 1


async def test_what_stands_still_is_shown_as_it_stands() -> None:
    """The last step before a long thought must not be missed because it came too soon."""
    async with session(painted(length=10**6), LiveSettings(fps=10)) as (live, watcher):
        live.play(plans(1))
        await in_time(lambda: live.controller.total_steps > 100, "it plays")
        live.pause()
        stood = live.controller.total_steps
        await in_time(lambda: watcher.last.step >= stood, "it is shown where it stands")
        assert watcher.last.step == live.controller.total_steps


async def test_the_lowest_episode_is_shown_and_its_end_is_told() -> None:
    async with session(corridor(50), LiveSettings(fps=1000), 4) as (live, watcher):
        live.play(plans(*range(8)))
        await in_time(lambda: len(watcher.episodes) == 8, "all are played")
        shown = [view.episode for view in watcher.views]
        assert shown == sorted(shown) and shown[0] == 0
        for index in set(shown):
            ends = [view for view in watcher.of(index) if view.over]
            assert len(ends) == 1 and watcher.of(index)[-1] is ends[0]
            assert ends[0].step == watcher.episodes[index]["length"]


async def test_the_end_is_told_however_fast_it_came() -> None:
    async with session(corridor(3), LiveSettings(fps=0.5)) as (live, watcher):
        live.play(plans(*range(5)))
        await in_time(lambda: len(watcher.episodes) == 5, "all are played")
        assert [view.episode for view in watcher.views if view.over] == list(range(5))


# -- what it is shown -------------------------------------------------------------------------


async def test_the_facts_are_those_of_the_record() -> None:
    async with session(corridor(6)) as (live, watcher):
        live.pause()
        live.play(plans(40))
        await in_time(lambda: watcher.views, "the reset is shown")
        (before,) = watcher.last.agents
        assert (before.action, before.number, before.source, before.total) == ("", None, "", 0.0)
        assert watcher.last.turn == ("agent_0",) and watcher.last.seed == 40
        for k in range(6):
            live.step()
            await in_time(lambda k=k: len(watcher.views) == k + 2, "a step")
    (view,), rows = [v for v in watcher.views if v.over], watcher.rows[0]
    for shown, row in zip(watcher.views[1:], rows, strict=True):
        (agent,) = shown.agents
        assert (agent.number, agent.source, agent.reward) == (
            row["action"],
            row["action_source"],
            row["reward"],
        )
    assert view.agents[0].total == watcher.episodes[0]["total_reward"] and view.turn == ()
    assert all(0 < v.sent_ns <= time.monotonic_ns() for v in watcher.views)


async def test_a_board_game_shows_its_board_and_who_won() -> None:
    def first(snapshot: StepSnapshot) -> int:
        return 0 if snapshot.agent_id == "player_0" else 6

    task = "classic/connect_four_v3"
    played = resolved(objects={"player_0": drawer(first), "player_1": drawer(first)}, task=task)
    async with session(played) as (live, watcher):
        live.pause()
        live.play(plans(1))
        await in_time(lambda: watcher.views, "the reset is shown")
        board = watcher.last.board
        assert board is not None and board.kind == "connect_four" and len(board.moves) == 7
        for _ in range(7):
            before = len(watcher.views)
            live.step_agent()
            await in_time(lambda before=before: len(watcher.views) > before, "a move")
        board = watcher.last.board
        assert board is not None and board.cells.count("X") == 4 and board.cells.count("O") == 3
        assert watcher.last.over == "completed"
        assert watcher.last.outcome == {"player_0": "win", "player_1": "loss"}


async def test_words_of_actions_are_the_environments() -> None:
    played = resolved(objects={"agent_0": drawer()}, task="MiniGrid-Empty-5x5-v0")
    async with session(played) as (live, watcher):
        live.play(plans(1))
        live.pace(100)
        await in_time(lambda: any(v.step for v in watcher.views), "a step is shown")
        (agent,) = next(v for v in watcher.views if v.step).agents
        assert agent.number in (0, 1) and agent.action in ("left", "right")


async def test_actions_without_words_are_written_out_short() -> None:
    played = resolved(
        objects={"agent_0": drawer(lambda _: np.array([0.123456, -1], np.float32))},
        task=CORRIDOR,
        env_kwargs={"box": True},
    )
    async with session(played) as (live, watcher):
        live.play(plans(1))
        await in_time(lambda: watcher.episodes, "it is played")
        (agent,) = watcher.last.agents
        assert agent.action == "[0.123, -1.0]" and agent.number is None


@pytest.mark.parametrize(("render", "text", "pictures"), [("ansi", "step 0", 0), ("none", "", 0)])
async def test_text_and_nothing_can_be_had_instead_of_pictures(render: Any, text: str, pictures: int) -> None:
    async with session(painted(), LiveSettings(render=render)) as (live, watcher):
        live.pause()
        live.play(plans(1))
        await in_time(lambda: watcher.views, "it is shown")
        assert (watcher.last.text, len(watcher.frames), watcher.last.frame) == (text, pictures, 0)
    assert Painted.modes[-1] == (None if render == "none" else render)


async def test_an_environment_that_draws_only_text_shows_it() -> None:
    played = resolved(objects={"agent_0": drawer()}, task=f"{__name__}:Typed")
    async with session(played) as (live, watcher):
        live.pause()
        live.play(plans(1))
        await in_time(lambda: watcher.views, "it is shown")
        assert watcher.last.text == "step 0" and not watcher.frames


# -- what goes wrong --------------------------------------------------------------------------


async def test_an_environment_that_cannot_draw_itself_plays_on(caplog: pytest.LogCaptureFixture) -> None:
    async with session(painted(broken="draw"), LiveSettings(fps=1000)) as (live, watcher):
        live.play(plans(1, 2, 3))
        await in_time(lambda: len(watcher.episodes) == 3, "all are played")
        assert {e["status"] for e in watcher.episodes.values()} == {"completed"}
        assert watcher.views and not watcher.frames
        assert all(view.frame == 0 for view in watcher.views)
    assert caplog.text.count("the paint is dry") == 1


async def test_an_environment_that_cannot_be_made_with_pictures_is_played_without() -> None:
    async with session(painted(broken="mode")) as (live, watcher):
        live.play(plans(1))
        await in_time(lambda: watcher.episodes, "it is played")
        assert watcher.episodes[0]["status"] == "completed" and watcher.views and not watcher.frames
        assert [text for text in watcher.logs if "there is no screen" in text]


async def test_a_failed_episode_says_why() -> None:
    played = resolved(objects={"agent_0": drawer()}, task=CORRIDOR, env_kwargs={"fault": "step", "at": 2})
    async with session(played) as (live, watcher):
        live.play(plans(1))
        await in_time(lambda: watcher.episodes, "it failed")
        assert watcher.last.over == "failed" and "the floor gave way" in watcher.last.error
        live.play(plans(1, first=5))
        await in_time(lambda: 5 in watcher.episodes, "the session plays on")


async def test_what_is_aborted_is_told_and_recorded() -> None:
    async with session(corridor(10**6)) as (live, watcher):
        live.play(plans(1, 2, 3))
        await in_time(lambda: watcher.views, "it is shown")
        live.abort()
        assert watcher.last.over == watcher.episodes[0]["status"] == "aborted"
        assert list(watcher.episodes) == [0] and live.controller.waiting == 0
        live.play(plans(9, first=7))
        await in_time(lambda: watcher.last.episode == 7, "it plays again")
        assert watcher.last.seed == 9


async def test_how_it_begins_is_shown_while_players_get_ready() -> None:
    watcher = SessionLog()
    (plan,) = plans(7, first=4)
    session = LocalSession(painted(), SessionSettings(1, live=LiveSettings(first=plan)), watcher)
    starting = asyncio.create_task(session.start())
    await in_time(lambda: watcher.views, "it is shown")
    assert not starting.done(), "before any slot is ready"
    (view,), ((number, frame),) = watcher.views, watcher.frames
    assert (view.episode, view.seed, view.step, view.frame) == (4, 7, 0, number) and not frame.any()
    await starting
    assert not watcher.episodes and session.controller.live == 0
    session.play([plan])
    await in_time(lambda: 4 in watcher.episodes, "it is played as any other")
    await session.close()


async def test_a_beginning_that_fails_is_no_reason_not_to_start() -> None:
    played = resolved(objects={"agent_0": drawer()}, task=CORRIDOR, env_kwargs={"fault": "reset"})
    async with session(played, LiveSettings(first=plans(1)[0])) as (live, watcher):
        assert not watcher.views
        live.play(plans(1))
        await in_time(lambda: watcher.episodes, "it failed when it was played")
        assert watcher.episodes[0]["status"] == "failed"


@pytest.mark.parametrize(
    "settings", [{"fps": 0}, {"fps": -1}, {"fps": float("nan")}, {"fps": 1e9}, {"render": "human"}]
)
def test_settings_that_make_no_sense_are_refused(settings: Any) -> None:
    with pytest.raises(UsageError, match="Choose"):
        LiveSettings(**settings)
