"""A run that is cut off, however hard, leaves no process, a folder that reads, and can be continued."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any

import orjson
import pytest

from gym_gui.analysis import Run, compare_runs, open_run
from gym_gui.core.enums import EpisodeStatus
from gym_gui.workers.registry import WorkerTypeRegistry
from tests.support.little_workers import PATIENT, little_worker
from tests.support.processes import Offspring
from tests.support.runs import Gate, MosaicRun, Recorded, operator, played_here, slot
from tests.support.waiting import LONG_S, eventually

AT = 4
EPISODES = 9
PATIENT_ONE = operator("patient", slot("baseline", worker_id="patient_worker", settings={"at": AT}))
EXECUTION: dict[str, Any] = {"num_episodes": EPISODES, "seeds": 50, "concurrency": 2}
PLAN: dict[str, Any] = {"operators": [PATIENT_ONE, operator("other")], "execution": EXECUTION}
ALONE: dict[str, Any] = {"operators": [PATIENT_ONE], "execution": EXECUTION}
"""Where it does not matter what becomes of an operator that has finished."""


@pytest.fixture
def gate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Gate:
    little_worker(tmp_path / "data/workers", PATIENT, "patient_worker")
    gate = Gate(tmp_path / "gate")
    monkeypatch.setenv("MOSAIC_TEST_GATE", str(gate.folder))
    return gate


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run folder of the same experiment, played in peace."""
    home = tmp_path_factory.mktemp("undisturbed")
    little_worker(home / "data/workers", PATIENT, "patient_worker")
    gate = Gate(home / "gate")
    gate.open()
    with pytest.MonkeyPatch.context() as patch, WorkerTypeRegistry.isolated():
        patch.setenv("MOSAIC_TEST_GATE", str(gate.folder))
        patch.setenv("MOSAIC_DATA_DIR", str(home / "data"))
        return asyncio.run(played_here(home / "runs", PLAN)).folder


def started(home: Path, offspring: Offspring, plan: dict[str, Any] = PLAN) -> MosaicRun:
    """A run that has come to the gate, and whose other operator, if any, has finished."""
    run = MosaicRun(home, offspring, plan, "--processes", "2")
    eventually(lambda: list((home / "gate").glob("reached-*")), "the run comes to the gate")
    others = [one["id"] for one in plan["operators"][1:]]
    eventually(lambda: all(lines(run, name) == EPISODES for name in others), "the other finishes")
    eventually(lambda: lines(run, "patient") >= 2, "rows are written")
    return run


def lines(run: MosaicRun, name: str) -> int:
    files = list(run.folder.glob(f"operators/{name}/episodes.jsonl"))
    return files[0].read_bytes().count(b"\n") if files else 0


def resumed(home: Path, offspring: Offspring, run: Recorded) -> MosaicRun:
    folder = run.folder
    again = MosaicRun(home, offspring, None, "--resume", str(folder), "--processes", "1")
    assert again.wait() == 0, again.err
    assert again.folder == folder
    return again


def when(folder: Path) -> dict[tuple[str, int], str]:
    """When each episode was played: an episode that is played twice gets another time."""
    run = open_run(folder)
    return {
        (o.operator_id, e.episode_index): e.started_at or ""
        for o in run.operators.values()
        for e in o.episodes()
    }


def half_written(run: MosaicRun) -> None:
    """Add rows of an episode that has no line yet, then half a row; half an episode."""
    folder = run.folder / "operators/patient"
    rows = (folder / "steps.jsonl").read_bytes().splitlines(keepends=True)
    stray = orjson.loads(rows[-1]) | {"episode_index": EPISODES - 1}
    with (folder / "steps.jsonl").open("ab") as file:
        file.write(orjson.dumps(stray) + b"\n" + rows[0][:40])
    with (folder / "episodes.jsonl").open("ab") as file:
        file.write(b'{"operator_id": "patient", "episode_ind')


