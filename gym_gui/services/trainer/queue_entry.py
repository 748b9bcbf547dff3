"""Stores a run's queue entry in its run folder, in case the registry is lost.

``queue.json`` belongs to the trainer. It contains the time of submission, the priority, and whether the run
was paused or cancelled. It is on the disk before a client gets an answer.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from gym_gui.core.errors import RunFormatError
from gym_gui.services.trainer.training_folder import QUEUE, RUNNER, RunFolder

CANCELLED = "cancelled before it began"
HELD = "paused before it began"


@dataclass(frozen=True)
class QueueEntry:
    """Queue entry of a run, kept after the run has started.

    Attributes:
        submitted_at: Unix time of the submission.
        priority: Runs with a higher priority start first.
        resume: Whether the run resumes the training in its folder.
        held: Whether the user has paused it before its start.
        cancelled_at: Unix time of its cancellation; 0 if it was not cancelled.
    """

    submitted_at: float
    priority: int = 0
    resume: bool = False
    held: bool = False
    cancelled_at: float = 0.0


def write_entry(folder: RunFolder, place: QueueEntry) -> None:
    """Write the queue entry of a run to its folder. It is on disk when this returns.

    Raises:
        OSError: The folder cannot be written.
    """
    folder.write(QUEUE, {"format_version": 1, **asdict(place)})
    handle = os.open(folder.path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)  # the file is on disk already; this makes its name permanent
    finally:
        os.close(handle)


def place_of(folder: RunFolder) -> QueueEntry | None:
    """Return the queue entry of a run, or ``None`` if its folder has no such file.

    Raises:
        RunFormatError: The file is invalid.
    """
    row = folder.read(QUEUE)
    if row is None:
        return None
    known = {name: row[name] for name in QueueEntry.__dataclass_fields__ if name in row}
    for name, value in known.items():
        kinds = bool if name in ("resume", "held") else int if name == "priority" else (int, float)
        if not isinstance(value, kinds) or (kinds is not bool and isinstance(value, bool)):
            raise RunFormatError(str(folder / QUEUE), f"{name!r} has an invalid value")
    if "submitted_at" not in known:
        raise RunFormatError(str(folder / QUEUE), "'submitted_at' is missing")
    return QueueEntry(**known)


def was_cancelled(folder: RunFolder) -> bool:
    """Return whether a run was cancelled and has not been resumed in the foreground since.

    Raises:
        RunFormatError: The file in its folder is invalid.
    """
    place = place_of(folder)
    if place is None or not place.cancelled_at:
        return False
    runner: Mapping[str, Any] = folder.read(RUNNER) or {}
    return not (runner.get("tied") and float(runner.get("started_at", 0.0)) > place.cancelled_at)
