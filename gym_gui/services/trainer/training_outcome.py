"""Determines from the files in a run folder how a training ended."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from gym_gui.core.errors import RunFormatError
from gym_gui.processes.identity import boot
from gym_gui.processes.outcome import from_code
from gym_gui.services.trainer.file_follower import Follower
from gym_gui.services.trainer.training_folder import EVENTS, EXIT, RunFolder

_STOPPED_BY = ("asked", "killed", "tie", "duration")
_LAST = 1 << 18
"""Number of bytes at the end of the events that are searched for a training's last events."""


@dataclass(frozen=True)
class TrainingOutcome:
    """Outcome of a training that has ended.

    Attributes:
        state: ``completed``, ``stopped`` before its last step, or ``failed``.
        reason: Reason for the state as a sentence without a full stop; empty if there is none.
        refused: Whether the worker refused the request, so that nothing was trained.
        step: Environment steps trained; 0 if the training reported none.
        mean_return: Mean return of the evaluation after a completed training, if there was one.
        wall_s: Duration in seconds.
        cpu_s: Processor time of all its processes in seconds; 0 if the runner could not record it.
        max_memory_mb: Largest measured resident memory of all its processes together, in MB.
        ended_at: Unix time of its end; ``None`` if the runner could not record it.
    """

    state: Literal["completed", "stopped", "failed"]
    reason: str = ""
    refused: bool = False
    step: int = 0
    mean_return: float | None = None
    wall_s: float = 0.0
    cpu_s: float = 0.0
    max_memory_mb: float = 0.0
    ended_at: float | None = None


def read_outcome(folder: RunFolder, runner: Mapping[str, Any]) -> TrainingOutcome:
    """Return the outcome of the training that a runner watched, given the content of ``runner.json``."""
    try:
        ended = folder.read(EXIT)
    except RunFormatError:
        ended = None
    last = _last_events(folder.path / EVENTS, int(runner.get("events_at", 0)))
    done, error, step = last.get("done"), last.get("error"), _step(last)
    if ended is None:
        ended = {"reason": _unwatched(runner)}
    facts: dict[str, Any] = {
        "step": step,
        "wall_s": float(ended.get("wall_s") or 0.0),
        "cpu_s": float(ended.get("cpu_s") or 0.0),
        "max_memory_mb": float(ended.get("max_memory_mb") or 0.0),
        "ended_at": ended.get("ended_at"),
    }
    cause, reason = str(ended.get("cause", "")), str(ended.get("reason", ""))
    if done is not None:
        state = "completed" if done.get("status") == "completed" else "stopped"
        mean = done.get("mean_return")
        facts["wall_s"] = float(done.get("wall_s") or facts["wall_s"])
        return TrainingOutcome(state, "" if state == "completed" else reason, mean_return=mean, **facts)
    status = ended.get("status")
    said = str(error["message"]) if error is not None and "message" in error else ""
    if status == 2:
        return TrainingOutcome("failed", said or _ending_words(folder, ended), refused=True, **facts)
    if cause in _STOPPED_BY or status == 130:
        return TrainingOutcome("stopped", reason, **facts)
    if cause == "memory" or (cause == "disk" and (not said or os.strerror(errno.ENOSPC) in said)):
        return TrainingOutcome("failed", reason, **facts)  # clearer than the training's own message
    return TrainingOutcome("failed", said or reason or _ending_words(folder, ended), **facts)


def _last_events(path: Path, begin: int) -> dict[str, dict[str, Any]]:
    """Return the last event of each name since this training was started."""
    try:
        size = path.stat().st_size
    except OSError:
        return {}
    # If reading begins in the middle of a line, the follower skips it as damaged.
    follower = Follower(path, max(min(begin, size), size - _LAST))
    return {str(row.get("event")): row for row in follower.read(_LAST)}


def _step(last: Mapping[str, Mapping[str, Any]]) -> int:
    return max((int(row["step"]) for row in last.values() if isinstance(row.get("step"), int)), default=0)


def _ending_words(folder: RunFolder, ended: Mapping[str, Any]) -> str:
    if ended.get("status") is None:
        return str(ended.get("reason", ""))
    outcome = from_code(int(ended["status"]), (folder.last_log_line(),))
    return f"{outcome.words}, but never reported that it was done" if outcome.succeeded else outcome.words


def _unwatched(runner: Mapping[str, Any]) -> str:
    began_in = str(runner.get("born", "")).partition("/")[0]
    if boot() and began_in and began_in != boot():
        return "the machine was switched off or restarted while it ran"
    return "was killed together with the process that watched it"
