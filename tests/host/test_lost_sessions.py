"""A run whose session processes hang, or cannot be started again; with a patience that suits a test."""

from __future__ import annotations

import asyncio
import os
import signal
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from gym_gui.analysis import compare_runs, open_run
from gym_gui.controllers.engine.resolved_operator import resolve_operator
from gym_gui.controllers.runs.script_execution import OperatorScriptExecutionManager, RunResult
from gym_gui.core.experiment.experiment_data import experiment_from_data
from gym_gui.host.host_client import HostSession
from tests.support.little_workers import RANDOM, little_worker
from tests.support.processes import Offspring
from tests.support.runs import GATED, Gate, operator, played_here, slot
from tests.support.waiting import in_time


def experiment(*operators: dict[str, Any]) -> dict[str, Any]:
    execution = {"num_episodes": 6, "seeds": 100, "concurrency": 2}
    return {"operators": list(operators), "execution": execution}


def manager(out: Path, *operators: dict[str, Any]) -> OperatorScriptExecutionManager:
    asked = experiment_from_data(experiment(*operators))
    resolved_operators = [resolve_operator(one) for one in asked.operators]
    open_session = partial(HostSession, patience_s=4.0)
    return OperatorScriptExecutionManager(asked, resolved_operators, open_session, out, processes=2)


async def test_a_stopped_session_is_given_up_and_its_episodes_are_played_again(
    tmp_path: Path, offspring: Offspring
):
    gate = Gate(tmp_path / "gate")
    operators = operator("hung", task=GATED, env_kwargs=gate.kwargs(at=102)), operator("other")
    run = asyncio.ensure_future(manager(tmp_path / "runs", *operators).run())
    await in_time(lambda: gate.marks(), "the gate")
    os.kill(gate.marks()[0], signal.SIGSTOP)
    gate.open()
    result: RunResult = await run
    assert (result.status, result.episodes, result.failed) == ("completed", 12, 0)
    assert offspring.pids() == []
    retries = open_run(result.folder).record.retries
    (stopped,) = [r for r in retries if r.episode_index == 2]
    assert stopped.operator_id == "hung" and stopped.reason.startswith("was ended: did not respond for ")
    undisturbed = await played_here(tmp_path / "again", experiment(*operators))
    assert compare_runs(result.folder, undisturbed.folder) is None


async def test_sessions_that_are_killed_while_they_start_are_started_again(
    tmp_path: Path, offspring: Offspring
):
    run = asyncio.ensure_future(manager(tmp_path / "runs", operator("alone")).run())
    for pid in await in_time(lambda: offspring.hosts("alone"), "a session process"):
        os.kill(pid, signal.SIGKILL)
    result = await run
    assert (result.status, result.episodes, result.failed) == ("completed", 6, 0)
    assert offspring.pids() == []


@pytest.mark.full
async def test_a_session_that_cannot_be_started_again_fails_what_is_left(
    tmp_path: Path, offspring: Offspring
):
    """Its worker's file vanishes in mid-run; the other operator finishes."""
    gate = Gate(tmp_path / "gate")
    weights = tmp_path / "weights"
    weights.touch()
    code = RANDOM + (
        "    def load(self, slot):\n"
        "        from pathlib import Path\n"
        f"        Path({str(weights)!r}).read_bytes()\n"
    )
    little_worker(tmp_path / "data/workers", code, "weights_worker")
    from gym_gui.workers.registry import WorkerTypeRegistry

    with WorkerTypeRegistry.isolated():
        player = slot("baseline", worker_id="weights_worker")
        bad = operator("bad", player, task=GATED, env_kwargs=gate.kwargs(at=101))
        run = asyncio.ensure_future(manager(tmp_path / "runs", bad, operator("other")).run())
        await in_time(lambda: gate.marks(), "the gate")
        weights.unlink()
        for pid in offspring.hosts("bad"):
            os.kill(pid, signal.SIGKILL)
        gate.open()
        result = await run
    assert result.status == "failed"
    record = open_run(result.folder)
    assert [str(e.status) for e in record.operators["other"].episodes()] == ["completed"] * 6
    bad_ones = {e.episode_index: e for e in record.operators["bad"].episodes()}
    assert sorted(bad_ones) == list(range(6))
    failed = [e for e in bad_ones.values() if e.status == "failed"]
    assert failed and all("no session could be started: " in (e.error or "") for e in failed)
    assert "FileNotFoundError" in (failed[0].error or "")
    assert offspring.pids() == []
