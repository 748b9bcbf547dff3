"""A person who plays a game that hides things from its seats sees what that seat may see."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gym_gui import envs
from gym_gui.controllers.engine.session_interface import LiveSettings, SessionSettings
from gym_gui.controllers.sessions.local_session import LocalSession
from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.core.live import LiveView
from tests.support.session_log import SessionLog
from tests.support.waiting import in_time
from tests.support.watching import plans, resolved

PERSON, OTHER = {"type": "human"}, {"type": "random"}


async def first_look(
    task: str, workers: dict[str, Any], everything: bool = False, answers: int = 0
) -> SessionLog:
    """A session up to a person's first question, after so many answers."""
    watcher = SessionLog()
    settings = SessionSettings(1, live=LiveSettings(everything=everything))
    session = LocalSession(resolved(workers, task=task), settings, watcher)
    await session.start()
    try:
        session.play(plans(1))
        for done in range(answers + 1):
            await in_time(lambda done=done: len(watcher.questions) > done, "a person is asked")
            question = watcher.questions[-1]
            await in_time(lambda agent=question.agent: agent in watcher.last.turn, "the look follows")
            if done < answers:
                session.answer(question.id, 0 if question.legal is None else question.legal[0])
    finally:
        await session.close()
    return watcher


def looked(watcher: SessionLog) -> tuple[LiveView, Any]:
    """The last look before it was over, with its picture."""
    view = [view for view in watcher.views if not view.over][-1]
    return view, dict(watcher.frames).get(view.frame)


def drawn(task: str, agent: str) -> tuple[bytes, bytes]:
    """What a seat may see at the beginning of the first episode, and all there is."""
    environment = envs.make(task, render_mode="rgb_array")
    try:
        seen = environment.adapter.reset(seed=plans(1)[0].seed)
        own, whole = environment.seat_picture(agent, seen[agent]), environment.picture()
        assert own is not None and whole is not None
        return own.tobytes(), whole.tobytes()
    finally:
        environment.close()


async def test_a_person_at_the_card_table_sees_their_own_cards() -> None:
    agent = await opener("leduc_holdem_v4")
    workers = {"player_0": OTHER, "player_1": OTHER, agent: PERSON}
    own, whole = drawn("leduc_holdem_v4", agent)
    view, picture = looked(await first_look("leduc_holdem_v4", workers))
    assert (view.seen_from, view.kept_from) == ((agent,), (agent,))
    assert picture.tobytes() == own != whole
    view, picture = looked(await first_look("leduc_holdem_v4", workers, everything=True))
    assert (view.seen_from, view.kept_from) == ((), (agent,)) and picture.tobytes() == whole


@pytest.mark.parametrize("everything", [False, True])
async def test_who_was_shown_everything_is_on_record(everything: bool) -> None:
    agent = await opener("leduc_holdem_v4")
    workers = {"player_0": OTHER, "player_1": OTHER, agent: PERSON}
    watcher = SessionLog(reply=lambda question: (question.legal or [0])[0])
    await to_its_end("leduc_holdem_v4", workers, watcher, everything=everything)
    assert watcher.episodes[0].get("saw_everything") == ([agent] if everything else None)


async def test_who_sits_down_having_watched_saw_everything() -> None:
    watcher = SessionLog(reply=lambda question: (question.legal or [0])[0])
    players = {"player_0": OTHER, "player_1": OTHER}
    seat = await opener("leduc_holdem_v4")
    await to_its_end("leduc_holdem_v4", players, watcher, sits_down=seat)
    assert watcher.episodes[0]["saw_everything"] == [seat]


async def to_its_end(
    task: str, workers: dict[str, Any], watcher: SessionLog, *, everything: bool = False, sits_down: str = ""
) -> None:
    """An episode that is watched; in mid-game a person takes a seat."""
    settings = SessionSettings(1, live=LiveSettings(everything=everything))
    session = LocalSession(resolved(workers, task=task), settings, watcher)
    watcher.answer = session.answer
    await session.start()
    try:
        if sits_down:
            session.pause()
        session.play(plans(1))
        if sits_down:
            await in_time(lambda: watcher.views, "the beginning is shown")
            await session.rebind(sits_down, WorkerAssignment("human_worker", "human", {}))
            session.resume()
        await in_time(lambda: watcher.episodes, "it is over")
    finally:
        await session.close()


async def opener(task: str) -> str:
    """Who begins."""
    environment = envs.make(task)
    try:
        (agent,) = environment.adapter.reset(seed=plans(1)[0].seed)
        return agent
    finally:
        environment.close()


