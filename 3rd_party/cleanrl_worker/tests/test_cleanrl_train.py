"""The training command: what it prints, writes and returns, also when it is cut off."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from cleanrl_worker.environments import EVALUATION
from cleanrl_worker.policy import Policy
from cleanrl_worker.train import main

TESTS = Path(__file__).resolve().parent
FOLDERS = (TESTS, TESTS.parent, TESTS.parents[1] / "mosaic_worker_sdk")
SHORT = [
    "--total-steps=1024", "--num-envs=4", "--num-steps=32", "--hidden", "16", "--learning-rate=5e-3",
]  # fmt: skip
BRIEF = [*SHORT, "--total-steps=128"]
LONG = ["--env-id=probes:Matching-v0", "--total-steps=100000000", "--num-envs=2", "--num-steps=16"]


@pytest.fixture
def start() -> Iterator[Any]:
    """Starts trainings as programs; none outlives its test."""
    running: list[subprocess.Popen[str]] = []

    def run(*args: str) -> subprocess.Popen[str]:
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, FOLDERS))}
        command = [sys.executable, "-m", "cleanrl_worker.train", *args]
        child = subprocess.Popen(
            command,
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        running.append(child)
        return child

    yield run
    for child in running:
        child.kill()
        child.communicate()


def rows(path: Path) -> list[dict[str, Any]]:
    """Every whole line of a file of JSON lines."""
    data = path.read_bytes() if path.exists() else b""
    return [json.loads(line) for line in data[: data.rfind(b"\n") + 1].splitlines()]


def until(child: subprocess.Popen[str], folder: Path, event: str, count: int = 1) -> dict[str, Any]:
    """The ``count``-th event of that name."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        over = child.poll() is not None
        found = [row for row in rows(folder / "events.jsonl") if row["event"] == event]
        if len(found) >= count:
            return found[count - 1]
        assert not over, f"no {event} before the end"
        time.sleep(0.02)
    raise AssertionError(f"no {event} in time")


