"""Selects a worker that can train in an environment and submits the training.

The paradigm comes from the environment. The worker is the one that the user names or the best of those
that fit. A dispatcher, which the caller passes in, starts it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from gym_gui.core.enums import SteppingParadigm
from gym_gui.core.errors import UnknownNameError, UsageError
from gym_gui.envs import EnvSpec, resolve
from gym_gui.services.compatibility import requirements_of, training_incompatibilities
from gym_gui.workers.gpus import detected_gpus
from gym_gui.workers.registry import WorkerTypeDefinition, WorkerTypeRegistry
from gym_gui.workers.status import check_installed


@dataclass(frozen=True)
class UnifiedRunConfig:
    """Configuration of a training run for any worker.

    Attributes:
        task: Environment id, or ``module:factory``.
        env_name: Environment family as a hint, or ``None``.
        api: PettingZoo interface to use, or ``None`` for the environment's native one.
        worker_type: Worker that the user has chosen; empty to select one.
        algorithm: Algorithm that the worker must support; empty for the worker's default.
        action_space: Kind of the action space (such as ``"discrete"``), or ``None`` if unknown.
        observation_space: Kind of the observation space (such as ``"box"``), or ``None`` if unknown.
        agents: Number of agents, or ``None`` if unknown.
        seed: Seed of the training.
        settings: Settings for the worker.
        group: Name of a group of trainings that differ only in their seed; empty for no group.
    """

    task: str
    env_name: str | None = None
    api: str | None = None
    worker_type: str = ""
    algorithm: str = ""
    action_space: str | None = None
    observation_space: str | None = None
    agents: int | None = None
    seed: int = 0
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    group: str = ""


class WorkerDispatcher(Protocol):
    """Interface that starts trainings, such as the client of the trainer daemon."""

    async def submit(
        self, config: UnifiedRunConfig, *, title: str = "", priority: int = 0, resume_of: str = ""
    ) -> str:
        """Queue a training whose configuration names the worker, and return the training's id."""
        ...


class WorkerOrchestrator:
    """Selects workers for training runs and submits the runs to a dispatcher.

    Args:
        registry: Registry of the workers.
        dispatcher: Starts trainings. Without a dispatcher, :meth:`submit_run` is not available.
        gpu_available: Returns whether a GPU can be used; by default, whether one is detected.
        is_installed: Returns whether a worker could start here; by default, its requirements are checked.
        find_environment: Returns the environment with a given name.
    """

    def __init__(
        self,
        registry: type[WorkerTypeRegistry] = WorkerTypeRegistry,
        dispatcher: WorkerDispatcher | None = None,
        *,
        gpu_available: Callable[[], bool] = lambda: bool(detected_gpus()),
        is_installed: Callable[[WorkerTypeDefinition], bool] | None = None,
        find_environment: Callable[..., EnvSpec] = resolve,
    ) -> None:
        self._registry = registry
        self._dispatcher = dispatcher
        self._gpu_available = gpu_available
        self._is_installed = is_installed or _is_installed
        self._find_environment = find_environment

    def environment(self, config: UnifiedRunConfig) -> EnvSpec:
        """Return the environment of a run.

        Raises:
            UsageError: The environment is unknown, or the hints contradict it.
        """
        return self._find_environment(config.task, env_name=config.env_name, api=config.api)

    def infer_paradigm(self, config: UnifiedRunConfig) -> SteppingParadigm:
        """Return how agents take turns in the environment of a run. Raises like :meth:`environment`."""
        return self.environment(config).paradigm

    def select_worker(self, config: UnifiedRunConfig) -> WorkerTypeDefinition:
        """Return the worker for a run: the user's choice, or the best worker that fits.

        The best worker is, in this order: an installed one, one whose GPU preference matches this
        machine, the first by id. Without a GPU, a worker that prefers one is still selected if no other
        worker fits.

        Raises:
            UnknownNameError: The worker that the user chose, or the algorithm, is unknown.
            UsageError: The chosen worker does not fit, or no worker does. The message says why.
        """
        if config.worker_type:
            return self._chosen(config)
        known = {name for each in self._registry.all() if each.train for name in each.train.algorithms}
        if config.algorithm and config.algorithm not in known:
            raise UnknownNameError("algorithm", config.algorithm, known)
        spec = self.environment(config)
        fitting = [
            definition
            for definition in self._registry.find_compatible(
                **requirements_of(spec),
                action_space=config.action_space,
                observation_space=config.observation_space,
                agents=config.agents,
            )
            if definition.train is not None
            and (not config.algorithm or config.algorithm in definition.train.algorithms)
        ]
        if not fitting:
            raise UsageError(f"no worker trains on {spec.id}", fix=self._why_none(config, spec))
        return min(fitting, key=self._rank)

    async def submit_run(
        self, config: UnifiedRunConfig, *, title: str = "", priority: int = 0, resume_of: str = ""
    ) -> str:
        """Select the worker and submit the training.

        Args:
            config: The training.
            title: Title for people.
            priority: Runs with a higher priority start first.
            resume_of: Id of a finished run to resume in its folder and under its id.

        Returns:
            The run's id.

        Raises:
            UsageError: As for :meth:`select_worker`.
            RuntimeError: The orchestrator was made without a dispatcher.
        """
        if self._dispatcher is None:
            raise RuntimeError("this orchestrator was made without a dispatcher")
        worker = await asyncio.to_thread(self.select_worker, config)
        return await self._dispatcher.submit(
            replace(config, worker_type=worker.type_id), title=title, priority=priority, resume_of=resume_of
        )

    def _chosen(self, config: UnifiedRunConfig) -> WorkerTypeDefinition:
        definition = self._registry.require(config.worker_type)
        spec = self.environment(config)
        reasons = _incompatibilities(definition, config, spec)
        if reasons:
            raise UsageError(
                f"worker {definition.type_id} cannot train on {spec.id}: {'; '.join(reasons)}",
                fix="Leave the worker out to have one selected, or choose another",
            )
        train = definition.train
        if train is not None and config.algorithm and config.algorithm not in train.algorithms:
            raise UnknownNameError(f"{definition.type_id} algorithm", config.algorithm, train.algorithms)
        return definition

    def _rank(self, definition: WorkerTypeDefinition) -> tuple[bool, bool, str]:
        wishes = definition.capabilities.requires_gpu
        return (not self._is_installed(definition), wishes != self._gpu_available(), definition.type_id)

    def _why_none(self, config: UnifiedRunConfig, spec: EnvSpec) -> str:
        trainers = [definition for definition in self._registry.all() if definition.train is not None]
        if not trainers:
            return "No training worker is installed; `mosaic workers list` shows the known workers"
        lines: list[str] = []
        for definition in trainers:
            reasons = _incompatibilities(definition, config, spec)
            if not reasons:
                reasons = [f"it does not know algorithm {config.algorithm!r}"]
            lines.append(f"{definition.type_id}: {', '.join(reasons)}")
        return "; ".join(lines)


def _incompatibilities(
    definition: WorkerTypeDefinition, config: UnifiedRunConfig, spec: EnvSpec
) -> list[str]:
    return training_incompatibilities(
        definition,
        spec,
        action_space=config.action_space,
        observation_space=config.observation_space,
        agents=config.agents,
    )


def _is_installed(definition: WorkerTypeDefinition) -> bool:
    return check_installed(definition).state == "installed"
