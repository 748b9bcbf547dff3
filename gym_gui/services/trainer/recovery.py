"""Recovers runs that the registry lacks, because it was damaged, deleted or replaced, from their folders."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from gym_gui.core.errors import MosaicError, RunFormatError, UsageError
from gym_gui.core.formats import check_format
from gym_gui.services.trainer.file_follower import Follower
from gym_gui.services.trainer.queue_entry import CANCELLED, HELD, QueueEntry, place_of, was_cancelled
from gym_gui.services.trainer.reading import after_event
from gym_gui.services.trainer.request import REQUEST_FORMAT
from gym_gui.services.trainer.training_folder import EVENTS, REQUEST, RunFolder
from gym_gui.services.trainer.training_process import TrainingProcess
from gym_gui.services.trainer.training_records import DEFAULT_LIMITS, RunLimits, TrainingRecord
from gym_gui.services.trainer.training_registry import RunPlan

_log = logging.getLogger(__name__)


def recover_runs(folder: Path, known: Collection[str], why: str) -> list[tuple[TrainingRecord, RunPlan]]:
    """Return the runs that the registry lacks and whose folders contain their request.

    Args:
        folder: Folder of the run folders.
        known: Ids of the runs in the registry.
        why: What happened to the registry. It becomes part of the reason of queued runs.
    """
    found: list[tuple[TrainingRecord, RunPlan]] = []
    for path in sorted(folder.iterdir()):
        if path.name in known or path.is_symlink() or not path.is_dir():
            continue
        try:
            asked = RunFolder(path).read(REQUEST)
            if asked is not None:
                found.append(_recovered(path, asked, why))
        except (MosaicError, OSError, KeyError, TypeError, ValueError) as error:
            _log.warning("the run in %s could not be recovered: %s", path, error)
    return found


def _recovered(path: Path, asked: Mapping[str, Any], why: str) -> tuple[TrainingRecord, RunPlan]:
    folder = RunFolder(path)
    check_format(str(path / REQUEST), asked.get("format_version"), REQUEST_FORMAT)
    place = place_of(folder) or QueueEntry((path / REQUEST).stat().st_mtime)
    plan = RunPlan(resume=place.resume)
    limits, problem = _limits(asked)
    record = TrainingRecord(
        path.name,
        str(asked["worker"]),
        str(asked["algorithm"]),
        str(asked["env_id"]),
        int(asked["seed"]),
        path,
        place.submitted_at,
        title=str(asked.get("title", "")),
        group=str(asked.get("group", "")),
        settings=cast("dict[str, Any]", asked.get("given") or {}),
        priority=place.priority,
        limits=limits,
    )
    process = _process(path)
    # A process that started before the latest submission belongs to an earlier training.
    if process is None or process.started_at < place.submitted_at:
        return _not_begun(record, place, problem, why), plan
    return _begun(record, process), plan


def _limits(asked: Mapping[str, Any]) -> tuple[RunLimits, str]:
    """Return the limits of a run, or the default limits and why the run's own are invalid."""
    try:
        return RunLimits.from_data(asked.get("limits")), ""
    except UsageError as error:
        return DEFAULT_LIMITS, error.message


def _not_begun(record: TrainingRecord, place: QueueEntry, problem: str, why: str) -> TrainingRecord:
    """Return the record of a run that has not begun: cancelled, failed, paused or queued."""
    if was_cancelled(RunFolder(record.folder)):
        return replace(record, state="stopped", reason=CANCELLED, ended_at=place.cancelled_at)
    if problem:
        reason = f"its {REQUEST} is invalid: {problem}"
        return replace(record, state="failed", reason=reason, ended_at=place.submitted_at)
    if place.held:
        return replace(record, state="paused", reason=HELD)
    return replace(record, state="queued", reason=f"recovered: {why}")


def _begun(record: TrainingRecord, process: TrainingProcess) -> TrainingRecord:
    folder = process.folder
    events = Follower(folder / EVENTS)
    while rows := events.read():
        for row in rows:
            record = after_event(record, row)
    record = replace(record, started_at=process.started_at)
    outcome = process.outcome()
    if outcome is not None:
        return replace(
            record,
            state=outcome.state,
            reason=outcome.reason,
            step=max(record.step, outcome.step),
            mean_return=record.mean_return if outcome.mean_return is None else outcome.mean_return,
            evaluated=record.evaluated or outcome.mean_return is not None,
            policy=str(folder.path) if folder.holds_policy else "",
            ended_at=outcome.ended_at or process.started_at,
        )
    if was_cancelled(folder):
        return replace(record, state="stopping", reason="asked to stop")
    return record if record.state == "paused" else replace(record, state="running")


def _process(path: Path) -> TrainingProcess | None:
    try:
        return TrainingProcess.attach(path)
    except RunFormatError:
        raise
    except MosaicError:
        return None
