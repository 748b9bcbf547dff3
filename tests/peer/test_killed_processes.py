"""Failure 1 of the peer: a worker killed in mid-episode makes a script wait for ever."""

from __future__ import annotations

from pathlib import Path

import pytest

from gym_gui.core.enums import ActionSource
from tests.support.processes import Offspring
from tests.support.runs import GATED, GATED_SPREAD, Gate, MosaicRun, kill, operator, slot

DONE = "completed"


@pytest.fixture
def gate(tmp_path: Path) -> Gate:
    return Gate(tmp_path / "gate")


def experiment(*operators: dict[str, object], episodes: int = 6, **more: object) -> dict[str, object]:
    return {
        "operators": list(operators),
        "execution": {"num_episodes": episodes, "seeds": 100, "concurrency": 1, **more},
    }


def test_a_killed_worker_costs_the_episode_it_played(tmp_path: Path, offspring: Offspring, gate: Gate):
    victim = operator("victim", task=GATED, env_kwargs=gate.kwargs(at=102))
    run = MosaicRun(tmp_path, offspring, experiment(victim, operator("other")), "--processes", "2")
    gate.reached()
    kill(run.worker("victim"))
    gate.open()
    assert run.wait() == 1
    assert run.statuses("victim") == [DONE, DONE, "failed", DONE, DONE, DONE]
    assert run.statuses("other") == [DONE] * 6
    error = run.episodes("victim")[2].error
    assert error == "agent_0: worker operators_worker was killed (signal 9, SIGKILL)"
    assert run.header()["status"] == "failed" and run.header()["retries"] == []
    assert {s.action_source for s in run.steps("victim")} == {ActionSource.POLICY}
    assert "the worker of agent_0 was killed" in run.err


def test_one_of_three_workers_of_a_parallel_game(tmp_path: Path, offspring: Offspring, gate: Gate):
    agents = [f"agent_{k}" for k in range(3)]
    players = {agent: slot()["agent"] for agent in agents}
    team = operator("team", players, task=GATED_SPREAD, env_kwargs=gate.kwargs(at=101))
    run = MosaicRun(tmp_path, offspring, experiment(team, operator("other"), episodes=4), "--processes", "2")
    gate.reached()
    assert len(offspring.workers("team")) == 3, "each decided by its own process"
    kill(offspring.find("mosaic_worker", "--agents", "agent_1")[0])
    gate.open()
    assert run.wait() == 1
    assert run.statuses("team") == [DONE, "failed", DONE, DONE]
    assert run.statuses("other") == [DONE] * 4
    error = run.episodes("team")[1].error
    assert error == "agent_1: worker operators_worker was killed (signal 9, SIGKILL)"


def test_a_worker_that_is_killed_again_and_again(tmp_path: Path, offspring: Offspring, gate: Gate):
    """Started three times more, then given up; every episode has its row."""
    code = (
        "import os, signal\nfrom mosaic_worker import Worker\n"
        "class Main(Worker):\n"
        "    def select_actions(self, batch):\n        os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    from tests.support.little_workers import little_worker

    little_worker(tmp_path / "data/workers", code, "mortal_worker")
    mortal = operator("mortal", slot("baseline", worker_id="mortal_worker"))
    run = MosaicRun(tmp_path, offspring, experiment(mortal, operator("other")), "--processes", "2")
    assert run.wait() == 1
    assert run.statuses("mortal") == ["failed"] * 6
    assert run.statuses("other") == [DONE] * 6
    errors = [run.episodes("mortal")[k].error or "" for k in range(6)]
    assert all("was killed (signal 9, SIGKILL)" in error for error in errors)
    assert ["not started again" in error for error in errors] == [False] * 4 + [True] * 2


def test_a_killed_session_costs_its_episodes_a_retry(tmp_path: Path, offspring: Offspring, gate: Gate):
    victim = operator("victim", task=GATED, env_kwargs=gate.kwargs(at=102))
    run = MosaicRun(tmp_path, offspring, experiment(victim, operator("other")), "--processes", "2")
    kill(gate.reached())
    gate.open()
    assert run.wait() == 0
    assert run.statuses("victim") == run.statuses("other") == [DONE] * 6
    header = run.header()
    assert header["status"] == "completed"
    # Episodes whose rows were still on their way are played again as well; they are none the worse.
    retried = {entry["episode_index"]: entry for entry in header["retries"]}
    assert 2 in retried and retried.keys() <= {0, 1, 2}
    reason = "was killed (signal 9, SIGKILL)"
    assert retried[2] == {"operator_id": "victim", "episode_index": 2, "reason": reason}


def test_a_killed_session_gives_what_an_undisturbed_one_gives(
    tmp_path: Path, offspring: Offspring, gate: Gate
):
    from gym_gui.analysis import compare_runs

    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    plan = experiment(operator("op", task=GATED, env_kwargs=gate.kwargs(at=103)), episodes=8, concurrency=3)
    disturbed = MosaicRun(tmp_path / "a", offspring, plan, "--processes", "1")
    kill(gate.reached())
    gate.open()
    assert disturbed.wait() == 0
    assert 3 in {entry["episode_index"] for entry in disturbed.header()["retries"]}
    undisturbed = MosaicRun(tmp_path / "b", offspring, plan, "--processes", "1")
    assert undisturbed.wait() == 0
    assert compare_runs(disturbed.folder, undisturbed.folder) is None


def test_every_process_at_once(tmp_path: Path, offspring: Offspring, gate: Gate):
    """Both sessions and both workers; the run ends well all the same."""
    operators = [operator(k, task=GATED, env_kwargs=gate.kwargs(at=102)) for k in ("a", "b")]
    run = MosaicRun(tmp_path, offspring, experiment(*operators), "--processes", "2")
    gate.reached(2)
    for pid in (*offspring.find("mosaic_worker"), *offspring.find("gym_gui.host")):
        kill(pid)
    gate.open()
    assert run.wait() == 0
    assert run.statuses("a") == run.statuses("b") == [DONE] * 6
    assert {r["operator_id"] for r in run.header()["retries"]} == {"a", "b"}
