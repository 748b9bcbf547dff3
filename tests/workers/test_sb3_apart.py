"""sb3_worker from an environment of its own, with other versions than the host's, by our own command."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.support.apart import apart
from tests.support.commands import Mosaic
from tests.support.processes import Offspring

PINS = (
    *("numpy<2", "gymnasium==1.1.1", "stable-baselines3==2.6.0", "sb3-contrib==2.6.0"),
    *("torch>=2.4", "safetensors", "pydantic>=2.7", "tensorboard"),
)
EXPERIMENT = """
operators:
  - id: apart
    env_name: gymnasium
    task: CartPole-v1
    workers:
      agent_0: {type: rl, worker_id: sb3_apart_worker, settings: {checkpoint: "%s"}}
execution: {num_episodes: 3, seeds: 7}
"""


@pytest.mark.full
@pytest.mark.timeout(900)
def test_it_is_installed_trains_and_plays_beside_other_versions(tmp_path: Path, offspring: Offspring) -> None:
    mosaic = Mosaic(tmp_path, offspring)
    workers = tmp_path / "data" / "workers"
    folder = workers / apart("sb3_worker", workers, PINS)
    done = mosaic.process("workers", "install", "sb3_apart_worker", "--json", timeout=600)
    assert done.status == 0, done.err
    versions = done.json()["versions"]
    assert versions["numpy"].startswith("1.")
    assert int(np.__version__.partition(".")[0]) > 1
    assert versions["gymnasium"] == "1.1.1"
    assert versions["stable-baselines3"] == "2.6.0"
    assert not list(folder.glob("env/lib/*/site-packages/nvidia_*"))

    trained = mosaic.process(
        "train", "--worker", "sb3_apart_worker", "--algo", "ppo", "--env", "CartPole-v1",
        "--out", "runs/pole", "--total-steps", "8192", "--num-envs", "4", "--n-steps", "256",
        timeout=300,
    )  # fmt: skip
    assert trained.status == 0, trained.err
    described = json.loads((tmp_path / "runs" / "pole" / "policy.json").read_text())
    assert described["versions"]["numpy"] == versions["numpy"]
    assert described["versions"]["python"].split(".")[:2] == [str(n) for n in sys.version_info[:2]]

    checked = mosaic.process(
        "workers", "check", "sb3_apart_worker", "--env", "CartPole-v1", "--set", "checkpoint=runs/pole",
        timeout=300,
    )  # fmt: skip
    assert checked.status == 0, checked.out
    (tmp_path / "experiment.yaml").write_text(EXPERIMENT % (tmp_path / "runs" / "pole"))
    played = mosaic.process("run", "experiment.yaml", "--out", "played", timeout=300)
    assert played.status == 0, played.err
    rows = [
        json.loads(line)
        for file in (tmp_path / "played").rglob("episodes.jsonl")
        for line in file.read_text().splitlines()
    ]
    assert [row["status"] for row in rows] == ["completed"] * 3
    assert np.mean([row["total_reward"] for row in rows]) > 50
