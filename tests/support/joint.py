"""A joint policy that was really trained, for a few hundred steps: what it plays matters to no test."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from gym_gui.workers.discovery import discover
from gym_gui.workers.environment_variables import worker_environment
from gym_gui.workers.registry import WorkerTypeRegistry

SPREAD = "mpe2/simple_spread_v3"
AGENTS = ("agent_0", "agent_1", "agent_2")


def train_joint(out: Path, env_id: str = SPREAD, *more: str, algorithm: str = "ippo") -> Path:
    """Train a joint policy into a folder."""
    small = ("--num-envs=2", "--num-steps=32", "--total-steps=128", "--hidden", "16", "--no-async-envs")
    asked = ("--algo", algorithm, "--env-id", env_id, "--seed", "1", "--out", str(out))
    command = [sys.executable, "-m", "cleanrl_worker.train", *asked, *small, *more]
    done = subprocess.run(
        command, env=_environment(), capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    return out


def renamed(policy: Path, folder: Path, names: Mapping[str, str]) -> Path:
    """A copy whose agents are called otherwise, as if they had learned in another environment."""
    shutil.copytree(policy, folder)
    about = json.loads((folder / "policy.json").read_text())
    for part in about["parts"]:
        part["agents"] = [names.get(agent, agent) for agent in part["agents"]]
    (folder / "policy.json").write_text(json.dumps(about))
    return folder


def _environment() -> dict[str, str]:
    """In which the worker's module is found."""
    if not WorkerTypeRegistry.all():
        discover()
    return worker_environment(WorkerTypeRegistry.require("cleanrl_worker"), [])


@pytest.fixture(scope="session")
def joint_policy() -> Path:
    """The folder of a policy of three agents that share a network; not to be written to.

    All processes of a run of the tests have the same one: the first that asks for it trains it.
    """
    pytest.importorskip("torch")
    folder = Path(os.environ["MOSAIC_TESTS_HOME"]) / "joint"
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "spread").exists():
            train_joint(folder / "unfinished").rename(folder / "spread")
    return folder / "spread"
