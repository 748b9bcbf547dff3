"""A joint policy on the command line: trained, listed with its agents, scored, given out, played."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from gym_gui.evaluation import evaluate
from tests.support.commands import Mosaic, experiment
from tests.support.joint import AGENTS, SPREAD

pytest.importorskip("torch")
SHORT = ("--steps", "128", "--num-envs", "2", "--num-steps", "32", "--no-async-envs")
IN_AN_EXPERIMENT = "experiment file:\n"


@pytest.fixture
def kept(mosaic: Mosaic, joint_policy: Path) -> Mosaic:
    """With a joint policy in the library, called ``spread``."""
    shutil.copytree(joint_policy, mosaic.home / "data/policies/spread")
    return mosaic


@pytest.mark.usefixtures("sessions_here")
def test_several_agents_are_trained_without_naming_how_and_play_as_they_are_told(mosaic: Mosaic) -> None:
    done = mosaic("train", "--env", "simple_spread_v3", "--out", "spread", *SHORT)
    assert done.status == 0, done.err
    assert done.err.startswith("Worker: cleanrl_worker\n")
    operator = json.loads(done.out.partition(IN_AN_EXPERIMENT)[2])
    assert (operator["id"], operator["task"]) == ("ippo", SPREAD)
    assert operator["link_groups"] == [{"primary_agent": "agent_0", "linked_agents": ["agent_1", "agent_2"]}]
    played = mosaic("run", experiment(mosaic.home, operator), "--json", "--processes", "1")
    assert played.status == 0, played.err
    assert played.json()["status"] == "completed" and played.json()["failed"] == 0


def test_the_other_number_of_agents_is_refused_before_anything_starts(mosaic: Mosaic) -> None:
    done = mosaic("train", "--env", "simple_spread_v3", "--algo", "ppo", "--out", "nothing")
    assert done.status == 2
    assert "ppo learns for one agent" in done.err and "these learn there: ippo, mappo" in done.err
    done = mosaic("train", "--env", "CartPole-v1", "--algo", "mappo", "--out", "nothing")
    assert done.status == 2
    assert "mappo learns for several agents, but CartPole-v1 has one" in done.err
    assert not (mosaic.home / "nothing").exists()


@pytest.mark.full
def test_it_is_shown_agent_by_agent(kept: Mosaic) -> None:
    assert "128 steps, seed 1, 3 agents, cleanrl_worker" in kept("policies", "list").out
    shown = kept("policies", "show", "spread").out
    assert "  agents:        agent_0, agent_1, agent_2\n  networks:      all 3 share one\n" in shown
    second = "observes Box(18), is shown Box(21) after append 0 1 0; acts in Discrete(5)"
    assert f"  agent_1:       {second}\n" in shown
    alone = '{worker_id: cleanrl_worker, checkpoint: "library:spread", checkpoint_agent: agent_0}'
    assert alone in shown
    parts = kept("policies", "show", "spread", "--json").json()["parts"]
    assert [part["agent"] for part in parts] == list(AGENTS)
    assert {part["network"] for part in parts} == {1}
    assert parts[2]["preprocessing"] == [{"step": "append", "values": [0.0, 0.0, 1.0]}]
    assert parts[0]["observation_space"]["shape"] == [18] and parts[0]["input_space"]["shape"] == [21]
    alone_one = kept("policies", "show", "ppo_cartpole", "--json").json()
    assert alone_one["parts"] == [] and "networks" not in kept("policies", "show", "ppo_cartpole").out


@pytest.mark.usefixtures("sessions_here")
def test_it_is_scored_whole_and_its_export_is_taken_in_with_its_score(kept: Mosaic) -> None:
    scored = kept("policies", "score", "spread", "--json")
    assert scored.status == 0, scored.err
    assert len(scored.json()["returns"]) == 20 and scored.json()["mean"] < 0
    assert kept("policies", "export", "spread", "spread.zip").status == 0
    added = kept("policies", "add", "spread.zip", "--name", "brought", "--json").json()
    assert added["agents"] == list(AGENTS) and len(added["parts"]) == 3
    assert added["score"]["mean"] == scored.json()["mean"]


@pytest.mark.usefixtures("sessions_here")
def test_one_agent_of_it_plays_beside_others_by_its_name(kept: Mosaic) -> None:
    row = {"worker_id": "cleanrl_worker", "checkpoint": "library:spread", "checkpoint_agent": "agent_2"}
    other = {"type": "random"}
    operator = {"id": "one", "task": SPREAD, "workers": {"agent_0": row, "agent_1": other, "agent_2": other}}
    how = {"num_episodes": 1, "seeds": 0}
    played = kept("run", experiment(kept.home, operator, **how), "--json", "--processes", "1")
    assert played.status == 0 and played.json()["failed"] == 0, played.err
    operator["workers"] = {**operator["workers"], "agent_0": {**row, "checkpoint_agent": "agent_9"}}
    refused = kept("run", experiment(kept.home, operator, **how))
    assert refused.status == 2
    assert "the checkpoint holds no agent 'agent_9'" in refused.err
    assert "Set checkpoint_agent to one of: agent_0, agent_1, agent_2" in refused.err


@pytest.mark.usefixtures("sessions_here")
def test_from_python_it_plays_all_its_agents(
    kept: Mosaic, joint_policy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOSAIC_DATA_DIR", str(kept.home / "data"))
    returns = [
        [episode.returns for episode in evaluate(SPREAD, policy, seeds=[3, 4], out=tmp_path / name).episodes]
        for name, policy in (("by_name", "library:spread"), ("by_path", joint_policy))
    ]
    assert returns[0] == returns[1]
    assert [set(each) for each in returns[0]] == [set(AGENTS)] * 2
