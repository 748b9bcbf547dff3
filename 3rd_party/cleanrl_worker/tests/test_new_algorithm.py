"""An algorithm is added with three files: its module, its entry in the registry, its name in the manifest."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gym_gui.services.trainer import train
from gym_gui.workers.manifest import read_manifest
from mosaic_worker.checkpoint import read_description

WORKER = Path(__file__).resolve().parents[1]
SDK = WORKER.parent / "mosaic_worker_sdk"

MODULE = '''"""PPO that rewards no entropy."""

from cleanrl_worker.algorithms import ppo


def train(config, environments, session):
    """Learn from rollouts, without a bonus for chance."""
    return ppo.train(config.model_copy(update={"ent_coef": 0.0}), environments, session)
'''
ENTRY = """        Algorithm(
            "plain_ppo",
            "Plain PPO",
            config="cleanrl_worker.config.ppo:PPOConfig",
            train="cleanrl_worker.algorithms.plain_ppo:train",
        ),
"""
BEFORE_ENTRY = """    for algorithm in (
"""


def insert_after(file: Path, line: str, text: str) -> None:
    before = file.read_text("utf-8")
    assert before.count(line) == 1
    file.write_text(before.replace(line, line + text), "utf-8")


@pytest.mark.full
def test_an_algorithm_of_three_files_is_offered_and_trained(tmp_path: Path) -> None:
    copy = tmp_path / "worker"
    shutil.copytree(WORKER, copy, ignore=shutil.ignore_patterns("tests", "__pycache__"))
    (copy / "cleanrl_worker" / "algorithms" / "plain_ppo.py").write_text(MODULE, "utf-8")
    insert_after(copy / "cleanrl_worker" / "registry.py", BEFORE_ENTRY, ENTRY)
    manifest = copy / "worker.toml"
    insert_after(manifest, "algorithms = [", '"plain_ppo", ')
    paths = os.pathsep.join(map(str, (copy, SDK)))
    command = [sys.executable, "-m", "mosaic_worker.learning.training_schema", "cleanrl_worker"]
    subprocess.run(command, check=True, env={**os.environ, "PYTHONPATH": paths}, cwd=tmp_path)
    settings = {"total_steps": 256, "num_envs": 2, "num_steps": 64}
    result = train(
        read_manifest(manifest),
        algo="plain_ppo",
        env="CartPole-v1",
        out=tmp_path / "run",
        settings=settings,
    )
    assert (result.status, result.step) == ("completed", 256)
    assert read_description(tmp_path / "run").algorithm == "plain_ppo"
