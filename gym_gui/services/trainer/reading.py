"""Applies the events of a training to its record."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gym_gui.services.trainer.training_folder import POLICY
from gym_gui.services.trainer.training_records import TrainingRecord

_COUNTED = ("step", "total_steps", "episodes", "steps_per_s", "elapsed_s")
_MAYBE = ("mean_return", "remaining_s")
_STATES = {"start": "running", "resumed": "running", "paused": "paused"}


def after_event(record: TrainingRecord, event: Mapping[str, Any]) -> TrainingRecord:
    """Return the record after an event of its training (:class:`mosaic_worker.training.TrainingRun`).

    Invalid numbers are ignored, so that the record stays valid whatever a worker writes.
    """
    name = str(event.get("event", ""))
    changes = _numbers(event)
    if "mean_return" in changes:
        changes["evaluated"] = False
    if name in _STATES and record.state != "stopping":
        changes["state"] = _STATES[name]
    if name == "paused":
        changes["steps_per_s"] = 0.0
    elif name == "warning":
        changes["warning"] = str(event.get("message", ""))
    elif name == "video":
        changes["video"] = str(record.folder / str(event.get("file", "")))
    elif name == "done":
        changes |= {"remaining_s": 0.0, "steps_per_s": record.steps_per_s}
        if changes.get("mean_return") is None:
            changes.pop("mean_return", None)
        else:
            changes["evaluated"] = True
    if name in ("start", "checkpoint", "done") and (record.folder / POLICY).exists():
        changes["policy"] = str(record.folder)
    return replace(record, **changes) if changes else record


def _numbers(event: Mapping[str, Any]) -> dict[str, Any]:
    """Return the valid numbers in an event, by field of the record."""
    found: dict[str, Any] = {}
    for name in _COUNTED:
        value = _number(event.get(name))
        if value is not None and value >= 0:
            found[name] = value if name in ("steps_per_s", "elapsed_s") else int(value)
    for name in _MAYBE:
        if name in event:
            found[name] = _number(event[name])
    return found


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return None
    return min(float(value), 1e15)
