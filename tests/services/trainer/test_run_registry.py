"""Runs are kept with every state they were in, through versions and damage."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from gym_gui.core.errors import MissingDependencyError, UsageError
from gym_gui.services.store import Store
from gym_gui.services.trainer import trainer
from gym_gui.services.trainer.queue import Machine
from gym_gui.services.trainer.trainer import Trainer
from gym_gui.services.trainer.training_records import (
    RunLimits,
    TrainingRecord,
    record_from_data,
    record_to_data,
)
from gym_gui.services.trainer.training_registry import FILE, MIGRATIONS, RunPlan, RunRegistry


def a_run(run_id: str = "r1", **more: object) -> TrainingRecord:
    record = TrainingRecord(run_id, "a_worker", "ppo", "CartPole-v1", 7, Path("/data") / run_id, 100.0)
    return replace(record, **more)  # type: ignore[arg-type]


def test_what_is_kept_is_read_again(tmp_path: Path) -> None:
    run = a_run(
        settings={"hidden": [64, 64], "anneal": True, "clip": None},
        limits=RunLimits(2, 512, 1, 3.5),
        title="mein Lauf",
        mean_return=-1.5,
        started_at=101.5,
    )
    plan = RunPlan(resume=True, cores=(0, 3))
    registry = RunRegistry(tmp_path)
    registry.put(run, plan)
    registry.put(a_run("r0", submitted_at=50.0))
    registry.close()
    again = RunRegistry(tmp_path)
    assert list(again.runs()) == [(a_run("r0", submitted_at=50.0), RunPlan()), (run, plan)]
    assert not again.damage
    again.close()


def test_each_state_is_kept_with_its_time_and_reason_and_progress_is_not_a_state(tmp_path: Path) -> None:
    registry = RunRegistry(tmp_path)
    registry.put(a_run(), RunPlan(resume=True))
    for step in range(5):
        registry.put(a_run(state="running", step=step))
    registry.put(a_run(state="failed", reason="no gold"))
    changes = registry.changes("r1")
    assert [(c.state, c.reason) for c in changes] == [("queued", ""), ("running", ""), ("failed", "no gold")]
    assert sorted(c.t for c in changes) == [c.t for c in changes]
    assert [plan.resume for _, plan in registry.runs()] == [True]  # not given again: not changed
    registry.remove("r1")
    assert list(registry.runs()) == []
    assert registry.changes("r1") == []
    registry.close()


def test_a_file_of_version_1_is_brought_up_to_date(tmp_path: Path) -> None:
    db = sqlite3.connect(tmp_path / FILE)
    db.executescript(MIGRATIONS[0] + "PRAGMA user_version = 1;")
    old = record_to_data(a_run(state="stopped", reason="asked to"))
    del old["warning"], old["limits"]["max_s"]  # fields that came later
    row = ("r1", "stopped", 100.0, json.dumps({**old, "external": False, "forgotten": 1}))
    db.execute("INSERT INTO runs (run_id, state, submitted_at, record) VALUES (?, ?, ?, ?)", row)
    db.commit()
    db.close()
    registry = RunRegistry(tmp_path)
    assert list(registry.runs()) == [(a_run(state="stopped", reason="asked to"), RunPlan())]
    assert [(c.t, c.state, c.reason) for c in registry.changes("r1")] == [(100.0, "stopped", "asked to")]
    registry.close()
    db = sqlite3.connect(tmp_path / FILE)
    assert db.execute("PRAGMA user_version").fetchone() == (len(MIGRATIONS),)
    assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    db.close()


def test_a_step_that_is_cut_off_is_done_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = (MIGRATIONS[0], "CREATE TABLE changes (run_id TEXT); CREATE TABLE nonsense (")
    monkeypatch.setattr("gym_gui.services.trainer.training_registry.MIGRATIONS", broken)
    with pytest.raises(UsageError, match="cannot be used: near"):
        RunRegistry(tmp_path)
    monkeypatch.undo()
    registry = RunRegistry(tmp_path)
    registry.put(a_run())
    assert [c.state for c in registry.changes("r1")] == ["queued"]
    registry.close()


@pytest.mark.parametrize("damage", ["overwritten", "torn", "empty pages"])
def test_a_damaged_file_is_moved_aside_with_a_sentence(tmp_path: Path, damage: str) -> None:
    registry = RunRegistry(tmp_path)
    for k in range(200):
        registry.put(a_run(f"r{k}", settings={"x": "y" * 500}))
    registry.close()
    path = tmp_path / FILE
    data = bytearray(path.read_bytes())
    if damage == "overwritten":
        data[:100] = b"this is no database" + bytes(81)
    elif damage == "torn":
        data = data[: len(data) // 2 + 77]
    else:
        data[4096 * 3 : 4096 * 9] = bytes(4096 * 6)
    path.write_bytes(data)
    registry = RunRegistry(tmp_path)
    assert "the registry of runs was damaged" in registry.damage
    (aside,) = tmp_path.glob(f"{FILE}.damaged-*")
    assert str(aside) in registry.damage
    assert aside.read_bytes() == bytes(data)
    assert list(registry.runs()) == []
    registry.put(a_run())
    registry.close()


def test_a_file_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    RunRegistry(tmp_path).close()
    db = sqlite3.connect(tmp_path / FILE)
    db.execute("PRAGMA user_version = 99")
    db.close()
    before = (tmp_path / FILE).read_bytes()
    with pytest.raises(UsageError, match=r"written by a newer MOSAIC \(version 99.*Update MOSAIC"):
        RunRegistry(tmp_path)
    assert (tmp_path / FILE).read_bytes() == before


def test_a_place_that_cannot_hold_it_is_named(tmp_path: Path) -> None:
    (tmp_path / FILE).mkdir()
    with pytest.raises(UsageError, match="cannot be used: Is a directory"):
        RunRegistry(tmp_path)


def test_a_line_that_cannot_be_read_hides_no_other(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    registry = RunRegistry(tmp_path)
    registry.put(a_run("good"))
    registry.put(a_run("bad"))
    db = sqlite3.connect(tmp_path / FILE)
    db.execute("UPDATE runs SET record = '{\"seed\": 1}' WHERE run_id = 'bad'")
    db.commit()
    db.close()
    assert [record.run_id for record, _ in registry.runs()] == ["good"]
    assert "run bad of the registry cannot be read" in caplog.text
    registry.close()


def test_records_survive_json() -> None:
    run = a_run(limits=RunLimits(gpus=2), remaining_s=None, settings={"a": {"b": [1.5]}})
    assert record_from_data(json.loads(json.dumps(record_to_data(run)))) == run


async def test_the_folder_of_somebody_else_is_left_alone_whatever_the_registry_says(tmp_path: Path) -> None:
    store = Store(data=tmp_path / "data", cache=tmp_path / "cache", runtime=tmp_path / "r")
    mine = tmp_path / "mine"
    mine.mkdir()
    registry = RunRegistry(store.data_dir("training"))
    registry.put(a_run("r1", state="completed", folder=mine))
    registry.close()
    keeper = Trainer(store, Machine((0,), 1000))
    await keeper.start()
    await keeper.remove("r1")
    await keeper.close()
    assert mine.is_dir()


async def test_a_trash_that_is_missing_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(folder: Path) -> None:
        raise MissingDependencyError("the trash", "pip install it")

    monkeypatch.setattr(trainer, "move_to_trash", none)  # a machine without a desktop
    store = Store(data=tmp_path / "data", cache=tmp_path / "cache", runtime=tmp_path / "r")
    trainings = store.data_dir("training")
    folder = trainings / "r1"
    folder.mkdir()
    (folder / "policy.json").write_text("{}")
    registry = RunRegistry(trainings)
    registry.put(a_run("r1", state="completed", folder=folder))
    registry.close()
    keeper = Trainer(store, Machine((0,), 1000))
    await keeper.start()
    await keeper.remove("r1")
    await keeper.close()
    assert not folder.exists() and keeper.runs() == []
    assert (trainings / "removed" / "r1" / "policy.json").read_text() == "{}"
