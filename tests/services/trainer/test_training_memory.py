"""How much memory a training may use where the user gives no limit."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gym_gui.services.trainer.launching import training_environment
from gym_gui.services.trainer.queue import Machine
from gym_gui.services.trainer.request import TrainRequest
from gym_gui.services.trainer.training_records import RunLimits
from gym_gui.services.worker_registry import WorkerCatalog
from mosaic_worker.learning.training_memory import MEMORY_MB

FLOOR = {"cleanrl_worker": 2048, "sb3_worker": 4096}


def request(worker: str, algo: str, out: Path, **settings: Any) -> TrainRequest:
    env = "Pendulum-v1" if algo == "sac" else "CartPole-v1"
    definition = WorkerCatalog().registry.require(worker)
    return TrainRequest.checked(definition, algo=algo, env=env, out=out, settings=settings)


@pytest.mark.parametrize(
    ("worker", "algo", "settings", "more"),
    [
        ("cleanrl_worker", "ppo", {}, 0),
        ("cleanrl_worker", "dqn", {}, 539),  # 10,000 pairs of observations of 84 x 84 x 4 bytes
        ("cleanrl_worker", "dqn", {"buffer_size": 100_000}, 5384),
        ("cleanrl_worker", "sac", {}, 12_000 - 2048),  # more than its share
        ("sb3_worker", "dqn", {}, 5384),
        ("sb3_worker", "recurrent_ppo", {}, 0),
    ],
)
def test_a_buffer_is_counted_as_far_as_the_share_goes(
    worker: str, algo: str, settings: dict[str, Any], more: int, tmp_path: Path
) -> None:
    assert request(worker, algo, tmp_path, **settings).memory_mb(12_000) == FLOOR[worker] + more


def test_a_small_share_takes_nothing_from_what_the_worker_needs(tmp_path: Path) -> None:
    assert request("cleanrl_worker", "sac", tmp_path).memory_mb(100) == 2048


def test_a_worker_without_a_limit_stays_without(tmp_path: Path) -> None:
    asked = request("cleanrl_worker", "sac", tmp_path)
    free = replace(asked.definition, limits=replace(asked.definition.limits, memory_mb=None))
    assert replace(asked, definition=free).memory_mb(12_000) is None


def test_shares_are_as_many_as_cores() -> None:
    machine = Machine((0, 1, 2, 3), 16_000)
    assert [machine.share_mb(cores) for cores in (1, 2, 4, 9)] == [4000, 8000, 16_000, 16_000]


@pytest.mark.parametrize(("worker", "algo"), [("cleanrl_worker", "sac"), ("sb3_worker", "sac")])
def test_a_buffer_that_does_not_fit_is_refused_before_the_training_begins(
    worker: str, algo: str, tmp_path: Path
) -> None:
    asked = request(worker, algo, tmp_path / "run", buffer_size=100_000_000)
    environment = training_environment(asked, RunLimits(memory_mb=1024), "tag", tied=False, gpus=())
    assert environment[MEMORY_MB] == "1024"
    command = [sys.executable, "-m", asked.spec.entry, *asked.arguments()]
    ended = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=120, check=False, cwd=os.curdir
    )
    assert ended.returncode == 2, ended.stderr
    assert "buffer_size = 100,000,000 steps" in ended.stderr
    assert "this training may use 0.5 GiB for them; set buffer_size to" in ended.stderr
    assert len(ended.stderr.splitlines()) == 1
    assert ended.stdout == ""
    assert not asked.out.exists()
