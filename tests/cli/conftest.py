"""Tests of the command line run it as a person does, and leave no process behind."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest

from gym_gui.processes.tree import TAG
from tests.support.commands import Mosaic, experiment
from tests.support.fixtures import offspring
from tests.support.joint import joint_policy
from tests.support.model_server import model_server
from tests.support.no_processes import all_sessions_here, sessions_here
from tests.support.processes import Offspring

__all__ = ["all_sessions_here", "joint_policy", "model_server", "offspring", "sessions_here"]


@pytest.fixture
def mosaic(tmp_path: Path, offspring: Offspring) -> Mosaic:
    """The command line in a folder of its own."""
    return Mosaic(tmp_path, offspring)


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run folder that ``mosaic run`` has written, for all tests: :func:`played` is a copy."""
    home = tmp_path_factory.mktemp("recorded")
    mosaic = Mosaic(home, Offspring(f"recorded-{os.getpid()}-{os.urandom(4).hex()}"))
    with tempfile.TemporaryDirectory(prefix="mt", dir="/tmp") as short:
        variables = {TAG: "tests", "MOSAIC_RUNTIME_DIR": short}
        done = mosaic("run", experiment(home, {"id": "a", "name": "Random"}), "--json", **variables)
    assert done.status == 0, done.err
    return home / done.json()["run"]


@pytest.fixture
def played(mosaic: Mosaic, recorded: Path) -> Path:
    """Two episodes of CartPole at random by operator ``a``, among the runs of this test."""
    return Path(shutil.copytree(recorded, mosaic.home / "runs" / recorded.name))
