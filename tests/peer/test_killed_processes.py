"""Failure 1 of the peer: a worker killed in mid-episode makes a script wait for ever."""

from __future__ import annotations

from pathlib import Path

import pytest

from gym_gui.analysis import compare_runs
from gym_gui.core.enums import ActionSource
from tests.support.little_workers import little_worker
from tests.support.processes import Offspring
from tests.support.runs import GATED, GATED_SPREAD, Gate, MosaicRun, kill, operator, played_here, slot

DONE = "completed"


@pytest.fixture
def gate(tmp_path: Path) -> Gate:
    return Gate(tmp_path / "gate")


def experiment(*operators: dict[str, object], episodes: int = 6, **more: object) -> dict[str, object]:
    return {
        "operators": list(operators),
        "execution": {"num_episodes": episodes, "seeds": 100, "concurrency": 1, **more},
    }


MORTAL = """
import os, signal
from mosaic_worker import Worker

class Main(Worker):
    def select_actions(self, batch):
        os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_worker_costs_a_retry_of_the_episode_it_played(
    tmp_path: Path, offspring: Offspring, gate: Gate
):
    """One that kills itself again and again fails its own episodes, and no others."""
    little_worker(tmp_path / "data/workers", MORTAL, "mortal_worker")
    mortal = operator("mortal", slot("baseline", worker_id="mortal_worker"))
    victim = operator("victim", task=GATED, env_kwargs=gate.kwargs(at=102))
    run = MosaicRun(tmp_path, offspring, experiment(victim, operator("other"), mortal), "--processes", "2")
    gate.reached()
    kill(run.worker("victim"))
    gate.open()
    assert run.wait() == 1
    # Every episode has its row.
    assert run.statuses("mortal") == ["failed"] * 6
    errors = [run.episodes("mortal")[k].error or "" for k in range(6)]
    assert all("was killed (signal 9, SIGKILL)" in error for error in errors)
    # Each start fails the episodes that are in flight with it; where these are all six, it is not given up.
    given_up = ["not started again" in error for error in errors]
    assert not all(given_up)
    assert [run.episodes("mortal")[k].lost for k in range(6)] == ["worker" if g else None for g in given_up]
    assert run.statuses("victim") == run.statuses("other") == [DONE] * 6
    (retry,) = [r for r in run.header()["retries"] if r["operator_id"] == "victim"]
    assert retry == {
        "operator_id": "victim",
        "episode_index": 2,
        "reason": "agent_0: worker operators_worker was killed (signal 9, SIGKILL)",
        "lost": "worker",
    }
    assert run.header()["status"] == "failed"
    assert {s.action_source for s in run.steps("victim")} == {ActionSource.POLICY}
    assert "the worker of agent_0 was killed" in run.err


@pytest.mark.full
def test_one_of_three_workers_of_a_parallel_game(tmp_path: Path, offspring: Offspring, gate: Gate):
    agents = [f"agent_{k}" for k in range(3)]
    players = {agent: slot()["agent"] for agent in agents}
    team = operator("team", players, task=GATED_SPREAD, env_kwargs=gate.kwargs(at=101))
    run = MosaicRun(tmp_path, offspring, experiment(team, episodes=4), "--processes", "1")
    gate.reached()
    assert len(offspring.workers("team")) == 3, "each decided by its own process"
    kill(offspring.find("mosaic_worker", "--agents", "agent_1")[0])
    gate.open()
    assert run.wait() == 0
    assert run.statuses("team") == [DONE] * 4
    (retry,) = run.header()["retries"]
    assert retry["episode_index"] == 1
    assert retry["reason"] == "agent_1: worker operators_worker was killed (signal 9, SIGKILL)"


@pytest.mark.parametrize("concurrency", [pytest.param(1, marks=pytest.mark.full), 3])
async def test_a_killed_session_costs_its_episodes_a_retry_and_changes_nothing(
    tmp_path: Path, offspring: Offspring, gate: Gate, concurrency: int
):
    victim = operator("victim", task=GATED, env_kwargs=gate.kwargs(at=102))
    plan = experiment(victim, concurrency=concurrency)
    run = MosaicRun(tmp_path, offspring, plan, "--processes", "1")
    kill(gate.reached())
    gate.open()
    assert run.wait() == 0
    assert run.statuses("victim") == [DONE] * 6
    header = run.header()
    assert header["status"] == "completed"
    # Episodes whose rows were still on their way are played again as well; they are none the worse.
    retried = {entry["episode_index"]: entry for entry in header["retries"]}
    assert 2 in retried and retried.keys() <= set(range(2 + concurrency))
    reason = "was killed (signal 9, SIGKILL)"
    assert retried[2] == {
        "operator_id": "victim",
        "episode_index": 2,
        "reason": reason,
        "lost": "session",
    }
    undisturbed = await played_here(tmp_path / "again", plan)
    assert compare_runs(run.folder, undisturbed.folder) is None


@pytest.mark.full
def test_every_process_at_once(tmp_path: Path, offspring: Offspring, gate: Gate):
    """The session and its worker; the run ends well all the same."""
    victim = operator("victim", task=GATED, env_kwargs=gate.kwargs(at=102))
    run = MosaicRun(tmp_path, offspring, experiment(victim), "--processes", "1")
    gate.reached()
    for pid in (*offspring.find("mosaic_worker"), *offspring.find("gym_gui.host")):
        kill(pid)
    gate.open()
    assert run.wait() == 0
    assert run.statuses("victim") == [DONE] * 6
    assert 2 in {r["episode_index"] for r in run.header()["retries"]}
