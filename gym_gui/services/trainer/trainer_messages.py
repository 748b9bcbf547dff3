"""Converts between the daemon's protobuf messages and the trainer's data types."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from gym_gui.core.errors import UsageError
from gym_gui.services.trainer.pb import trainer_pb2 as pb
from gym_gui.services.trainer.training_records import Health, RunLimits, TrainingRecord
from gym_gui.services.worker_orchestrator import UnifiedRunConfig

PROTOCOL = 1
"""Version of the protocol. It increases when older clients or daemons become incompatible."""

_OPTIONAL = ("mean_return", "remaining_s", "started_at", "ended_at")
_PACKED = ("settings", "folder", "limits")
_PLAIN = tuple(
    name for name in TrainingRecord.__dataclass_fields__ if name not in _OPTIONAL and name not in _PACKED
)


def record_message(record: TrainingRecord) -> pb.TrainingRunState:
    """Return a training record as a protobuf message."""
    message = pb.TrainingRunState(
        **{name: getattr(record, name) for name in _PLAIN},
        settings=json.dumps(dict(record.settings)),
        folder=str(record.folder),
        limits=limits_message(record.limits),
    )
    for name in _OPTIONAL:
        value = getattr(record, name)
        if value is not None:
            setattr(message, name, value)
    return message


def record_of(message: pb.TrainingRunState) -> TrainingRecord:
    """Return the training record in a protobuf message."""
    optional: dict[str, Any] = {
        name: getattr(message, name) if message.HasField(name) else None for name in _OPTIONAL
    }
    plain: dict[str, Any] = {name: getattr(message, name) for name in _PLAIN}
    return TrainingRecord(
        **plain,
        **optional,
        settings=json.loads(message.settings or "{}"),
        folder=Path(message.folder),
        limits=limits_of(message.limits),
    )


def limits_message(limits: RunLimits) -> pb.RunQuota:
    """Return the limits of a run as a protobuf message.

    Raises:
        UsageError: A number is outside the range of the message.
    """
    try:
        quota = pb.RunQuota(
            cpu_cores=limits.cpu_cores, memory_mb=limits.memory_mb or 0, max_s=limits.max_s or 0.0
        )
        if limits.gpus is not None:
            quota.gpus = limits.gpus
    except (ValueError, TypeError) as error:
        raise UsageError(f"the limits of a run must be numbers that are not negative ({error})") from error
    return quota


def limits_of(quota: pb.RunQuota) -> RunLimits:
    """Return the limits of a run in a protobuf message.

    Raises:
        UsageError: The limits are invalid.
    """
    gpus = quota.gpus if quota.HasField("gpus") else None
    return RunLimits(quota.cpu_cores or 1, quota.memory_mb or None, gpus, quota.max_s or None)


def submit_message(
    config: UnifiedRunConfig, *, title: str, priority: int, limits: RunLimits, resume_of: str
) -> pb.SubmitRequest:
    """Return a training request as a protobuf message.

    Raises:
        UsageError: The settings are not JSON, or a number is outside the range of the message.
    """
    try:
        settings = json.dumps(dict(config.settings), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise UsageError(f"the settings of a training must be plain values ({error})") from error
    try:
        return pb.SubmitRequest(
            task=config.task,
            env_name=config.env_name or "",
            api=config.api or "",
            worker_type=config.worker_type,
            algorithm=config.algorithm,
            seed=config.seed,
            settings=settings,
            title=title,
            priority=priority,
            limits=limits_message(limits),
            resume_of=resume_of,
            action_space=config.action_space or "",
            observation_space=config.observation_space or "",
            agents=config.agents or 0,
            group=config.group,
        )
    except (TypeError, ValueError) as error:
        raise UsageError(f"the training request is invalid: {error}") from error


def config_of(request: pb.SubmitRequest) -> UnifiedRunConfig:
    """Return the training request in a protobuf message.

    Raises:
        UsageError: The settings are not a JSON object.
    """
    return UnifiedRunConfig(
        task=request.task,
        env_name=request.env_name or None,
        api=request.api or None,
        worker_type=request.worker_type,
        algorithm=request.algorithm,
        action_space=request.action_space or None,
        observation_space=request.observation_space or None,
        agents=request.agents or None,
        seed=request.seed,
        settings=_json_object(request.settings or "{}", "the settings of a training"),
        group=request.group,
    )


def _json_object(text: str, what: str) -> Mapping[str, Any]:
    """Return a JSON object that another process has sent.

    Raises:
        UsageError: The text is not a JSON object. The message names it with ``what``.
    """
    try:
        value = json.loads(text)
    except ValueError as error:
        raise UsageError(f"{what} must be a JSON object ({error})") from error
    if not isinstance(value, dict):
        raise UsageError(f"{what} must be a JSON object")
    return cast("dict[str, Any]", value)


def health_message(health: Health) -> pb.TrainerHealth:
    """Return the daemon's state as a protobuf message."""
    values: dict[str, Any] = {**vars(health), "data_folder": str(health.data_folder), "log": str(health.log)}
    return pb.TrainerHealth(protocol=PROTOCOL, **values)


def health_of(message: pb.TrainerHealth) -> Health:
    """Return the daemon's state in a protobuf message."""
    values: dict[str, Any] = {name: getattr(message, name) for name in Health.__dataclass_fields__}
    values["gpus"] = tuple(message.gpus)
    values["data_folder"], values["log"] = Path(message.data_folder), Path(message.log)
    return Health(**values)
