"""Runs that the engine itself wrote: read, reported, and equal at any speed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from gym_gui.analysis import compare_runs, open_run, summarize

EXPERIMENT = """
def slot(kind):
    return {"agent": {"type": kind}}

operators = [
    {"id": "random", "env_name": "gymnasium", "task": "CartPole-v1", "workers": slot("random")},
    {"id": "passive", "env_name": "gymnasium", "task": "CartPole-v1", "workers": slot("passive")},
]
execution = {"num_episodes": 12, "seeds": range(1000, 1012)}
"""


def _run(folder: Path, *options: str) -> Path:
    script = folder / "experiment.py"
    script.write_text(EXPERIMENT, encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "gym_gui",
        "run",
        str(script),
        "--out",
        str(folder / "runs"),
        "--json",
        *options,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return Path(json.loads(done.stdout.splitlines()[-1])["run"])


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("real")
    return _run(folder, "--concurrency", "1", "--processes", "1"), _run(folder, "--concurrency", "8")


def test_a_real_run_is_summarised(pair: tuple[Path, Path]) -> None:
    run = open_run(pair[0])
    assert run.record.status == "completed" and run.record.seeds == tuple(range(1000, 1012))
    summary = summarize(run)
    assert str(summary.verdicts[0]).startswith("random is better than passive by ")
    passive = summary.operator("passive")
    assert passive.completed == 12 and passive.decisions is not None
    episodes = list(run.operators["passive"].episodes())
    assert passive.decisions.total == sum(e.length for e in episodes)
    steps = list(run.operators["passive"].steps())
    assert {s.action_source for s in steps} == {"policy"} and all(s.state_sha for s in steps)
    assert sum(s.reward or 0 for s in steps) == sum(e.total_reward or 0 for e in episodes)


def test_real_runs_are_equal_at_any_speed(pair: tuple[Path, Path]) -> None:
    assert compare_runs(*pair) is None
