"""Assignments find their worker with its settings, or a line that says what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from gym_gui.core.config import WorkerAssignment
from gym_gui.core.errors import MissingDependencyError, UsageError
from gym_gui.services.worker_registry import WorkerCatalog, WorkerTypeRegistry


@pytest.fixture
def catalog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MOSAIC_DATA_DIR", str(tmp_path))
    with WorkerTypeRegistry.isolated():
        yield WorkerCatalog()


def drop(data: Path, worker_id: str, tail: str) -> None:
    folder = data / "workers" / worker_id
    (folder / worker_id).mkdir(parents=True)
    head = f'id = "{worker_id}"\nkind = "rl"\n[launch]\nentry = "{worker_id}.main:W"\n'
    (folder / "worker.toml").write_text(head + tail)


def test_bundled_workers_are_listed_with_their_state(catalog: WorkerCatalog):
    states = {status.worker_id: status.state for status in catalog.statuses()}
    assert states["operators_worker"] == "installed"
    assert list(states) == sorted(states)


def test_new_folder_is_seen_after_a_refresh_broken_or_not(catalog: WorkerCatalog, tmp_path: Path):
    drop(tmp_path, "dice_worker", "")
    drop(tmp_path, "sick_worker", "x = 1")
    assert "dice_worker" not in {s.worker_id for s in catalog.statuses()}
    catalog.refresh()
    states = {status.worker_id: status.state for status in catalog.statuses()}
    assert (states["dice_worker"], states["sick_worker"]) == ("installed", "broken")
    assert catalog.status("dice_worker").state == "installed"


def test_assignment_gets_defaults_that_it_may_override(catalog: WorkerCatalog, tmp_path: Path):
    drop(tmp_path, "dice_worker", "[defaults]\nsettings = {sides = 6, color = 'red'}\n")
    catalog.refresh()
    resolved = catalog.resolve(WorkerAssignment("dice_worker", "rl", {"sides": 8}))
    assert resolved.definition.type_id == "dice_worker"
    assert resolved.settings == {"sides": 8, "color": "red"}


def test_assignment_of_another_type_is_refused(catalog: WorkerCatalog):
    with pytest.raises(UsageError, match=r"is of type baseline, not rl.*Write type: baseline"):
        catalog.resolve(WorkerAssignment("operators_worker", "rl"))


def test_worker_that_lacks_something_comes_with_the_line(catalog: WorkerCatalog, tmp_path: Path):
    drop(tmp_path, "dice_worker", '[requires]\npip = ["no-such-thing"]\n')
    drop(tmp_path, "lost_worker", '[requires]\npip = ["== nonsense"]\n')
    catalog.refresh()
    with pytest.raises(MissingDependencyError, match="Run: mosaic workers install dice_worker"):
        catalog.require_installed("dice_worker")
    with pytest.raises(UsageError, match="lost_worker cannot start"):
        catalog.require_installed("lost_worker")
    assert catalog.require_installed("operators").type_id == "operators_worker"
