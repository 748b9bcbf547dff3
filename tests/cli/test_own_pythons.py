"""Families with an interpreter of their own: installed by our command, checked, played, verified (long)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.commands import Mosaic

pytestmark = [pytest.mark.full, pytest.mark.timeout(1800)]
_THREE = {
    "procgen": ("coinrun", "bigfish", "maze"),
    "overcooked": ("cramped_room", "coordination_ring", "simple_tomato"),
}


@pytest.mark.parametrize("family", _THREE)
def test_a_family_is_installed_checked_played_and_verified(
    family: str, mosaic: Mosaic, tmp_path: Path
) -> None:
    installed = mosaic.process("envs", "install", family, timeout=600)
    assert installed.status == 0, installed.err
    for name in _THREE[family]:
        checked = mosaic.process("envs", "check", f"{family}/{name}", "--json")
        assert checked.status == 0, checked.out
        assert json.loads(checked.out)["ok"]
    task = f"{family}/{_THREE[family][0]}"
    agents = ["cook_0", "cook_1"] if family == "overcooked" else ["agent"]
    random = {"worker_id": "operators_worker", "worker_type": "baseline", "settings": {"behavior": "random"}}
    experiment = {
        "operators": [{"id": "op", "task": task, "workers": dict.fromkeys(agents, random)}],
        "execution": {"num_episodes": 2, "seeds": 5, "max_steps": 60},
    }
    file = tmp_path / "random.json"
    file.write_text(json.dumps(experiment))
    run = mosaic.process("run", file, "--out", tmp_path / "runs")
    assert run.status == 0, run.err
    (folder,) = (tmp_path / "runs").iterdir()
    verified = mosaic.process("verify", folder)
    assert verified.status == 0, verified.out + verified.err
    versions = json.loads((folder / "run.json").read_text())["versions"]
    assert {"procgen": "procgen-mirror", "overcooked": "overcooked-ai"}[family] in versions
