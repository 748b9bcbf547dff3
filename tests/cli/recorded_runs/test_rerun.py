"""``mosaic rerun``: a run's policies play it again, and what departs is named with its reason."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gym_gui import evaluate
from gym_gui.analysis import compare_runs
from tests.support.commands import Mosaic, experiment
from tests.support.fake_model_server import FakeModelServer, Request
from tests.support.little_workers import RANDOM, little_worker

pytestmark = pytest.mark.usefixtures("all_sessions_here")

CHANCE = RANDOM.replace("import numpy as np", "import os\nimport numpy as np").replace(
    "int(bits(int(s), t)[0]) % n", "os.urandom(1)[0] % n"
)
"""Plays by chance that no seed decides."""
ALWAYS = """
import numpy as np
from mosaic_worker import Worker

class Main(Worker):
    def select_actions(self, batch):
        return np.full(len(batch.seeds), 0)
"""


def played(mosaic: Mosaic, *operators: dict[str, Any], **execution: Any) -> Path:
    """The run folder of an experiment."""
    done = mosaic("run", experiment(mosaic.home, *operators, **execution), "--json")
    assert done.status == 0, done.err
    return mosaic.home / done.json()["run"]


def own_worker(mosaic: Mosaic, source: str) -> dict[str, Any]:
    """An operator that a worker of a few lines plays, which a person has put among theirs."""
    little_worker(mosaic.home / "data" / "workers", source, "own_worker")
    return {
        "id": "own",
        "workers": {"agent": {"type": "baseline", "worker_id": "own_worker"}},
        "max_steps": 12,
    }


def alter(run: Path, name: str, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Rewrite the lines of a file of the run's only operator."""
    (file,) = run.glob(f"operators/*/{name}")
    lines = [json.dumps(change(json.loads(line))) + "\n" for line in file.read_text().splitlines()]
    file.write_text("".join(lines))


def test_deterministic_policies_play_the_same_again(mosaic: Mosaic) -> None:
    run = played(mosaic, num_episodes=3)
    before = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    done = mosaic("rerun", run, "--json")
    assert done.status == 0, done.err
    result = done.json()
    again = mosaic.home / result["again"]
    assert result["equal"] and result["operators"] == [{"operator_id": "op_0", "episodes": 3, "equal": 3}]
    assert again != run and compare_runs(run, again) is None
    assert json.loads((again / "run.json").read_text())["rerun"] == {"run": str(run)}
    assert {path: path.read_bytes() for path in run.rglob("*") if path.is_file()} == before


def test_some_episodes_are_a_run_of_their_own(mosaic: Mosaic) -> None:
    run = played(mosaic, num_episodes=5)
    done = mosaic("rerun", run, "--episodes", "1, 3-4")
    assert done.status == 0 and "op_0: 3 of 3 episodes as recorded." in done.out, done.err
    again = mosaic.home / done.out.rsplit("Run:", 1)[1].strip()
    lines = (again / "operators/op_0/episodes.jsonl").read_text().splitlines()
    assert sorted(json.loads(line)["episode_index"] for line in lines) == [1, 3, 4]
    assert mosaic("verify", again).status == 0, "it has all that it was to have"
    assert "Nothing is left to play: all 3 episodes" in mosaic("run", "--resume", again).out


def test_a_policy_that_no_seed_decides_is_named(mosaic: Mosaic) -> None:
    run = played(mosaic, own_worker(mosaic, CHANCE))
    done = mosaic("rerun", run)
    assert done.status == 1, done.err
    assert "Differs: operator own, episode 0, step " in done.out
    assert "action is " in done.out and "own_worker, agent_0 of own" in done.out
    assert "it is not deterministic: a third play" in done.out
    assert len(list((mosaic.home / "runs").iterdir())) == 2, "what was played once more is not kept"


def test_a_policy_that_was_changed_since_is_told_apart(mosaic: Mosaic) -> None:
    run = played(mosaic, own_worker(mosaic, ALWAYS))
    module = next((mosaic.home / "data" / "workers").rglob("own_worker*.py"))
    # Longer than before: within the same second Python takes what is as long for what it has compiled.
    module.write_text(module.read_text().replace("len(batch.seeds), 0)", "len(batch.seeds), 1 + 0)"))
    result = mosaic("rerun", run, "--json").json()
    assert [policy["finding"] for policy in result["policies"]] == ["another_than_then"]
    first = result["departures"][0]
    assert (first["cause"], first["step_index"]) == ("policy", 0)
    assert "action is 0 in the record, 1 when played again" in first["what"]


def test_models_are_not_played_a_third_time(mosaic: Mosaic) -> None:
    words = iter(["right", "down"])

    def said(_: Request) -> str:
        return f"<action>{next(words)}</action>"

    with FakeModelServer(said) as server:
        settings = {"base_url": server.url, "client_name": "custom", "model_id": "m"}
        slots = {"agent": {"type": "llm", "settings": settings}}
        lake = {"id": "lake", "task": "FrozenLake-v1", "workers": slots, "max_steps": 1}
        done = mosaic("rerun", played(mosaic, lake, num_episodes=1))
    assert done.status == 1 and "recorded replies do: mosaic run --replay" in done.out


def test_what_the_environment_gives_otherwise_is_no_policys_doing(mosaic: Mosaic) -> None:
    """The record of a reward is another, as if the environment had been another then."""
    run = played(mosaic, num_episodes=1)
    alter(run, "steps.jsonl", lambda row: {**row, "reward": 2.0} if row["step_index"] == 3 else row)
    done = mosaic("rerun", run, "--json")
    assert done.status == 1, done.err
    (departure,) = done.json()["departures"]
    assert (departure["cause"], departure["step_index"]) == ("environment", 3)
    assert done.json()["policies"] == []
    alter(
        run,
        "steps.jsonl",
        lambda row: {**row, "action": 1 - row["action"]} if row["step_index"] == 5 else row,
    )
    assert "did not repeat the recorded steps" in mosaic("rerun", run).out


def test_what_cannot_be_played_again_is_one_line(mosaic: Mosaic) -> None:
    run = played(mosaic)
    assert "Write a list such as 0,3,5-9" in mosaic.refused("rerun", run, "--episodes", "first")
    assert "no finished episode 7" in mosaic.refused("rerun", run, "--episodes", "1,7")
    assert "no run at" in mosaic.refused("rerun", mosaic.home / "nowhere")
    made = evaluate("CartPole-v1", lambda _: 0, seeds=2, out=mosaic.home / "made")
    assert "a Python object that the run folder does not contain" in mosaic.refused("rerun", made.folder)