async def test_two_people_see_the_view_of_who_is_to_move() -> None:
    both = {"player_0": PERSON, "player_1": PERSON}
    watcher = await first_look("leduc_holdem_v4", both, answers=1)
    turns = [(view.turn, view.seen_from) for view in watcher.views if not view.over]
    assert {seats for _, seats in turns} == {("player_0",), ("player_1",)}
    assert all(turn == seats for turn, seats in turns if turn)


async def test_two_who_are_asked_at_once_see_their_views_side_by_side() -> None:
    task = "MosaicMultiGrid-S-2v2-IndAgObs-v1"
    workers = {"green_0": PERSON, "green_1": OTHER, "blue_0": PERSON, "blue_1": OTHER}
    view, picture = looked(await first_look(task, workers))
    assert view.seen_from == ("green_0", "blue_0") and picture.shape[1] > 2 * picture.shape[0]


async def test_what_has_no_picture_is_told_in_words() -> None:
    agent = await opener("open_spiel/kuhn_poker")
    workers = {"player_0": OTHER, "player_1": OTHER, agent: PERSON}
    view, picture = looked(await first_look("open_spiel/kuhn_poker", workers))
    assert view.seen_from == (agent,) and picture is None
    environment = envs.make("open_spiel/kuhn_poker", render_mode="ansi")
    seen = environment.adapter.reset(seed=plans(1)[0].seed)
    assert view.text and view.text != environment.ansi()
    assert view.text.startswith(environment.describer(agent).text(agent, seen[agent]))
    environment.close()


async def test_a_choice_made_at_once_is_not_told_before_ones_own() -> None:
    view, _ = looked(await first_look("rps_v2", {"player_0": OTHER, "player_1": PERSON}))
    (other,) = [each for each in view.agents if each.agent == "player_0"]
    assert view.turn == ("player_1",) and other.action == "" and other.number is None


async def test_who_only_watches_and_who_plays_an_open_game_sees_everything() -> None:
    for task, agent in (("connect_four_v3", "player_0"), ("MiniGrid-Empty-5x5-v0", "agent_0")):
        workers = {"player_0": PERSON, "player_1": OTHER} if agent == "player_0" else {"agent": PERSON}
        view, picture = looked(await first_look(task, workers))
        assert (view.seen_from, view.kept_from) == ((), ())
        environment = envs.make(task, render_mode="rgb_array")
        environment.adapter.reset(seed=plans(1)[0].seed)
        whole = environment.picture()
        environment.close()
        assert whole is not None and np.array_equal(picture, whole)


async def test_a_person_who_manages_a_player_points_in_that_players_own_picture() -> None:
    """Two at once: each picture has its part, and what is pointed at is the first one's."""
    team, task = ("green_0", "green_1"), "MosaicMultiGrid-S-2v2-IndAgObs-v1"
    workers = dict.fromkeys((*team, "blue_0", "blue_1"), OTHER)
    watcher = SessionLog()
    config = resolved(workers, task=task, manager=dict.fromkeys(team, PERSON))
    session = LocalSession(config, SessionSettings(1, live=LiveSettings()), watcher)
    await session.start()
    try:
        session.play(plans(3))
        await in_time(lambda: len(watcher.questions) == 2, "both are asked")
        await in_time(lambda: "green_1/goal" in watcher.last.turn, "the look follows")
    finally:
        await session.close()
    view, picture = looked(watcher)
    assert view.seen_from == ("green_0/goal", "green_1/goal") and picture is not None
    pointing = view.pointing
    assert pointing is not None and {question.agent for question in watcher.questions} == set(view.seen_from)
    assert (pointing.rows, pointing.columns) == (3, 3)
    assert [(move.label, move.target) for move in pointing.moves] == [("defend", (0, 0))]
    left, top, width, height = pointing.part
    assert (left, top, height) == (0.0, 0.0, 1.0) and 0.45 < width < 0.5


@pytest.mark.parametrize("everything", [False, True])
async def test_what_a_search_thinks_is_no_advice_to_who_plays_against_it(everything: bool) -> None:
    search = {"worker_id": "openspiel_worker", "settings": {"algorithm": "mcts", "simulations": 20}}
    watcher = await first_look("tictactoe_v3", {"player_1": search, "player_2": PERSON}, everything)
    (other,) = [agent for agent in watcher.last.agents if agent.agent == "player_1"]
    assert other.action and (other.value is not None) is everything
