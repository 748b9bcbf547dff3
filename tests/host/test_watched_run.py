"""The user watches an experiment that is running: pictures come, and the run is the same."""

from __future__ import annotations

import asyncio
from pathlib import Path

from gym_gui.analysis import compare_runs
from gym_gui.controllers.engine.resolved_operator import resolve_operator
from gym_gui.controllers.runs.script_execution import OperatorScriptExecutionManager
from gym_gui.core.experiment.experiment_data import experiment_from_data
from gym_gui.host.host_client import HostSession
from tests.support.processes import Offspring
from tests.support.runs import operator, played_here
from tests.support.session_log import SessionLog
from tests.support.waiting import in_time

EPISODES = 150


async def test_who_looks_sees_what_is_played_and_the_run_is_the_same(
    tmp_path: Path, offspring: Offspring
) -> None:
    operators = operator("one"), operator("other", task="MiniGrid-Empty-5x5-v0", max_steps=40)
    execution = {"num_episodes": EPISODES, "seeds": 100, "concurrency": 8}
    data = {"operators": list(operators), "execution": execution}
    asked = experiment_from_data(data)
    resolved = [resolve_operator(one) for one in asked.operators]
    manager = OperatorScriptExecutionManager(asked, resolved, HostSession, tmp_path / "runs", processes=1)
    first, second = SessionLog(), SessionLog()
    manager.watch("one", first)  # before there is anything to see
    run = asyncio.ensure_future(manager.run())
    await in_time(lambda: len({number for number, _ in first.frames}) > 2, "pictures of the first")
    manager.watch("other", second)
    await asyncio.sleep(0.3)
    seen = len(first.views)
    await in_time(lambda: len(second.frames) > 2, "pictures of the second, when it is its turn")
    manager.watch("", None)
    await asyncio.sleep(0.3)
    unseen = len(second.frames)
    result = await run
    assert (result.status, result.episodes) == ("completed", 2 * EPISODES)
    assert (len(first.views), len(second.frames)) == (seen, unseen), "no viewer looks any more"
    assert first.frames[0][1].shape == (400, 600, 3) and second.frames[0][1].any()
    assert offspring.pids() == []
    unwatched = await played_here(tmp_path / "again", data)
    assert compare_runs(result.folder, unwatched.folder) is None