def test_a_training_says_and_writes_what_it_did(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "p"
    assert main(["--algo=ppo", "--env-id=probes:Matching-v0", f"--out={out}", *SHORT]) == 0
    said = capsys.readouterr()
    assert "completed after 1,024 steps" in said.out
    assert said.err == ""
    events = rows(out / "events.jsonl")
    assert [e["event"] for e in events][:2] == ["start", "progress"]
    assert events[1]["step"] == 128
    assert "checkpoint" in [e["event"] for e in events]
    assert (events[-1]["event"], events[-1]["status"], events[-1]["step"]) == ("done", "completed", 1024)
    description = json.loads((out / "policy.json").read_text())
    assert description["evaluation"]["mean_return"] == events[-1]["mean_return"]
    assert description["action_space"] == {"kind": "Discrete", "dtype": "int64", "n": 2, "start": 3}
    assert description["config"]["learning_rate"] == 5e-3
    assert description["format_version"] == 2
    assert {"torch", "gymnasium", "python"} <= set(description["versions"])
    numbers = rows(out / "metrics.jsonl")
    assert [row["step"] for row in numbers] == list(range(128, 1025, 128))
    episodes = rows(out / "episodes.jsonl")
    assert len(episodes) == 1024  # one step each
    assert {row["return"] for row in episodes} == {-1.0, 1.0}
    assert {row["length"] for row in episodes} == {1}
    log = EventAccumulator(str(out / "tensorboard"))
    log.Reload()
    assert [point.step for point in log.Scalars("charts/episodic_return")] == list(range(128, 1025, 128))
    assert set(log.Tags()["scalars"]) == set(numbers[-1]["m"])
    assert {"losses/value_loss", "charts/learning_rate", "charts/SPS"} <= set(numbers[-1]["m"])


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--algo=pppo"], "unknown algorithm 'pppo'. Did you mean ppo?"),
        (["--algo=impala"], "unknown algorithm 'impala'. Known: ppo"),
        (["--sede=3"], "ppo has no option --sede. Did you mean --seed?"),
        (["--seed=x"], "seed must be a whole number, not 'x'"),
        (["--num-envs=0"], "num_envs must be at least 1"),
        (["--env-id=CartPool-v1"], "Did you mean: `CartPole`"),
        (["--resume"], "--resume needs --out"),
        (["--resume", "--out=nowhere"], "holds no training that can be resumed"),
        (["--select=nothing", "--env-id=MiniGrid-Empty-5x5-v0"], "it has no 'nothing'"),
        (["--device=cuda"], "finds no GPU"),
        (["--checkpoint-every=0"], "checkpoint_every must be"),
        (["--out=/proc/nope"], "cannot be written"),
    ],
)
def test_bad_commands_get_one_line_and_status_2(
    args: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(args) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert len(said.err.splitlines()) == 1
    assert words in said.err
    assert not any((tmp_path / "runs").glob("*"))


def test_a_policy_is_replaced_only_when_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    args = ["--env-id=probes:Constant-v0", f"--out={tmp_path}", *BRIEF]
    assert main(args) == 0
    before = (tmp_path / "model.safetensors").read_bytes()
    assert main([*args, "--seed=2"]) == 2
    assert "already holds a policy" in capsys.readouterr().err
    assert (tmp_path / "model.safetensors").read_bytes() == before
    assert main([*args, "--seed=2", "--overwrite"]) == 0
    assert (tmp_path / "model.safetensors").read_bytes() != before
    assert len(list((tmp_path / "tensorboard").iterdir())) == 1
    assert [row["seed"] for row in rows(tmp_path / "events.jsonl") if row["event"] == "start"] == [2]


def test_a_training_that_breaks_returns_1_and_keeps_the_last_good_policy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--env-id=probes:PaysNan-v0", f"--out={tmp_path}", *SHORT, "--total-steps=8192"]) == 1
    assert "no longer finite" in capsys.readouterr().err
    assert 0 < Policy.load(tmp_path).description.total_steps < 8192


def test_a_signal_keeps_what_was_learnt_and_that_is_the_same_in_every_process(
    start: Any, tmp_path: Path
) -> None:
    """Stopped from outside after some steps, it has learnt what this process learns in as many."""
    there, here = tmp_path / "there", tmp_path / "here"
    args = [*LONG, "--no-anneal-lr", "--hidden", "16"]
    child = start(*args, f"--out={there}")
    until(child, there, "progress")
    child.send_signal(signal.SIGTERM)
    done = until(child, there, "done")
    assert (done["status"], done["mean_return"]) == ("stopped", None)
    assert child.wait(timeout=60) == 130
    assert Policy.load(there).description.total_steps == done["step"]
    assert main([*args, f"--out={here}", f"--total-steps={done['step']}"]) == 0
    assert (there / "model.safetensors").read_bytes() == (here / "model.safetensors").read_bytes()


@pytest.mark.full
def test_a_killed_training_leaves_its_last_checkpoint(start: Any, tmp_path: Path) -> None:
    child = start(*LONG, f"--out={tmp_path}", "--checkpoint-every=0.05")
    kept = until(child, tmp_path, "checkpoint", 3)
    child.kill()
    child.wait()
    assert Policy.load(tmp_path).description.total_steps >= kept["step"]


@pytest.mark.full
def test_a_reader_that_goes_away_ends_the_training(start: Any, tmp_path: Path) -> None:
    child = start(*LONG, f"--out={tmp_path}")
    until(child, tmp_path, "progress")
    child.stdout.close()
    assert child.wait(timeout=60) == 130
    assert child.stderr.read() == ""
    assert Policy.load(tmp_path).description.total_steps > 0


def test_help_lists_every_setting(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    said = capsys.readouterr().out
    assert all(flag in said for flag in ("--out", "--learning-rate", "--env-id"))


@pytest.mark.full
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_cartpole_is_solved_by_default_settings(seed: int, tmp_path: Path) -> None:
    args = ["--env-id=CartPole-v1", "--total-steps=30000", f"--seed={seed}", f"--out={tmp_path}"]
    assert main(args) == 0
    assert np.mean(EVALUATION.episode_returns(Policy.load(tmp_path), "CartPole-v1", range(20))) >= 475.0


def test_an_environment_that_raises_in_its_own_process_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    args = ["--env-id=probes:Raises-v0", f"--out={tmp_path}", *SHORT, "--total-steps=8192", "--async-envs"]
    assert main(args) == 1
    said = capsys.readouterr().err
    assert "Raises-v0 raised RuntimeError: the roof fell in (probes.py, line " in said
    assert "after step" in said


def test_somebody_may_not_want_to_wait_for_the_evaluation(tmp_path: Path, monkeypatch: Any) -> None:
    """The policy is kept, without a mean return."""
    from mosaic_worker import training as files

    original = files.TrainingRun.checkpointed

    def wish(run: files.TrainingRun, step: int) -> None:
        original(run, step)
        files.ask(tmp_path, "stop")

    monkeypatch.setattr(files.TrainingRun, "checkpointed", wish)
    assert main(["--env-id=probes:Constant-v0", f"--out={tmp_path}", *BRIEF]) == 130
    (done,) = (row for row in rows(tmp_path / "events.jsonl") if row["event"] == "done")
    assert (done["status"], done["step"], done["mean_return"]) == ("stopped", 128, None)
    assert Policy.load(tmp_path).description.mean_return is None


def test_a_full_disk_is_named_and_the_last_policy_stays(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: Any
) -> None:
    args = ["--env-id=probes:Constant-v0", f"--out={tmp_path}", *BRIEF]
    assert main(args) == 0
    before = (tmp_path / "policy.json").read_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))  # a larger file cannot be written
    try:
        assert main([*args, "--overwrite", "--hidden", "512", "512"]) == 1
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert "File too large" in capsys.readouterr().err
    assert (tmp_path / "policy.json").read_bytes() == before
    assert Policy.load(tmp_path).description.network["hidden"] == [16]
