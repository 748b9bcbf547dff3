"""Failure 2 of the peer: one worker that hangs stops everything."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.support.little_workers import RANDOM, little_worker
from tests.support.processes import Offspring
from tests.support.runs import GATED, GATED_SPREAD, Gate, MosaicRun, operator, slot

DONE = "completed"


@pytest.fixture
def gate(tmp_path: Path) -> Gate:
    return Gate(tmp_path / "gate")


def plan(*operators: dict[str, object], episodes: int = 5) -> dict[str, object]:
    execution = {"num_episodes": episodes, "seeds": 100, "concurrency": 1}
    return {"operators": list(operators), "execution": execution}


def test_a_stopped_worker_is_noticed_and_replaced(tmp_path: Path, offspring: Offspring, gate: Gate):
    """And one that never answers is waited for no longer than it may take."""
    little_worker(tmp_path / "data/workers", RANDOM, "brisk_worker", launch={"heartbeat_s": 1})
    players = slot("baseline", worker_id="brisk_worker")
    hung = operator("hung", players, task=GATED, env_kwargs=gate.kwargs(at=101))
    code = "import threading\nfrom mosaic_worker import Worker\n" + (
        "class Main(Worker):\n    def select_actions(self, batch):\n        threading.Event().wait()\n"
    )
    little_worker(tmp_path / "data/workers", code, "silent_worker")
    silent = operator("silent", slot("baseline", worker_id="silent_worker", deadline_s=0.3))
    run = MosaicRun(tmp_path, offspring, plan(hung, operator("other"), silent), "--processes", "2")
    gate.reached()
    os.kill(run.worker("hung", "brisk_worker"), signal.SIGSTOP)
    gate.open()
    assert run.wait() == 1
    assert run.statuses("hung") == run.statuses("other") == [DONE] * 5
    (retry,) = run.header()["retries"]
    assert (retry["operator_id"], retry["episode_index"]) == ("hung", 1)
    assert retry["reason"].startswith("agent_0: worker brisk_worker was ended: did not respond for ")
    assert run.statuses("silent") == ["failed"] * 5
    errors = {episode.error for episode in run.episodes("silent").values()}
    assert errors == {"agent_0: unusable action at step 0: no answer within 0.3 s"}


@pytest.mark.full
def test_a_stopped_worker_is_waited_for_no_longer_than_its_deadline(
    tmp_path: Path, offspring: Offspring, gate: Gate
):
    """The worker that comes with MOSAIC; agents are not asked one after another."""
    players = {f"agent_{k}": slot(deadline_s=1)["agent"] for k in range(3)}
    hung = operator("hung", players, task=GATED_SPREAD, env_kwargs=gate.kwargs(at=101))
    run = MosaicRun(tmp_path, offspring, plan(hung, episodes=3), "--processes", "1")
    gate.reached()
    for pid in offspring.workers("hung"):
        os.kill(pid, signal.SIGSTOP)
    gate.open()
    assert run.wait() == 1
    assert run.statuses("hung") == [DONE, "failed", "failed"]
    error = run.episodes("hung")[1].error or ""
    assert "unusable action at step 2: no answer within 1 s" in error
    # Three stopped workers, two episodes: one deadline each, because all were asked at once.
    assert sum(e.wall_s or 0 for e in list(run.episodes("hung").values())[1:]) < 5


def test_a_stopped_worker_that_goes_on_is_only_late(tmp_path: Path, offspring: Offspring, gate: Gate):
    late = operator("late", task=GATED, env_kwargs=gate.kwargs(at=101))
    run = MosaicRun(tmp_path, offspring, plan(late), "--processes", "1")
    gate.reached()
    pid = run.worker("late")
    os.kill(pid, signal.SIGSTOP)
    gate.open()
    os.kill(pid, signal.SIGCONT)
    assert run.wait() == 0
    assert run.statuses("late") == [DONE] * 5
