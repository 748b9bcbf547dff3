"""Checks whether a training can be carried out, before it is queued."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gym_gui.core.errors import MissingDependencyError, UsageError
from gym_gui.services.compatibility import known_paradigm
from gym_gui.services.trainer.request import TrainRequest
from gym_gui.services.trainer.training_folder import POLICY, RunFolder
from gym_gui.services.trainer.training_records import RunLimits, TrainingRecord
from gym_gui.services.trainer.training_registry import RunPlan
from gym_gui.services.trainer.training_settings import usual_algorithm
from gym_gui.services.worker_orchestrator import UnifiedRunConfig, WorkerOrchestrator
from gym_gui.workers.discovery import discover
from gym_gui.workers.gpus import detected_gpus
from gym_gui.workers.registry import WorkerTypeDefinition, WorkerTypeRegistry
from gym_gui.workers.status import check_installed


@dataclass(frozen=True)
class AdmittedRun:
    """A training run that has passed the checks.

    Attributes:
        request: Request for the worker.
        settings: The worker's settings that the user has given.
        limits: Resources that the run may use, with the number of GPUs decided.
    """

    request: TrainRequest
    settings: Mapping[str, Any]
    limits: RunLimits

    def record(self, run_id: str, folder: Path) -> TrainingRecord:
        """Return the record of a new run."""
        r = self.request
        about = (run_id, r.definition.type_id, r.algo, r.env_id, r.seed, folder)
        return TrainingRecord(*about, time.time(), group=r.group)


class Admission:
    """Checks training runs. Its methods take up to a second and may be called from any thread.

    Attributes:
        gpus: GPU devices of this machine.
    """

    def __init__(self) -> None:
        self.gpus = detected_gpus()

    def admit(
        self,
        config: UnifiedRunConfig,
        folder: Path,
        limits: RunLimits,
        earlier: TrainingRecord | None = None,
        *,
        run_id: str,
        title: str = "",
        share_mb: int = 0,
    ) -> AdmittedRun:
        """Check a run, and return its request with its settings and limits.

        Args:
            config: The training to run.
            folder: The run folder.
            limits: Resources that the run may use.
            earlier: Record of the run to resume, if any.
            run_id: Id of the run.
            title: Title for people.
            share_mb: Share of the machine's memory that belongs to the run's cores.

        Raises:
            UsageError: The training is invalid. The message says what to change.
        """
        if earlier is not None:
            config = _continued(config, earlier)
        definition = self._worker(config)
        request = TrainRequest.checked(
            definition,
            algo=config.algorithm or _usual_algorithm(definition, config),
            env=_environment(config),
            seed=config.seed,
            out=folder,
            settings=config.settings,
            resume=earlier is not None,
            action=config.action_space or "",
            title=title or (earlier.title if earlier else ""),
            run_id=run_id,
            group=config.group,
        )
        limits = self._settled(limits, definition, config.settings)
        if limits.memory_mb is None:
            limits = replace(limits, memory_mb=request.memory_mb(share_mb))
        return AdmittedRun(request, dict(request.settings), limits)

    def request(self, record: TrainingRecord, plan: RunPlan) -> TrainRequest:
        """Return the request for the worker of a run that is about to start.

        Raises:
            UsageError: The training can no longer be carried out.
        """
        definition = self._worker(UnifiedRunConfig(record.env_id, worker_type=record.worker_id))
        return TrainRequest.checked(
            definition,
            algo=record.algorithm,
            env=record.env_id,
            seed=record.seed,
            out=record.folder,
            settings=record.settings,
            resume=plan.resume,
            title=record.title,
            run_id=record.run_id,
            group=record.group,
        )

    def _worker(self, config: UnifiedRunConfig) -> WorkerTypeDefinition:
        registry = _workers_now()
        if config.worker_type:
            definition = registry.require(config.worker_type)
        else:
            definition = WorkerOrchestrator(registry).select_worker(config)
        status = check_installed(definition)
        if status.state == "broken":
            raise UsageError(f"worker {definition.type_id} cannot start: {status.reason}")
        if status.missing:
            lacking = ", ".join(status.missing)
            raise MissingDependencyError(f"what {definition.type_id} needs ({lacking})", status.install)
        return definition

    def _settled(
        self, limits: RunLimits, definition: WorkerTypeDefinition, settings: Mapping[str, Any]
    ) -> RunLimits:
        device = str(settings.get("device", ""))
        wanted = device.startswith("cuda")
        if wanted and not self.gpus:
            raise UsageError(
                f"device {device!r} is requested, but this machine has no GPU",
                fix="Set device to cpu or auto",
            )
        if limits.gpus is None:
            wanted = wanted or (bool(self.gpus) and definition.capabilities.requires_gpu and device != "cpu")
            limits = replace(limits, gpus=1 if wanted else 0)
        return limits


def _workers_now() -> type[WorkerTypeRegistry]:
    """Return a registry of the present workers, as workers may change during the daemon's long life."""
    fresh: dict[str, Any] = {"_types": {}, "_aliases": {}, "_broken": {}}
    registry: type[WorkerTypeRegistry] = type("WorkersNow", (WorkerTypeRegistry,), fresh)
    discover(registry)
    return registry


def _usual_algorithm(definition: WorkerTypeDefinition, config: UnifiedRunConfig) -> str:
    return usual_algorithm(definition, known_paradigm(WorkerOrchestrator().environment(config)))


def _environment(config: UnifiedRunConfig) -> str:
    """Return the environment's name, or its canonical id if the request contains hints."""
    if config.env_name is None and config.api is None:
        return config.task
    return WorkerOrchestrator().environment(config).id


def _continued(config: UnifiedRunConfig, earlier: TrainingRecord) -> UnifiedRunConfig:
    """Return the request of a resumed run, in which only settings may change."""
    if not RunFolder(earlier.folder).holds_policy:
        raise UsageError(
            f"run {earlier.run_id} has no checkpoint to resume from ({earlier.folder} holds no {POLICY})",
            fix="Start a new training",
        )
    return replace(
        config,
        task=earlier.env_id,
        env_name=None,
        api=None,
        worker_type=earlier.worker_id,
        algorithm=earlier.algorithm,
        seed=earlier.seed,
        group=earlier.group,
        settings={**earlier.settings, **config.settings},
    )
