"""The status line's trainings: counted where a daemon keeps them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from gym_gui.services.store import Store
from gym_gui.services.trainer.daemon_address import DaemonLock
from gym_gui.services.trainer.training_registry import RunRegistry
from gym_gui.services.trainings.training_counts import Trainings, trainings

STATES = ("starting", "running", "running", "paused", "queued", "completed", "failed", "stopping")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(data=tmp_path / "data", runs=tmp_path / "runs", cache=tmp_path / "cache")


@pytest.fixture
def kept(store: Store) -> Iterator[Path]:
    """A registry with a run in each of these states."""
    folder = store.data_dir("training")
    registry = RunRegistry(folder)
    with sqlite3.connect(registry.path) as db:
        rows = [(str(n), state, float(n), json.dumps({})) for n, state in enumerate(STATES)]
        db.executemany("INSERT INTO runs (run_id, state, submitted_at, record) VALUES (?, ?, ?, ?)", rows)
    db.close()
    for row in rows:
        (folder / row[0]).mkdir()
    yield registry.path
    registry.close()


def test_they_are_counted_by_where_they_stand(store: Store, kept: Path) -> None:
    assert trainings(store) == Trainings(), "without a daemon it is unknown what still runs"
    place = DaemonLock(store)
    try:
        place.announce("0")
        assert trainings(store) == Trainings(running=4, paused=1, waiting=1)
    finally:
        place.release()
    assert trainings(store) == Trainings()


def test_a_registry_that_cannot_be_read_is_said(store: Store, kept: Path) -> None:
    place = DaemonLock(store)
    try:
        place.announce("0")
        kept.write_bytes(b"no database at all " * 200)
        for part in ("-wal", "-shm"):
            kept.with_name(kept.name + part).unlink(missing_ok=True)
        with pytest.raises(OSError, match=r"registry\.sqlite cannot be read"):
            trainings(store)
    finally:
        place.release()


def test_without_a_data_folder_there_are_none_and_none_is_made(store: Store) -> None:
    assert trainings(store) == Trainings() and not store.data.exists()


@pytest.mark.parametrize(
    ("counted", "words"),
    [
        (Trainings(), ""),
        (Trainings(1, 2, 3), "1 training running"),
        (Trainings(2), "2 trainings running"),
        (Trainings(0, 1, 3), "1 training paused"),
        (Trainings(0, 0, 3), "3 trainings waiting"),
    ],
)
def test_words(counted: Trainings, words: str) -> None:
    assert counted.words == words
