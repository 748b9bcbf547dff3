"""An RL worker of a few hundred lines, dropped where a user's own are found, does what those of MOSAIC do."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mosaic_worker.checkpoint import read_description
from mosaic_worker.learning.training_state import read_state
from tests.support.commands import ROOT, Mosaic
from tests.support.processes import Offspring

EXAMPLE = ROOT / "docs" / "examples" / "reinforce_worker"
FILES = {
    "worker.toml",
    "train_schema.json",
    *(f"reinforce_worker/{name}.py" for name in ("__init__", "settings", "policy", "train", "training")),
}
MOST_LINES = 600
TRAIN = ("train", "--worker", "reinforce_worker", "--algo", "reinforce", "--out", "run", "--json")
CORRIDOR = '''"""A corridor in which one walks right, and may never turn back."""

import gymnasium
import numpy as np


class Corridor(gymnasium.Env):
    """Ten steps; 1 for each to the right. Left is illegal, and breaks the episode off."""

    observation_space = gymnasium.spaces.Box(0, 1, (2,), np.float32)
    action_space = gymnasium.spaces.Discrete(3, start=1)  # stay, left, right

    def _seen(self):
        legal = np.array([True, False, True])
        return np.array([self.at / 10, self.steps / 10], np.float32), {"action_mask": legal}

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at = self.steps = 0
        return self._seen()

    def step(self, action):
        assert action != 2, "left is illegal"
        self.steps += 1
        self.at += action == 3
        seen, info = self._seen()
        return seen, float(action == 3), False, self.steps == 10, info
'''


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


@pytest.fixture
def mosaic(tmp_path: Path, offspring: Offspring) -> Mosaic:
    """With the example among the user's own workers."""
    shutil.copytree(EXAMPLE, tmp_path / "data/workers/reinforce_worker")
    return Mosaic(tmp_path, offspring)


def test_it_is_a_few_files_of_a_few_hundred_lines() -> None:
    files = {str(f.relative_to(EXAMPLE)): f for f in EXAMPLE.rglob("*.*") if "__pycache__" not in f.parts}
    assert files.keys() == FILES
    assert sum(len(file.read_text("utf-8").splitlines()) for file in files.values()) <= MOST_LINES


def test_its_schema_is_what_its_settings_say(tmp_path: Path) -> None:
    copy = shutil.copytree(EXAMPLE, tmp_path / "worker")
    paths = os.pathsep.join(map(str, (copy, ROOT / "3rd_party/mosaic_worker_sdk")))
    command = [sys.executable, "-m", "mosaic_worker.learning.training_schema", "reinforce_worker", "--check"]
    done = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "up to date\n"), done.stderr


def test_it_learns_goes_on_is_played_and_keeps_the_contract(mosaic: Mosaic) -> None:
    run = mosaic.home / "run"
    done = mosaic(*TRAIN, "--env", "CartPole-v1", "--steps", "3000", "--num-envs", "4")
    assert done.status == 0 and (done.json()["status"], done.json()["steps"]) == ("completed", 3000), done.err
    events = rows(run / "events.jsonl")
    assert {"start", "progress", "checkpoint", "done"} <= {event["event"] for event in events}
    assert rows(run / "episodes.jsonl") and "losses/entropy" in rows(run / "metrics.jsonl")[0]["m"]

    before = read_state(run, "reinforce").tensors
    more = mosaic("train", "--resume", run, "--steps", "6000", "--json")
    assert more.status == 0 and more.json()["steps"] == 6_000, more.err
    after = read_state(run, "reinforce").tensors
    steps = [int(tensors["optimizer/0/step"]) for tensors in (before, after)]
    assert 0 < steps[0] < steps[1], "the optimizer goes on, and does not begin anew"
    assert [e["step"] for e in rows(run / "events.jsonl") if e["event"] == "start"] == [0, 3000]
    assert read_description(run).mean_return > 60  # random: 22  # pyright: ignore[reportOptionalOperand]

    checked = mosaic(
        "workers", "check", "reinforce_worker", "--env", "CartPole-v1", "--set", f"checkpoint={run}"
    )
    assert checked.status == 0, checked.out
    slots = {
        "learnt": {"type": "rl", "worker_id": "reinforce_worker", "checkpoint": str(run)},
        "random": {"type": "random"},
    }
    operators = [{"id": id, "task": "CartPole-v1", "workers": {"agent": slot}} for id, slot in slots.items()]
    experiment = mosaic.home / "experiment.json"
    experiment.write_text(json.dumps({"operators": operators, "execution": {"num_episodes": 5}}), "utf-8")
    played = mosaic("run", experiment)
    assert played.status == 0 and "learnt" in played.out, played.err


@pytest.mark.full
def test_the_same_seed_gives_the_same_bits_and_masks_are_kept(mosaic: Mosaic) -> None:
    (mosaic.home / "corridor.py").write_text(CORRIDOR, "utf-8")
    python = {"PYTHONPATH": str(mosaic.home)}
    found: list[str] = []
    for out in ("one", "two"):
        train = [
            *TRAIN[:-3],
            "--out",
            out,
            "--json",
            "--trust",
            "--env",
            "corridor:Corridor",
            "--steps",
            "3000",
        ]
        done = mosaic(*train, **python)
        assert done.status == 0, done.err
        found.append(read_description(mosaic.home / out).weights_sha256)
    assert found[0] == found[1]
    assert read_description(mosaic.home / "one").mean_return == 10


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--env", "Pendulum-v1"), "reinforce learns discrete actions; Pendulum-v1 has Box"),
        (("--env", "CartPole-v1", "--async-envs"), "leave async_envs out"),
        (("--env", "CartPole-v1", "--learning-rate", "2"), "learning_rate must be"),
    ],
)
def test_what_it_cannot_train_it_says(more: tuple[str, ...], words: str, mosaic: Mosaic) -> None:
    done = mosaic(*TRAIN, *more)
    assert done.status == 2 and words in done.line
