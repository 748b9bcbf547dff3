"""The folder of watched play: made with the first finished episode, complete when it is closed."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from typing import Any

import orjson
import pytest

from gym_gui.analysis import open_run
from gym_gui.controllers.engine.resolved_operator import resolve_operator
from gym_gui.controllers.engine.session_events import EpisodeFinished, SessionEvent
from gym_gui.controllers.engine.session_interface import LiveSettings, SessionReady, SessionSettings
from gym_gui.controllers.live_play.live_run import LiveRun
from gym_gui.controllers.reexecution.verification import verify
from gym_gui.controllers.sessions.local_session import LocalSession
from gym_gui.core.config import OperatorConfig, WorkerAssignment
from gym_gui.core.enums import EpisodeStatus
from gym_gui.core.experiment.execution import EpisodePlan
from gym_gui.core.record_digest import seal
from gym_gui.core.records import EpisodeRecord
from gym_gui.services.experiment_file import load_experiment

COMPLETED, FAILED, ABORTED = EpisodeStatus.COMPLETED, EpisodeStatus.FAILED, EpisodeStatus.ABORTED


def operator(name: str = "a", **options: Any) -> OperatorConfig:
    player = WorkerAssignment("operators_worker", "baseline", {"behavior": "random"})
    return OperatorConfig(name, "", "", "CartPole-v1", {"agent_0": player}, **options)


def write(
    run: LiveRun,
    index: int,
    status: EpisodeStatus = EpisodeStatus.COMPLETED,
    length: int = 3,
    name: str = "a",
) -> None:
    """An episode of so many steps, with the seed of its index."""
    record = EpisodeRecord(name, index, 40 + index, status, length)
    steps = b"".join(b'{"episode_index":%d}\n' % index for _ in range(length))
    finished = EpisodeFinished(index, status, steps, seal(record.to_row(), steps))
    run.episode(name, EpisodePlan(index, 40 + index, 0), finished)


async def test_nothing_finished_leaves_no_folder(tmp_path: Path):
    run = LiveRun(tmp_path, [operator()], 40)
    write(run, 0, ABORTED)
    write(run, 1, ABORTED, length=0)
    await run.close()
    assert run.folder is None and run.run_id == "" and list(tmp_path.iterdir()) == []


async def test_what_was_cut_off_stands_in_a_run_that_there_is(tmp_path: Path):
    told: list[bool] = []
    run = LiveRun(tmp_path, [operator()], 40, changed=partial(told.append, True))
    write(run, 0, ABORTED)
    write(run, 1)
    await run.close()
    assert run.folder is not None
    lines = (run.folder / "operators" / "a" / "episodes.jsonl").read_bytes().splitlines()
    assert [orjson.loads(line)["status"] for line in lines] == ["aborted", "completed"]
    assert told and run.saved == 2


async def test_it_is_compressed_when_it_has_ended(tmp_path: Path):
    run = LiveRun(tmp_path, [operator()], 40, compress=True)
    write(run, 0)
    await run.close()
    assert run.folder is not None
    names = {path.name for path in (run.folder / "operators" / "a").iterdir()}
    assert names == {"episodes.jsonl.zst", "steps.jsonl.zst"}
    header = orjson.loads((run.folder / "run.json").read_bytes())
    assert header["experiment"]["execution"]["record"]["compress"] is True


async def test_indices_count_on_and_operators_join_before_the_first_episode(tmp_path: Path):
    run = LiveRun(tmp_path, [operator()], 40)
    run.admit(operator("b"))
    assert run.next_index("a") == 0
    write(run, 0)
    write(run, 1)
    write(run, 0, name="b")
    assert (run.next_index("a"), run.next_index("b")) == (2, 1)
    await run.close()
    assert run.folder is not None
    header = orjson.loads((run.folder / "run.json").read_bytes())
    assert header["status"] == "completed" and header["episodes"] == {"a": 2, "b": 1}
    assert header["experiment"]["execution"]["seeds"] == [40, 41]
    assert header["watched"] is True
    assert [o.operator_id for o in load_experiment(run.folder, allow_code=False).operators] == ["a", "b"]


async def test_a_run_of_aborted_episodes_alone_was_stopped(tmp_path: Path):
    """Its calls were paid for, so that there is a folder."""
    run = LiveRun(tmp_path, [operator()], 40)
    run.call("a", orjson.dumps({"kind": "chat", "ref": "a/0/0/0/0", "usd": 0.5}) + b"\n")
    write(run, 0, ABORTED)
    await run.close()
    assert run.folder is not None
    header = orjson.loads((run.folder / "run.json").read_bytes())
    assert header["status"] == "stopped" and header["episodes"] == {"a": 1}


async def test_a_failed_episode_makes_a_failed_run(tmp_path: Path):
    run = LiveRun(tmp_path, [operator()], 40)
    write(run, 0, FAILED)
    await run.close()
    assert run.folder is not None and open_run(run.folder).record.status == "failed"


async def test_a_paid_call_is_written_at_once(tmp_path: Path):
    run = LiveRun(tmp_path, [operator()], 40)
    run.call("a", b'{"cost": 1}\n')
    for _ in range(400):
        if run.folder is not None:
            break
        await asyncio.sleep(0.01)
    assert run.folder is not None
    assert (run.folder / "operators" / "a" / "calls.jsonl").read_bytes() == b'{"cost": 1}\n'
    await run.close()


async def test_a_folder_that_cannot_be_written_is_said_once(tmp_path: Path):
    place = tmp_path / "taken"
    place.write_text("a file")
    run = LiveRun(place, [operator()], 40)
    write(run, 0)
    await run.close()
    assert run.folder is None and "cannot be written" in run.problem
    write(run, 1)  # nothing more is tried
    await run.close()


@pytest.mark.parametrize("seats", ["fixed", "swap"])
async def test_a_watched_run_can_be_verified(tmp_path: Path, seats: str):
    player = WorkerAssignment("operators_worker", "baseline", {"behavior": "random"})
    players = {"player_1": player, "player_2": player}
    config = OperatorConfig("a", "", "", "classic/tictactoe_v3", players, seats=seats)
    run = LiveRun(tmp_path, [config], 7)
    done = asyncio.Event()

    def on_event(event: SessionEvent) -> None:
        if isinstance(event, EpisodeFinished):
            run.episode("a", EpisodePlan(event.index, 7 + event.index, 0), event)
            done.set()

    session = LocalSession(
        resolve_operator(config), SessionSettings(1, live=LiveSettings(render="none")), on_event
    )
    ready: SessionReady = await session.start()
    run.introduce("a", ready)
    for index in range(2):
        done.clear()
        session.play([EpisodePlan(index, 7 + index, 0)])
        await done.wait()
    await session.close()
    await run.close()
    assert run.folder is not None
    opened = open_run(run.folder)
    assert [e.seed for e in opened.operators["a"].episodes()] == [7, 8]
    assert opened.record.extra["players"]["a"]["player_1"]["worker_id"] == "operators_worker"
    assert opened.operators["a"].actions["player_2"][3] == "column 2 row 1"
    verified = await verify(opened)
    assert verified.episodes == 2 and verified.divergences == []
