"""Runs found again from their folders, where the registry was damaged."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from gym_gui.core.errors import MosaicError, RunFormatError
from gym_gui.services.trainer.folder import EVENTS, REQUEST, Follower, RunFolder
from gym_gui.services.trainer.process import TrainingProcess
from gym_gui.services.trainer.reading import after_event
from gym_gui.services.trainer.records import RunLimits, RunRecord

_log = logging.getLogger(__name__)


def found_again(folder: Path, why: str) -> list[RunRecord]:
    """Every run whose folder says what it was.

    Args:
        folder: Where run folders are.
        why: What happened to the registry, for the reasons of runs that nobody knows the end of.
    """
    found: list[RunRecord] = []
    for place in sorted(folder.iterdir()):
        try:
            asked = RunFolder(place).read(REQUEST) if place.is_dir() else None
            if asked is not None:
                found.append(_record(place, asked, why))
        except (MosaicError, OSError, KeyError, TypeError, ValueError) as error:
            _log.warning("the run in %s could not be found again: %s", place, error)
    return found


def _record(place: Path, asked: Mapping[str, Any], why: str) -> RunRecord:
    limits = asked.get("limits")
    known = cast("dict[str, Any]", limits) if isinstance(limits, dict) else {}
    process = _process(place)
    began = (place / REQUEST).stat().st_mtime
    record = RunRecord(
        place.name,
        str(asked["worker"]),
        str(asked["algorithm"]),
        str(asked["env_id"]),
        int(asked["seed"]),
        place,
        began,
        title=str(asked.get("title", "")),
        settings=cast("dict[str, Any]", asked.get("given") or {}),
        limits=RunLimits(**{k: known[k] for k in RunLimits.__dataclass_fields__ if k in known}),
        started_at=began,
    )
    events = Follower(place / EVENTS)
    while rows := events.read():
        for row in rows:
            record = after_event(record, row)
    if process is None:
        return replace(record, state="queued", reason=f"found again: {why}", started_at=None)
    outcome = process.outcome()
    record = replace(record, started_at=process.started_at)
    if outcome is None:
        return record if record.state == "paused" else replace(record, state="running")
    ended = outcome.ended_at or process.started_at
    return replace(record, state=outcome.state, reason=outcome.reason, ended_at=ended)


def _process(place: Path) -> TrainingProcess | None:
    try:
        return TrainingProcess.attach(place)
    except RunFormatError:
        raise
    except MosaicError:
        return None
