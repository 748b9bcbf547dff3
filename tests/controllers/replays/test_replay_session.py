"""A recorded episode is played again, look by look, and kept for going back."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest
from msgspec import structs

from gym_gui.analysis import open_run
from gym_gui.controllers.replays.replay_reel import ReplayStore, StoredState
from gym_gui.controllers.replays.replay_session import EpisodeReplay, ReplayFrame, ReplayOrder
from gym_gui.controllers.replays.replay_track import ReplayTrack
from gym_gui.core.config import OperatorConfig
from gym_gui.core.drawing.packed_picture import pack, unpack
from gym_gui.core.errors import RunFormatError, UsageError
from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.core.records import parse_episode
from gym_gui.services.runs.recorded_episode import RecordedEpisode, find_episodes, load_episode
from tests.support.engine import arena, player, record_run

Policy = Callable[[Any], Any]


def operator(task: str, **config: Any) -> OperatorConfig:
    return OperatorConfig("op", "Op", "", task, {}, **config)


def legal(s: Any) -> int:
    choices = s.legal_actions
    return choices[(s.seed + s.step_index) % len(choices)]


RUNS: dict[str, tuple[OperatorConfig, dict[str, object]]] = {
    "cartpole": (operator("CartPole-v1"), {"agent_0": lambda seen: int(seen[2] > 0)}),
    "turns": (operator("connect_four_v3"), {f"player_{i}": player(legal) for i in (0, 1)}),
    "swapped": (
        operator("rps_v2", api="parallel", seats="swap"),
        {f"player_{i}": player(lambda s, i=i: (s.step_index + i) % 3) for i in (0, 1)},
    ),
    "manager": (
        operator("MiniGrid-Empty-5x5-v0", manager={"agent_0": WorkerAssignment(worker_type="random")}),
        {"agent_0": player(lambda s: s.step_index % 3), "agent_0/goal": player(lambda s: s.step_index % 2)},
    ),
}


async def recorded(tmp_path: Path, name: str, index: int = 1, **execution: Any) -> RecordedEpisode:
    folder = await record_run(tmp_path, RUNS[name], seeds=(3, 4, 5), **execution)
    return load_episode(open_run(folder), "op", index)


def played(order: ReplayOrder, *, render: bool = False) -> tuple[EpisodeReplay, list[ReplayFrame]]:
    replay = EpisodeReplay(order, render=render)
    replay.open()
    try:
        return replay, list(replay.frames())
    finally:
        replay.close()


@pytest.mark.parametrize("name", RUNS)
async def test_it_comes_out_as_recorded(name: str, tmp_path: Path) -> None:
    episode = await recorded(tmp_path, name)
    replay, frames = played(ReplayOrder.of(episode))
    assert replay.departs == ""
    assert [f.position for f in frames] == list(range(len(frames)))
    assert (frames[0].step, frames[0].rows) == (0, 0)
    assert frames[-1].step == episode.episode.length
    assert frames[-1].rows == len(episode.steps())
    assert ReplayTrack(episode).rounds == len(frames) - 1


async def test_an_order_has_the_seats_of_its_episode(tmp_path: Path) -> None:
    order = ReplayOrder.of(await recorded(tmp_path, "swapped"))
    assert order.seats == {"player_0": "player_1", "player_1": "player_0"}


async def test_pictures_and_words(tmp_path: Path) -> None:
    replay, frames = played(ReplayOrder.of(await recorded(tmp_path, "cartpole")), render=True)
    assert replay.meanings == {"agent_0": ("left", "right")}
    pictures = [f.picture for f in frames]
    assert all(p is not None and p.ndim == 3 and p.dtype == np.uint8 for p in pictures)
    assert not np.array_equal(pictures[0], pictures[-1])  # type: ignore[arg-type]


async def test_boards(tmp_path: Path) -> None:
    _, frames = played(ReplayOrder.of(await recorded(tmp_path, "turns")), render=True)
    stones = [sum(cell != "" for cell in f.board.cells) for f in frames if f.board is not None]
    assert stones == list(range(len(frames)))


async def test_where_it_departs_is_named(tmp_path: Path) -> None:
    order = ReplayOrder.of(await recorded(tmp_path, "cartpole"))
    rows = [orjson.loads(line) for line in order.lines.splitlines()]
    rows[4]["action"] = 1 - rows[4]["action"]
    changed = b"".join(orjson.dumps(row) + b"\n" for row in rows)
    replay, frames = played(ReplayOrder(order.operator, 1, order.seed, order.seats, None, changed))
    assert "step 4" in replay.departs and len(frames) > 5


async def test_a_record_that_goes_on_after_the_end(tmp_path: Path) -> None:
    order = ReplayOrder.of(await recorded(tmp_path, "cartpole"))
    row = orjson.loads(order.lines.splitlines()[-1])
    more = order.lines + orjson.dumps({**row, "step_index": row["step_index"] + 1}) + b"\n"
    replay, _ = played(ReplayOrder(order.operator, 1, order.seed, order.seats, None, more))
    assert "ends before step" in replay.departs


async def test_limits_of_the_run_hold(tmp_path: Path) -> None:
    episode = await recorded(tmp_path, "cartpole", max_steps=7)
    assert episode.max_steps == 7
    replay, frames = played(ReplayOrder.of(episode))
    assert replay.departs == "" and frames[-1].step == 7


async def test_unseeded_episodes_and_missing_environments_are_refused(tmp_path: Path) -> None:
    episode = await recorded(tmp_path, "cartpole")
    unseeded = replace(episode, episode=structs.replace(episode.episode, seed=None))
    with pytest.raises(RunFormatError, match="no seed"):
        ReplayOrder.of(unseeded)
    gone = replace(episode, config={**episode.config, "task": "Nowhere-v1"})
    with pytest.raises(UsageError, match="Nowhere-v1"):
        EpisodeReplay(ReplayOrder.of(gone)).open()


# ------------------------------------------------------------------ finding an episode


async def test_episodes_are_found_and_what_is_not_there_is_said(tmp_path: Path) -> None:
    run = open_run(await record_run(tmp_path, RUNS["cartpole"], seeds=(3, 4, 5)))
    assert [e.episode_index for e in find_episodes(run, "op")] == [0, 1, 2]
    for index in range(3):
        steps = load_episode(run, "", index).steps()
        assert {s.episode_index for s in steps} == {index}
        assert [s.step_index for s in steps] == list(range(len(steps)))
    with pytest.raises(UsageError, match="Episodes 0 to 2"):
        load_episode(run, "", 9)
    with pytest.raises(UsageError, match="no operator 'x'"):
        load_episode(run, "x")


async def test_rows_in_another_spelling_are_found(tmp_path: Path) -> None:
    run = open_run(await record_run(tmp_path, RUNS["cartpole"], seeds=(3, 4)))
    wanted = load_episode(run, "op", 1).steps()
    file = run.operators["op"].path / "steps.jsonl"
    rows = [orjson.loads(line) for line in file.read_bytes().splitlines()]
    spaced = [dict(sorted(row.items(), reverse=True)) for row in rows]
    file.write_text("".join(f"{__import__('json').dumps(row)}\n" for row in spaced), encoding="utf-8")
    assert load_episode(run, "op", 1).steps() == wanted


async def test_an_episode_behind_many_megabytes_is_found_at_once(tmp_path: Path) -> None:
    run = open_run(await record_run(tmp_path, RUNS["cartpole"], seeds=(3, 4)))
    file = run.operators["op"].path / "steps.jsonl"
    first, second = (load_episode(run, "op", index).lines for index in (0, 1))
    padding = first.replace(b'{"episode_index":0,', b'{"episode_index":11,')
    with file.open("wb") as out:
        out.write(first)
        for _ in range(60_000_000 // len(padding)):
            out.write(padding)
        out.write(second)
    start = time.process_time()
    assert load_episode(run, "op", 1).lines == second
    assert time.process_time() - start < 1.0


# ------------------------------------------------------------------ keeping looks


def test_pictures_come_back_as_they_were() -> None:
    rng = np.random.default_rng(1)
    picture = rng.integers(0, 256, (7, 5, 3), np.uint8)
    assert np.array_equal(unpack(pack(picture)), picture)


def reel_of(shades: list[int | None], room: int = 1 << 30) -> ReplayStore:
    reel = ReplayStore(room=room)
    for i, shade in enumerate(shades):
        noise = (
            np.random.default_rng(shade).integers(0, 256, (8, 8, 3), np.uint8) if shade is not None else None
        )
        reel.add(StoredState(i, i, i), pack(noise) if noise is not None else None)
    return reel


def test_any_position_can_be_gone_back_to() -> None:
    reel = reel_of([0, 1, 1, 2, None])
    pictures = [reel.picture(i) for i in range(5)]
    assert np.array_equal(pictures[1], pictures[2]) and not np.array_equal(pictures[0], pictures[1])  # type: ignore[arg-type]
    assert [reel.shown(i) for i in range(5)] == [0, 1, 2, 3, 3]
    reel.close()


def test_too_many_pictures_are_thinned_out_and_the_nearest_is_shown() -> None:
    all_of_them, thin = reel_of(list(range(40))), reel_of(list(range(40)), room=2500)
    assert len(thin) == 40
    shown = [thin.shown(i) for i in range(40)]
    assert shown[0] == 0 and 2 < len(set(shown)) < 20
    for i in range(40):
        at = shown[i]
        assert at is not None and at <= i
        assert np.array_equal(thin.picture(i), all_of_them.picture(at))  # type: ignore[arg-type]
    thin.close()
    all_of_them.close()


def test_nothing_to_see() -> None:
    reel = reel_of([None, None])
    assert reel.picture(1) is None and reel.shown(1) is None
    reel.close()


# ------------------------------------------------------------------ what agents had done


async def test_what_each_agent_had_done(tmp_path: Path) -> None:
    episode = await recorded(tmp_path, "turns")
    track = ReplayTrack(episode)
    _, frames = played(ReplayOrder.of(episode))
    looks = [StoredState.of(frame) for frame in frames]
    start = track.view(looks[0], {})
    assert all(agent.action == "" for agent in start.agents) and start.turn == ("player_0",)
    one = track.view(looks[1], {"player_0": ["c0", "c1", "c2", "c3", "c4", "c5", "c6"]})
    first = episode.steps()[0]
    assert one.agents[0].action == first.word == f"column {first.action + 1}" and one.agents[1].action == ""
    assert [move.word for move in one.moves] == [first.word]
    assert one.turn == ("player_1",)
    end = track.view(looks[-1], {}, last=True)
    assert {a.agent: a.total for a in end.agents} == dict(episode.episode.returns)
    assert end.over == "completed" and end.outcome == {t: str(o) for t, o in episode.episode.outcome.items()}  # type: ignore[union-attr]


async def test_steps_of_who_took_over_are_told_as_theirs(tmp_path: Path) -> None:
    episode = await recorded(tmp_path, "turns")
    line = json.loads(
        (episode.run / "operators" / "op" / "episodes.jsonl").read_text("utf-8").splitlines()[1]
    )
    person = {"worker_id": "human_worker", "worker_type": "human", "policy": "keyboard"}
    line["rebound"] = [{"step_index": 2, "agent_id": "player_0", **person}]
    track = ReplayTrack(replace(episode, episode=parse_episode(line, "here")))
    _, frames = played(ReplayOrder.of(episode))
    views = [track.view(StoredState.of(frame), {}) for frame in frames[:4]]
    assert [tuple(agent.by for agent in view.agents) for view in views] == [
        ("", ""),
        ("", ""),
        ("", ""),
        ("keyboard", ""),
    ]


async def test_actions_without_words(tmp_path: Path) -> None:
    run = await record_run(
        tmp_path,
        (
            operator(arena("Corridor"), env_kwargs={"box": True}),
            {"agent_0": player(lambda s: np.array([0.1, -0.7]))},
        ),
        seeds=(1,),
    )
    track = ReplayTrack(load_episode(open_run(run), "op", 0))
    assert track.words(track.steps[0], {}) == "[0.1, -0.7]"
