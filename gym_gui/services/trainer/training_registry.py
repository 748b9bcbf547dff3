"""SQLite registry of all training runs and of their changes of state."""

from __future__ import annotations

import json
import logging
import os
import sqlite3
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from gym_gui.core.errors import UsageError
from gym_gui.services.trainer.training_records import TrainingRecord, record_from_data, record_to_data
from mosaic_worker.plain_files import open_file

_log = logging.getLogger(__name__)

FILE = "registry.sqlite"

MIGRATIONS = (
    """
    CREATE TABLE runs (
        run_id TEXT PRIMARY KEY,
        state TEXT NOT NULL,
        submitted_at REAL NOT NULL,
        record TEXT NOT NULL,
        plan TEXT NOT NULL DEFAULT '{}'
    ) STRICT;
    CREATE INDEX runs_by_state ON runs (state);
    """,
    """
    CREATE TABLE changes (
        run_id TEXT NOT NULL REFERENCES runs (run_id) ON DELETE CASCADE,
        t REAL NOT NULL,
        state TEXT NOT NULL,
        reason TEXT NOT NULL
    ) STRICT;
    CREATE INDEX changes_by_run ON changes (run_id, t);
    INSERT INTO changes
        SELECT run_id, submitted_at, state, coalesce(json_extract(record, '$.reason'), '') FROM runs;
    """,
)
"""Scripts that migrate the file from one version (``user_version``) to the next. Only append to it."""


@dataclass(frozen=True)
class RunPlan:
    """Values needed to start a run that are not in its record.

    Attributes:
        resume: Whether the run resumes the training in its folder.
        cores: Numbers of the cores that it was given.
    """

    resume: bool = False
    cores: tuple[int, ...] = ()


@dataclass(frozen=True)
class Change:
    """A change of a training run's state, with Unix time and reason."""

    t: float
    state: str
    reason: str


class RunRegistry:
    """Registry of training runs on disk. Use it from one thread.

    Args:
        folder: Folder of the registry's file.

    Attributes:
        damage: A sentence if the file was damaged and moved aside; else empty.

    Raises:
        UsageError: The file is from a newer MOSAIC, or cannot be written.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE
        self.damage = ""
        try:
            self._db = _opened(self.path)
        except sqlite3.OperationalError as error:  # locked, read-only or disk full; the file may be intact
            raise UsageError(f"{self.path} cannot be used: {error}") from error
        except OSError as error:
            raise UsageError(f"{self.path} cannot be used: {error.strerror}") from error
        except sqlite3.DatabaseError as error:
            aside = _moved_aside(self.path)
            self.damage = f"the registry of runs was damaged ({error}) and is now {aside}"
            _log.warning("%s", self.damage)
            self._db = _opened(self.path)

    def put(self, record: TrainingRecord, plan: RunPlan | None = None) -> None:
        """Save a run's record. A new state or reason is also saved with the time.

        Raises:
            sqlite3.Error: The file cannot be written, for example because the disk is full.
        """
        with self._db:
            before = self._db.execute(
                "SELECT state, json_extract(record, '$.reason') FROM runs WHERE run_id = ?", (record.run_id,)
            ).fetchone()
            self._db.execute(
                "INSERT INTO runs (run_id, state, submitted_at, record, plan) VALUES (?, ?, ?, ?, ?)"
                " ON CONFLICT (run_id) DO UPDATE SET state = excluded.state, record = excluded.record"
                + (", plan = excluded.plan" if plan is not None else ""),
                (
                    record.run_id,
                    record.state,
                    record.submitted_at,
                    json.dumps(record_to_data(record)),
                    json.dumps(asdict(plan or RunPlan())),
                ),
            )
            if before != (record.state, record.reason):
                self._db.execute(
                    "INSERT INTO changes VALUES (?, ?, ?, ?)",
                    (record.run_id, time.time(), record.state, record.reason),
                )

    def runs(self) -> Iterator[tuple[TrainingRecord, RunPlan]]:
        """Yield every run, oldest first. Rows that cannot be read are skipped and logged."""
        rows = self._db.execute("SELECT run_id, record, plan FROM runs ORDER BY submitted_at, run_id")
        for run_id, record, plan in rows.fetchall():
            try:
                yield record_from_data(json.loads(record)), _plan(json.loads(plan))
            except (TypeError, ValueError) as error:
                _log.warning("run %s of the registry cannot be read: %s", run_id, error)

    def changes(self, run_id: str) -> list[Change]:
        """Return the changes of a run's state, oldest first."""
        rows = self._db.execute(
            "SELECT t, state, reason FROM changes WHERE run_id = ? ORDER BY rowid", (run_id,)
        )
        return [Change(*row) for row in rows]

    def remove(self, run_id: str) -> None:
        """Delete a run and its changes."""
        with self._db:
            self._db.execute("DELETE FROM runs WHERE run_id = ?", (run_id,))

    def close(self) -> None:
        """Close the file."""
        self._db.close()


def _plan(data: dict[str, Any]) -> RunPlan:
    known: dict[str, Any] = {k: data[k] for k in RunPlan.__dataclass_fields__ if k in data}
    known["cores"] = tuple(known.get("cores", ()))
    return RunPlan(**known)


def _opened(path: Path) -> sqlite3.Connection:
    # SQLite gives the files beside the database the same mode.
    with open_file(path, "ab", permissions=0o600) as file:
        os.fchmod(file.fileno(), 0o600)
    db = sqlite3.connect(path, timeout=10.0)
    try:
        db.execute("PRAGMA journal_mode = WAL")
        # A power cut may lose the latest changes but not the file. The run folders contain the rest.
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute("PRAGMA foreign_keys = ON")
        found = [row[0] for row in db.execute("PRAGMA quick_check")]
        if found != ["ok"]:
            raise sqlite3.DatabaseError(str(found[0]).splitlines()[-1])
        _migrate(db, path)
    except BaseException:
        db.close()
        raise
    return db


def _migrate(db: sqlite3.Connection, path: Path) -> None:
    version = int(db.execute("PRAGMA user_version").fetchone()[0])
    if version > len(MIGRATIONS):
        raise UsageError(
            f"{path} was written by a newer MOSAIC (version {version}, this one knows {len(MIGRATIONS)})",
            fix="Update MOSAIC, or set MOSAIC_DATA_DIR to another folder",
        )
    for number, script in enumerate(MIGRATIONS[version:], version + 1):
        # One transaction per step, so that an interrupted step leaves the earlier version.
        db.executescript(f"BEGIN IMMEDIATE;{script};PRAGMA user_version = {number};COMMIT;")


def _moved_aside(path: Path) -> Path:
    stamp = time.strftime("%Y%m%d-%H%M%S")
    aside = path.with_name(f"{path.name}.damaged-{stamp}")
    for ending in ("", "-wal", "-shm"):
        part = path.with_name(path.name + ending)
        if part.exists():
            part.rename(aside.with_name(aside.name + ending))
    return aside
