"""A bad setting is one sentence and status 2 at the real command lines of both training workers."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

THIRD = Path(__file__).resolve().parents[2]
WORKERS = ("cleanrl_worker", "sb3_worker")
SAID = {
    "a word for a number": ("--algo=ppo --gamma=abc", "gamma"),
    "a number too large": ("--algo=ppo --gamma=2", "gamma must be at most 1.0, not 2"),
    "no number at all": ("--algo=ppo --gamma=nan", "gamma must be a finite number, not"),
    "a part of a step": ("--algo=ppo --num-envs=1.5", "num"),
    "one of a list": ("--algo=ppo --hidden 8 0", "each of hidden must be at least 1, not 0"),
    "one of a list, as another family has it": (
        "--algo=dqn --hidden 0 3",
        "each of hidden must be at least 1",
    ),
    "one of a list, in a third family": ("--algo=sac --hidden 70000", "each of hidden must be at most 65536"),
    "an empty list": ("--algo=ppo --hidden", "hidden"),
    "none of the choices": ("--algo=ppo --device=tpu", "device"),
    "an unknown name": ("--algo=ppo --nonsense=3", "nonsense"),
    "neither true nor false": ("--algo=ppo --anneal-lr maybe", "maybe"),
    "a training shorter than its rollout": ("--algo=ppo --total-steps=3", "raise total_steps"),
    "a buffer of nothing": ("--algo=sac --buffer-size=0", "buffer_size must be at least 1, not 0"),
    "a seed below zero": ("--algo=ppo --seed=-1", "seed must be at least 0, not -1"),
    "two at once": ("--algo=ppo --gamma=2 --resize=-4", "gamma must be at most 1.0"),
}
OWN = {
    "a share of copies": (
        "cleanrl_worker",
        "--algo=ppo_lstm --num-envs=3",
        "num_minibatches = 4; change one",
    ),
    "two that contradict": (
        "cleanrl_worker",
        "--algo=c51 --v-min=5 --v-max=1",
        "must be a number below v_max",
    ),
    "a start beyond the end": (
        "cleanrl_worker",
        "--algo=td3 --learning-starts=999999",
        "lower learning_starts",
    ),
    "a minibatch of one": ("sb3_worker", "--algo=ppo --n-steps=257 --num-envs=1", "change batch_size = 256"),
    "a buffer below one step": (
        "sb3_worker",
        "--algo=dqn --buffer-size=2 --num-envs=4",
        "must hold a step of each",
    ),
}
CASES = [
    *((worker, words, said) for words, said in SAID.values() for worker in WORKERS),
    *OWN.values(),
]


def check(status: int, said: str, wanted: str, out: Path) -> None:
    assert status == 2, said
    assert len(said.splitlines()) == 1, said
    assert said.startswith("error: ")
    assert wanted in said
    assert not out.exists()


@pytest.mark.parametrize(("worker", "words", "wanted"), CASES, ids=[f"{w}-{a}" for w, a, _ in CASES])
def test_one_sentence_and_status_2(
    worker: str, words: str, wanted: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    status = importlib.import_module(f"{worker}.train").main([*words.split(), "--out", str(out)])
    said = capsys.readouterr()
    assert said.out == ""
    check(status, said.err, wanted, out)


@pytest.mark.parametrize("worker", WORKERS)
def test_as_a_program_too(worker: str, tmp_path: Path) -> None:
    folders = (THIRD / worker, THIRD / "mosaic_worker_sdk")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, folders))}
    words, wanted = SAID["one of a list, as another family has it"]
    out = tmp_path / "run"
    command = [sys.executable, "-m", f"{worker}.train", *words.split(), "--out", str(out)]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert ended.stdout == ""
    check(ended.returncode, ended.stderr, wanted, out)
