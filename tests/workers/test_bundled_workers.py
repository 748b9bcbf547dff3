"""What the manifests of workers that come with MOSAIC say of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gym_gui.core.enums import SteppingParadigm
from gym_gui.workers.discovery import discover
from gym_gui.workers.registry import WorkerTypeRegistry


@pytest.fixture(autouse=True)
def registry() -> Iterator[None]:
    with WorkerTypeRegistry.isolated():
        yield


def test_a_worker_that_lives_in_the_data_folder_follows_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MOSAIC_DATA_DIR", str(tmp_path / "data"))
    discover()
    python = WorkerTypeRegistry.require("ray_worker").launch.python
    assert python == tmp_path / "data" / "environments" / "ray_worker" / "bin" / "python"


@pytest.mark.parametrize(
    ("paradigm", "env_type", "expected"),
    [
        ("SIMULTANEOUS", "multigrid", {"cleanrl_worker", "xuance_worker", "ray_worker"}),
        ("SIMULTANEOUS", "rllib_multi_agent", {"ray_worker"}),
        ("SINGLE_AGENT", "gymnasium", {"cleanrl_worker", "sb3_worker", "ray_worker"}),
    ],
)
def test_workers_that_train_somewhere_are_found_by_its_kind(
    paradigm: str, env_type: str, expected: set[str]
) -> None:
    discover()
    found = WorkerTypeRegistry.find_compatible(SteppingParadigm[paradigm], env_type, "discrete")
    assert expected <= {each.type_id for each in found}


def test_a_baseline_has_a_seed_to_set() -> None:
    discover()
    settings = {each.name: each for each in WorkerTypeRegistry.require("operators_worker").settings_schema}
    assert settings["seed"].schema["minimum"] == 0
