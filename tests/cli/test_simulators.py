"""Simulators on the command line: installed, checked, played, verified, and lost (long)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import Mosaic
from tests.support.simulators import Engine, engine

pytestmark = [pytest.mark.full, pytest.mark.timeout(900)]
_TASKS = {"airsim": "airsim/Car-v0", "unreal": "unreal/Map-v0"}
_SERVERS = {"airsim": "airsim_server", "unreal": "unrealcv_server"}
_PACKAGES = {"airsim": "cosysairsim", "unreal": "unrealcv"}


def _experiment(file: Path, task: str, port: int, **settings: Any) -> Path:
    random = {"worker_id": "operators_worker", "worker_type": "baseline", "settings": {"behavior": "random"}}
    arguments = {"port": port, "timeout_s": 2, "image": [24, 32], **settings}
    # Two operators, and more episodes than one session plays by itself: there is one world for all.
    operator = {"task": task, "env_kwargs": arguments, "workers": {"agent": random}}
    execution = {"num_episodes": 5, "seeds": 3, "max_steps": 8, "processes": 2}
    operators = [{"id": name, **operator} for name in ("one", "two")]
    file.write_text(json.dumps({"operators": operators, "execution": execution}))
    return file


@pytest.mark.parametrize("family", _TASKS)
def test_a_simulator_is_installed_checked_played_verified_and_lost(
    family: str, mosaic: Mosaic, tmp_path: Path
) -> None:
    installed = mosaic.process("envs", "install", family, timeout=600)
    assert installed.status == 0, installed.err
    python = tmp_path / "data" / "environments" / family / "bin" / "python"
    task, world = _TASKS[family], engine(_SERVERS[family], python, "--image", "24", "32")
    with world as here:
        _played(mosaic, family, _experiment(tmp_path / "plan.json", task, here.port), tmp_path / "runs")
        _refused(
            mosaic, _experiment(tmp_path / "other.json", task, here.port, image=[8, 8]), "24 x 32 pixels"
        )
        _lost(mosaic, here, _experiment(tmp_path / "lost.json", task, here.port))


def _played(mosaic: Mosaic, family: str, file: Path, runs: Path) -> None:
    run = mosaic.process("run", file, "--out", runs)
    assert run.status == 0, run.err
    (folder,) = runs.iterdir()
    verified = mosaic.process("verify", folder)
    assert verified.status == 0, verified.out + verified.err
    assert _PACKAGES[family] in json.loads((folder / "run.json").read_text())["versions"]


def _refused(mosaic: Mosaic, file: Path, said: str) -> None:
    run = mosaic.process("run", file)
    assert run.status != 0
    assert said in run.out + run.err


def _lost(mosaic: Mosaic, world: Engine, file: Path) -> None:
    world.kill()
    _refused(mosaic, file, "cannot be reached: Connection refused. Start the engine, or give host and port")
