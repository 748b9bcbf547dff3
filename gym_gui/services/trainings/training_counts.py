"""Counts the trainings that are not over in the trainer daemon's registry, without asking a process."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from typing import Final

from gym_gui.services.store import Store

_GOING: Final = ("starting", "running", "stopping")
_COUNT: Final = """
    SELECT state, count(*) FROM runs
    WHERE state IN ('starting', 'running', 'stopping', 'paused', 'queued') GROUP BY state
"""


@dataclass(frozen=True, slots=True)
class Trainings:
    """Numbers of trainings that are not over.

    Attributes:
        running: Number of trainings that start, run or stop.
        paused: Number of paused trainings.
        waiting: Number of trainings in the queue.
    """

    running: int = 0
    paused: int = 0
    waiting: int = 0

    @property
    def words(self) -> str:
        """The first of the running, paused or waiting trainings in words, such as ``2 trainings running``."""
        for number, state in (
            (self.running, "running"),
            (self.paused, "paused"),
            (self.waiting, "waiting"),
        ):
            if number:
                return f"{number} training {state}" if number == 1 else f"{number} trainings {state}"
        return ""


def trainings(store: Store) -> Trainings:
    """Count the trainings. Without a daemon all counts are 0, because no process updates the registry.

    Raises:
        OSError: The data folder cannot be read.
    """
    folder = store.data / "training"
    if not folder.is_dir() or not any(entry.is_dir() for entry in folder.iterdir()):
        return Trainings()
    # Import these modules only if the user trains: every training has a folder from its submission on.
    import sqlite3

    from gym_gui.services.trainer.daemon_address import find
    from gym_gui.services.trainer.training_registry import FILE

    file = folder / FILE
    if find(store) is None or not file.exists():
        return Trainings()
    try:
        with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True, timeout=1.0)) as db:
            counts = dict[str, int](db.execute(_COUNT).fetchall())
    except sqlite3.Error as error:
        raise OSError(f"{file} cannot be read: {error}") from error
    going = sum(counts.get(state, 0) for state in _GOING)
    return Trainings(going, counts.get("paused", 0), counts.get("queued", 0))
