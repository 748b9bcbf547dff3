"""Trainings that somebody started elsewhere on this machine, and that make themselves known."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from gym_gui.core.errors import UsageError
from gym_gui.services.trainer.reading import numbers
from gym_gui.services.trainer.records import RunLimits, TrainingRecord
from gym_gui.services.trainer.registry import RunPlan

EVERY_S = 10.0
"""Seconds between two heartbeats, where it does not say."""
MISSED = 3
"""Heartbeats that may be missed."""

_STATES = ("running", "paused", "completed", "stopped", "failed")


@dataclass(frozen=True)
class Sign:
    """What a heartbeat says.

    Attributes:
        state: Where it says it stands, or empty.
        reason: Why.
        numbers: How far it is, by the record's names.
    """

    state: Any
    reason: str
    numbers: Mapping[str, Any]


def registration(data: Mapping[str, Any], folder: Path, run_id: str) -> tuple[TrainingRecord, RunPlan]:
    """The record of a training that makes itself known.

    Args:
        data: What it says of itself (``WorkerRegistration`` in trainer.proto).
        folder: Where run folders are, for one that has none of its own.
        run_id: Its id.

    Raises:
        UsageError: What it says is not enough, or makes no sense; names the field.
    """
    algorithm, env_id = _text(data, "algorithm", needed=True), _text(data, "env_id", needed=True)
    own = _text(data, "folder")
    if own and not Path(own).is_absolute():
        raise UsageError(f"folder is {own!r}, but must be an absolute path")
    every_s = _number(data, "every_s", EVERY_S)
    if not 0.1 <= every_s <= 3600:
        raise UsageError(f"every_s is {every_s:g}, but must be from 0.1 to 3600 seconds")
    pid = int(_number(data, "pid", 0))
    if pid and not _exists(pid):
        raise UsageError(f"pid is {pid}, but this machine has no such process", fix="Leave it out")
    settings = data.get("settings", {})
    if not isinstance(settings, dict):
        raise UsageError("settings must be a JSON object")
    now = time.time()
    record = TrainingRecord(
        run_id,
        _text(data, "worker") or "elsewhere",
        algorithm,
        env_id,
        int(_number(data, "seed", 0)),
        Path(own) if own else folder / run_id,
        now,
        title=_text(data, "title"),
        settings=cast("dict[str, Any]", settings),
        state="running",
        started_at=now,
        external=True,
        limits=RunLimits(cpu_cores=max(int(_number(data, "cpu_cores", 1)), 0)),
    )
    return replace(record, **numbers(data)), RunPlan(every_s=every_s, pid=pid)


def sign_of(data: Mapping[str, Any]) -> Sign:
    """A heartbeat.

    Raises:
        UsageError: It makes no sense.
    """
    state = _text(data, "state")
    if state and state not in _STATES:
        raise UsageError(f"state is {state!r}, but must be one of {', '.join(_STATES)}")
    return Sign(state, _text(data, "reason"), numbers(data))


def after_sign(record: TrainingRecord, sign: Sign) -> TrainingRecord:
    """A record after a heartbeat; the end of a training is not its matter."""
    changes: dict[str, Any] = dict(sign.numbers)
    if sign.state in ("running", "paused") and record.state != "stopping":
        changes |= {"state": sign.state, "reason": sign.reason}
    return replace(record, **changes)


def overdue(silent_s: float, plan: RunPlan) -> str:
    """Why such a training must be given up; empty where it need not."""
    if plan.pid and not _exists(plan.pid):
        return f"its process {plan.pid} has ended without a word"
    if silent_s > MISSED * plan.every_s:
        return f"no sign for {silent_s:.0f} s"
    return ""


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return pid < 2**31
    return True


def _text(data: Mapping[str, Any], name: str, *, needed: bool = False) -> str:
    value = data.get(name, "")
    if not isinstance(value, str) or (needed and not value):
        raise UsageError(f"{name} must be a text", fix="It is needed" if needed else "Or leave it out")
    return value


def _number(data: Mapping[str, Any], name: str, default: float) -> float:
    value = data.get(name, default)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) < 1e15:
        raise UsageError(f"{name} must be a number", fix="Or leave it out")
    return value