def test_kill_9_of_the_program_and_half_written_lines(
    tmp_path: Path, offspring: Offspring, gate: Gate, undisturbed: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("MOSAIC_TEST_CHILDREN", "2")
    run = started(tmp_path, offspring)
    assert len(offspring.pids()) >= 1 + 1 + 1 + 2, "the program, a session, its worker, its worker's children"
    run.signal(signal.SIGKILL)
    run.process.wait()
    offspring.assert_none()
    before = when(run.folder)
    assert len(before) >= EPISODES + 2
    assert run.header()["status"] == "running", "no process was left to say otherwise"

    half_written(run)
    assert when(run.folder) == before, "readers pass over it"
    gate.open()
    again = resumed(tmp_path, offspring, run)
    after = when(run.folder)
    assert len(after) == 2 * EPISODES and before.items() <= after.items(), "none lost, none repeated"
    assert again.header()["status"] == "completed"
    assert compare_runs(run.folder, undisturbed) is None


def interrupted(run: MosaicRun, number: int) -> dict[tuple[str, int], str]:
    """End a run with a signal, and return the episodes that it has kept."""
    run.signal(number)
    assert run.wait() == 130
    assert f"resume with: mosaic run --resume {run.folder}" in run.err
    header = run.header()
    assert header["status"] == "stopped" and header["finished_at"]
    assert {e.status for e in run.episodes("patient").values()} == {EpisodeStatus.COMPLETED}
    return when(run.folder)


def test_two_programs_cannot_write_one_run_and_sigterm_ends_it(
    tmp_path: Path, offspring: Offspring, gate: Gate
):
    run = started(tmp_path, offspring, ALONE)
    (tmp_path / "second").mkdir()
    second = MosaicRun(tmp_path / "second", offspring, None, "--resume", str(run.folder))
    assert second.process.wait(LONG_S) == 2
    assert "is being written" in second.err
    interrupted(run, signal.SIGTERM)


@pytest.mark.full
def test_interrupted_while_workers_load_for_ever(tmp_path: Path, offspring: Offspring):
    code = (
        "import threading\nfrom pathlib import Path\nfrom mosaic_worker import Worker\n"
        "class Main(Worker):\n"
        "    def load(self, slot):\n"
        f"        Path({str(tmp_path / 'loading')!r}).touch()\n"
        "        threading.Event().wait()\n"
    )
    little_worker(tmp_path / "data/workers", code, "slow_worker")
    plan = {"operators": [operator("a", slot("baseline", worker_id="slow_worker"))]}
    run = MosaicRun(tmp_path, offspring, plan)
    eventually(lambda: (tmp_path / "loading").exists(), "the worker loads")
    run.signal(signal.SIGINT)
    assert run.wait() == 130


def test_a_polite_kill_in_the_first_seconds(tmp_path: Path, offspring: Offspring):
    """While the experiment is read; nothing is left, and the status is that of any interrupted run."""
    reading = tmp_path / "reading"
    code = f"import time\nopen({str(reading)!r}, 'w').close()\ntime.sleep(60)\n"
    run = MosaicRun(tmp_path, offspring, code)
    eventually(reading.exists, "the experiment is read")
    run.signal(signal.SIGTERM)
    assert run.wait() == 130


@pytest.mark.full
def test_interrupted_with_a_stopped_worker_and_a_stopped_session(
    tmp_path: Path, offspring: Offspring, gate: Gate
):
    run = started(tmp_path, offspring, ALONE)
    for pid in (*offspring.workers("patient", "patient_worker"), *offspring.hosts("patient")):
        os.kill(pid, signal.SIGSTOP)
    run.signal(signal.SIGINT)
    assert run.wait() == 130


@pytest.mark.usefixtures("gate")
def test_a_finished_run_is_left_as_it_is(tmp_path: Path, offspring: Offspring, undisturbed: Path):
    run = Recorded(tmp_path / "runs")
    shutil.copytree(undisturbed, tmp_path / "runs" / undisturbed.name)
    before = when(run.folder)
    resumed(tmp_path, offspring, run)
    assert when(run.folder) == before


@pytest.mark.full
def test_interrupted_after_failures_which_still_count(
    tmp_path: Path, offspring: Offspring, gate: Gate, undisturbed: Path
):
    """The exit status is that of the whole run, not of its last part; the others are as undisturbed."""
    settings = {"fault": "illegal", "times": 0}
    failing = operator("failing", slot("baseline", worker_id="test_worker", settings=settings))
    run = started(tmp_path, offspring, {"operators": [PATIENT_ONE, failing], "execution": EXECUTION})
    assert run.statuses("failing") == ["failed"] * EPISODES
    before = interrupted(run, signal.SIGINT)
    gate.open()
    again = MosaicRun(tmp_path, offspring, None, "--resume", str(run.folder), "--processes", "1")
    assert again.wait() == 1
    assert again.header()["status"] == "failed"
    assert again.statuses("failing") == ["failed"] * EPISODES
    after = when(run.folder)
    assert len(after) == 2 * EPISODES and before.items() <= after.items(), "none lost, none repeated"
    assert played(open_run(run.folder)) == played(open_run(undisturbed))


def played(run: Run) -> list[tuple[Any, ...]]:
    """What the operator played that all runs have."""
    rows = run.operators["patient"].steps()
    return sorted((row.episode_index, row.step_index, row.action, row.state_sha) for row in rows)


@pytest.mark.full
def test_killed_at_any_moment(tmp_path: Path, offspring: Offspring):
    """Twelve kills at random moments, then to the end: equal to a run that was not disturbed."""
    chance = random.Random(20261120)
    plan: dict[str, Any] = {
        "operators": [
            operator("cart"),
            operator("grid", task="MiniGrid-Empty-8x8-v0", env_name="minigrid"),
        ],
        "execution": {"num_episodes": 400, "seeds": 1},
    }
    run = MosaicRun(tmp_path, offspring, plan)
    eventually(lambda: list((tmp_path / "runs").glob("*/run.json")), "the run begins")
    folder = run.folder
    for _ in range(12):
        with contextlib.suppress(subprocess.TimeoutExpired):
            run.process.wait(chance.uniform(0.05, 2.5))
        run.signal(signal.SIGKILL)
        run.process.wait()
        offspring.assert_none()
        for name in ("cart", "grid"):
            indices = [e.episode_index for e in open_run(folder).operators[name].episodes()]
            assert len(indices) == len(set(indices))
        run = MosaicRun(tmp_path, offspring, None, "--resume", str(folder))
    assert run.wait() == 0
    (tmp_path / "undisturbed").mkdir()
    other = MosaicRun(tmp_path / "undisturbed", offspring, plan)
    assert other.wait() == 0
    assert compare_runs(folder, other.folder) is None
