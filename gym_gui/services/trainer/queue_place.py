"""What a run's folder says of its place in the queue, so that it does not stand in the registry alone.

``queue.json`` is the trainer's: when the run was submitted, with what priority, whether a person
keeps it from starting, and whether it was cancelled. It is on the disk before a client is answered.
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
class Place:
    """A run's place in the queue, also after its turn has come.

    Attributes:
        submitted_at: Unix time.
        priority: Higher runs first.
        resume: Whether it resumes the training that its folder holds.
        held: The user keeps it from starting.
        cancelled_at: Unix time at which it was asked to end; 0: it was not.
    """

    submitted_at: float
    priority: int = 0
    resume: bool = False
    held: bool = False
    cancelled_at: float = 0.0


def keep_place(folder: RunFolder, place: Place) -> None:
    """Write it down, for good once this returns.

    Raises:
        OSError: The folder cannot be written.
    """
    folder.write(QUEUE, {"format_version": 1, **asdict(place)})
    handle = os.open(folder.path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)  # the file is written; that it has this name, only now
    finally:
        os.close(handle)


def place_of(folder: RunFolder) -> Place | None:
    """The place of a run, ``None`` where its folder does not say.

    Raises:
        RunFormatError: What it says makes no sense.
    """
    row = folder.read(QUEUE)
    if row is None:
        return None
    known = {name: row[name] for name in Place.__dataclass_fields__ if name in row}
    for name, value in known.items():
        kinds = bool if name in ("resume", "held") else int if name == "priority" else (int, float)
        if not isinstance(value, kinds) or (kinds is not bool and isinstance(value, bool)):
            raise RunFormatError(str(folder / QUEUE), f"{name!r} makes no sense")
    if "submitted_at" not in known:
        raise RunFormatError(str(folder / QUEUE), "'submitted_at' is missing")
    return Place(**known)


def was_cancelled(folder: RunFolder) -> bool:
    """Whether the run of a folder was asked to end, and was not resumed in the foreground since.

    Raises:
        RunFormatError: What its folder says makes no sense.
    """
    place = place_of(folder)
    if place is None or not place.cancelled_at:
        return False
    runner: Mapping[str, Any] = folder.read(RUNNER) or {}
    return not (runner.get("tied") and float(runner.get("started_at", 0.0)) > place.cancelled_at)
