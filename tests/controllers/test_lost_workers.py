"""Episodes that a worker took along are played again, and only one that kills it every time fails."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from typing import Any

import orjson
import pytest

from gym_gui.analysis import compare_runs, open_run
from gym_gui.controllers.engine.episode_queue import EpisodeQueue
from gym_gui.controllers.engine.resolved_operator import resolve_operator
from gym_gui.controllers.runs.script_execution import OperatorScriptExecutionManager, RunResult
from gym_gui.controllers.sessions.local_session import LocalSession
from gym_gui.core.experiment.experiment_data import experiment_from_data
from gym_gui.services.runs.recorder import Recorder
from tests.controllers.engine.test_session_workers import faulty
from tests.support.engine import arena, plans
from tests.support.waiting import in_time

EPISODES = 30
DIES: dict[str, Any] = {"fault": "signal", "signal": "SIGKILL"}


def plan(*, concurrency: int = EPISODES, episodes: int = EPISODES, **settings: Any) -> dict[str, Any]:
    operator = {"id": "op", "task": arena("Corridor"), "workers": {"agent": faulty(**settings)}}
    execution = {"num_episodes": episodes, "seeds": 100, "concurrency": concurrency}
    return {"operators": [operator], "execution": execution}


async def played(out: Path, data: dict[str, Any], resume: Path | None = None) -> RunResult:
    experiment = experiment_from_data(data)
    resolved_operators = [resolve_operator(operator) for operator in experiment.operators]
    return await OperatorScriptExecutionManager(
        experiment, resolved_operators, LocalSession, out, resume=resume
    ).run()


def failed(folder: Path) -> dict[int, str]:
    episodes = list(open_run(folder).operators["op"].episodes())
    assert sorted(e.episode_index for e in episodes) == list(range(len(episodes)))
    return {e.episode_index: e.error or "" for e in episodes if e.status == "failed"}


@pytest.mark.parametrize(
    "fault",
    [DIES, {"fault": "freeze"}],
    ids=["killed", "stopped"],
)
async def test_one_loss_costs_a_retry_and_changes_nothing(
    tmp_path: Path, fault: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gym_gui.workers.connection.PATIENCE_S", 1.5)
    settings = {**fault, "at": 70, "once": str(tmp_path / "once")}
    result = await played(tmp_path / "hit", plan(**settings))
    assert (result.status, result.episodes, result.failed) == ("completed", EPISODES, 0)
    retries = open_run(result.folder).record.retries
    assert retries and {r.lost for r in retries} == {"worker"}
    assert len({r.episode_index for r in retries}) == len(retries), "each is lost once"
    assert all(r.reason.startswith("agent_0: worker test_worker ") for r in retries)
    undisturbed = await played(tmp_path / "calm", plan(**settings))
    assert compare_runs(result.folder, undisturbed.folder) is None


@pytest.mark.parametrize("concurrency", [1, EPISODES])
async def test_one_that_kills_every_time_fails_alone(tmp_path: Path, concurrency: int) -> None:
    result = await played(tmp_path, plan(**DIES, episode=13, times=0, concurrency=concurrency))
    errors = failed(result.folder)
    assert errors.keys() == {13}
    assert errors[13].startswith("agent_0: worker test_worker was killed (signal 9, SIGKILL), ")
    assert len([r for r in open_run(result.folder).record.retries if r.episode_index == 13]) <= 2
    again = await played(tmp_path, plan(), resume=result.folder)
    assert failed(again.folder) == errors, "what failed by itself stays"


async def test_one_that_always_dies_is_given_up_and_its_episodes_are_left_to_play(
    tmp_path: Path,
) -> None:
    result = await played(tmp_path, plan(**DIES, times=0, episodes=8, concurrency=2))
    errors = failed(result.folder)
    assert errors.keys() == set(range(8))
    given_up = {i for i, error in errors.items() if "was not started again" in error}
    assert given_up and given_up != errors.keys()
    again = await played(tmp_path, plan(episodes=8), resume=result.folder)
    assert failed(again.folder).keys() == errors.keys() - given_up


def old_row(index: int, error: str | None) -> dict[str, Any]:
    status = "failed" if error else "completed"
    return {"operator_id": "op", "episode_index": index, "seed": index, "status": status, "error": error}


def test_rows_of_earlier_versions_are_told_by_their_words(tmp_path: Path) -> None:
    """Which of them ``--resume`` plays again."""
    lost = (
        "agent_0: worker sb3_worker was killed (signal 9, SIGKILL)",
        "agent_0: worker sb3_worker was ended: did not respond for 30 s",
        "agent_0: the worker was killed (signal 9, SIGKILL) and was not started again (tried 3 times)",
        "no session could be started: worker sb3_worker ended with exit status 1: OSError",
        "the run folder cannot be written: No space left on device",
    )
    own = (
        None,
        "agent_0: ZeroDivisionError: division by zero",
        "agent_0: worker sb3_worker was killed (signal 9, SIGKILL), 2 times",
        "its session process was killed (signal 11, SIGSEGV), 3 times",
        "the environment raised RuntimeError in step(): the worker was lost",
    )
    recorder = Recorder.create(tmp_path, ["op"], {"experiment": {"operators": [{"id": "op"}]}})
    for index, error in enumerate((*lost, *own)):
        recorder.episode("op", b"", orjson.dumps(old_row(index, error)) + b"\n")
    recorder.close("failed")
    again, done = Recorder.reopen(recorder.folder)
    again.close("failed")
    assert done == {"op": set(range(len(lost), len(lost) + len(own)))}


def test_suspects_play_alone_and_nobody_waits_for_ever() -> None:
    """Of 12 episodes in flight, the third kills whenever it is played, the others never."""
    queue, room, live, finished = EpisodeQueue(), 5, list[Any](), list[int]()
    queue.add(plans(range(12)))
    deaths = 0
    while queue or live:
        while (taken := queue.take(len(live), room)) is not None:
            live.append(taken)
        if any(p.index == 3 for p in live):
            deaths += 1
            lost, live = live, []
            finished += [p.index for p in lost if not queue.lose(p)]
        else:
            finished.append(live.pop(0).index)
    assert sorted(finished) == list(range(12)) and deaths == 3


async def test_a_run_folder_that_is_deleted_ends_the_run_at_once(tmp_path: Path) -> None:
    """Not only when an episode is to be written, or at the end: no worker answers for ten minutes."""
    data = plan(fault="late", seconds=600, at=20, concurrency=4)
    run = asyncio.ensure_future(played(tmp_path, data))
    folder: Path = await in_time(
        lambda: next(tmp_path.glob("*/operators/op/episodes.jsonl"), None), "it begins"
    )
    shutil.rmtree(folder.parents[2])
    result = await asyncio.wait_for(run, 30)
    assert result.status == "stopped" and "was deleted or moved during the run" in result.problem
    assert list(tmp_path.iterdir()) == []
