"""What was installed is known to every page, without a restart."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gym_gui.controllers.setup.catalog_cache import CatalogCache
from gym_gui.controllers.setup.environment_info import EnvironmentInfo
from gym_gui.envs import make
from gym_gui.ui.agents.model import ConfigurationModel
from gym_gui.ui.context import AppContext
from gym_gui.workers.registry import WorkerTypeRegistry

MANIFEST = """
id = "planner_worker"
name = "Planner"
kind = "planner"
[launch]
command = ["true"]
carrier = "jsonl"
[requires]
pip = ["not-there-yet"]
[capabilities]
paradigm = "SINGLE_AGENT"
"""


def test_a_worker_is_offered_once_its_package_is_installed(
    context: AppContext,
    finish: Callable[[object], Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    qtbot: Any,
) -> None:
    folder = tmp_path / "workers" / "planner_worker"
    folder.mkdir(parents=True)
    (folder / "worker.toml").write_text(MANIFEST)
    monkeypatch.setenv("MOSAIC_DATA_DIR", str(tmp_path))
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.setattr(sys, "path", [*sys.path, str(site)])
    model = ConfigurationModel(context)
    with WorkerTypeRegistry.isolated():
        assert absent(model.catalog, finish)
    dist = site / "not_there_yet-1.0.dist-info"
    dist.mkdir()
    (dist / "METADATA").write_text("Metadata-Version: 2.1\nName: not-there-yet\nVersion: 1.0\n")
    context.installed.emit()
    with WorkerTypeRegistry.isolated():
        assert not absent(model.catalog, finish)
    finish(model.close())


def absent(catalog: CatalogCache, finish: Callable[[object], Any]) -> bool:
    checks = finish(catalog.checks())
    (policy,) = [each for each in checks.policies if each.worker_id == "planner_worker"]
    environment = make("CartPole-v1")
    slot = EnvironmentInfo.of(environment).slots["agent_0"]
    environment.close()
    offer = next(o for o in checks.offers(slot) if o.policy.policy_id == policy.policy_id)
    return "not installed" in offer.reason
