"""Films of recorded episodes: what they show is what the environment draws, in the room they are given."""

from __future__ import annotations

import asyncio
import base64
import io
from pathlib import Path

import msgspec
import numpy as np
import pytest
from PIL import Image

from gym_gui.analysis import open_run
from gym_gui.analysis.pages.film import Film
from gym_gui.analysis.pages.film_folder import FilmFolder
from gym_gui.controllers.child_jobs.films import FilmOrder, make_films
from gym_gui.controllers.replays.filming import PatchMaker, film_of
from gym_gui.controllers.replays.replay_session import EpisodeReplay, ReplayOrder
from gym_gui.core.config import OperatorConfig
from gym_gui.services.runs.recorded_episode import RecordedEpisode, load_episode
from tests.support.engine import player, record_run

ROOM = 1_000_000


async def _recorded(tmp_path: Path, task: str, **agents: object) -> RecordedEpisode:
    run = await record_run(tmp_path / "runs", (OperatorConfig("a", "A", "", task, {}), agents))
    return load_episode(open_run(run), "a")


def _shown(film: Film, frame: int) -> np.ndarray:
    """The picture at a frame, put together as the page does it."""
    canvas = np.zeros((film.height, film.width, 3), np.uint8)
    for each in film.frames[: frame + 1]:
        for patch in each.patches:
            with io.BytesIO(base64.b64decode(film.pictures[patch.picture])) as file:
                part = np.asarray(Image.open(file).convert("RGB"))
            canvas[patch.y : patch.y + part.shape[0], patch.x : patch.x + part.shape[1]] = part
    return canvas


async def test_patches_put_together_are_the_pictures(tmp_path: Path) -> None:
    recorded = await _recorded(
        tmp_path, "MiniGrid-Empty-5x5-v0", agent_0=player(lambda s: (2, 1, 2)[s.step_index % 3])
    )
    film = film_of(recorded, "01A", ROOM)
    replay = EpisodeReplay(ReplayOrder.of(recorded))
    replay.open()
    pictures = [frame.picture for frame in replay.frames()]
    replay.close()
    assert len(film.frames) == len(pictures) > 3 and not film.departs
    for i, picture in enumerate(pictures):
        assert picture is not None and (_shown(film, i) == picture).all(), i
    agent, word, _, total, source = msgspec.to_builtins(film.frames[-1].acts[0])
    assert (film.agents[agent], source) == ("agent_0", -1) and film.words[word] in ("forward", "right")
    assert total == pytest.approx(recorded.episode.total_reward, abs=1e-3)


@pytest.mark.full
async def test_a_film_fits_into_the_room_it_is_given(tmp_path: Path) -> None:
    recorded = await _recorded(tmp_path, "CartPole-v1", agent_0=player(lambda s: s.step_index % 2))
    whole, small = film_of(recorded, "01A", ROOM), film_of(recorded, "01A", 6_000)
    assert len(msgspec.json.encode(small)) <= 6_000 < len(msgspec.json.encode(whole))
    assert small.every > whole.every == 1 and small.width <= whole.width
    last = [film.frames[-1] for film in (whole, small)]
    assert last[0].step == last[1].step == recorded.episode.length
    nothing = film_of(recorded, "01A", 100)
    assert "too large" in nothing.missing and not nothing.frames


async def test_a_board_is_handed_on_as_it_stands(tmp_path: Path) -> None:
    pytest.importorskip("pettingzoo")
    moves = player(lambda s: s.step_index)
    recorded = await _recorded(tmp_path, "classic/tictactoe_v3", player_1=moves, player_2=moves)
    film = film_of(recorded, "01A", ROOM)
    assert film.board == ("tic_tac_toe", 3, 3) and not film.pictures
    boards = [film.words[frame.board].split(",") for frame in film.frames]
    assert boards[0] == [""] * 9 and boards[1].count("X") == 1 and boards[2].count("O") == 1


@pytest.mark.full
async def test_films_that_were_made_stay_when_the_others_are_cancelled(tmp_path: Path) -> None:
    players = {"agent_0": player(lambda s: s.step_index % 2)}
    operators = [(OperatorConfig(name, name, "", "CartPole-v1", {}), players) for name in "abcd"]
    run = open_run(await record_run(tmp_path / "runs", *operators, seeds=(1,)))
    films, order = FilmFolder(tmp_path / "films"), FilmOrder.every([run])
    assert len(order) == 4

    def stop(done: int, _total: int) -> None:
        if done:
            making.cancel()

    making = asyncio.create_task(make_films([run], order, films, stop))
    with pytest.raises(asyncio.CancelledError):
        await making
    assert asyncio.all_tasks() == {asyncio.current_task()}, "whatever was started has been waited for"
    assert 1 <= len(films) < 4
    assert all(films[key].frames and key in set(order) for key in films)


def test_what_is_seen_again_is_stored_once() -> None:
    maker = PatchMaker()
    black, dot = np.zeros((64, 64, 3), np.uint8), np.zeros((64, 64, 3), np.uint8)
    dot[10:14, 20:30] = 255
    first, second, third, fourth = (maker.add(p) for p in (black, dot, black, dot))
    assert first[0].whole and [(p.x, p.y, p.whole) for p in second] == [(20, 10, False)]
    assert second == fourth and third != second and len(maker.pictures) == 3
    assert maker.add(dot) == ()
