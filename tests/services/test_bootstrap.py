"""The services of a program."""

from __future__ import annotations

from pathlib import Path

import pytest

from gym_gui.core.config import OperatorConfig, WorkerAssignment
from gym_gui.services.bootstrap import bootstrap_default_services
from gym_gui.workers.registry import WorkerTypeRegistry


def test_services_are_made_once_when_they_are_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MOSAIC_DATA_DIR", str(tmp_path / "data"))
    with WorkerTypeRegistry.isolated() as registry:
        services = bootstrap_default_services(registry=registry)
        assert not registry.all()
        assert services.workers is services.workers and registry.all()
        assert {entry.place for entry in services.policies.entries()} <= {"bundled"}
        assert services.policies.store is services.store
    assert not (tmp_path / "data").exists()


def test_operators_are_started_by_what_was_passed_in():
    class Running:
        def is_running(self) -> bool:
            return True

        def stop(self) -> None:
            """It holds nothing."""

    started: list[str] = []

    def launch(config: OperatorConfig) -> Running:
        started.append(config.operator_id)
        return Running()

    operators = bootstrap_default_services().new_operators(launch)
    player = WorkerAssignment("operators_worker", "baseline")
    operators.add_operator(OperatorConfig("a", "A", "", "CartPole-v1", {"agent_0": player}))
    operators.start_all()
    assert started == ["a"] == operators.running()
