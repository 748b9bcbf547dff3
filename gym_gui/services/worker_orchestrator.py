"""From "train on this" to a worker that can: paradigm, selection, launch.

The paradigm comes from the environment. The worker is the one the user names, or the
best of those that fit; a dispatcher that is passed in has it train.
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
    """A training run, whatever worker will do it.

    Attributes:
        task: Environment id, or ``module:factory``.
        env_name: Family hint, or ``None``.
        api: PettingZoo interface to ask for, or ``None`` for the native one.
        worker_type: The user's choice of worker; empty to select one.
        algorithm: Algorithm that the worker must know; empty for its own default.
        action_space: Kind of the action space, where known (``"discrete"``).
        observation_space: Kind of the observation space, where known (``"box"``).
        agents: Number of agents, where known.
        seed: Seed of the training.
        settings: Settings for the worker.
        group: What a group of trainings is called that differ in their seed alone; empty for none.
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
    """Has trainings carried out, as the trainer daemon's client does."""

    async def submit(
        self, config: UnifiedRunConfig, *, title: str = "", priority: int = 0, resume_of: str = ""
    ) -> str:
        """Queue a training, whose worker is named, and return its id."""
        ...


class WorkerOrchestrator:
    """Chooses workers for training runs and has them launched.

    Args:
        registry: The workers there are.
        dispatcher: Has trainings carried out; without one :meth:`submit_run` is not available.
        gpu_available: Whether a GPU can be used; by default, whether one is there.
        is_installed: Whether a worker could start here; by default, its requirements are checked.
        find_environment: Resolves an environment's name.
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
        """The environment of a run.

        Raises:
            UsageError: It is unknown, or the hints contradict it.
        """
        return self._find_environment(config.task, env_name=config.env_name, api=config.api)

    def infer_paradigm(self, config: UnifiedRunConfig) -> SteppingParadigm:
        """How the environment of a run takes turns; raises as :meth:`environment`."""
        return self.environment(config).paradigm

    def select_worker(self, config: UnifiedRunConfig) -> WorkerTypeDefinition:
        """The worker for a run: the user's choice, or the best that fits.

        Best is, in this order: one that is installed, one whose wish for a GPU agrees with
        what there is, the first by id. A GPU is a preference: without one, a worker that
        would like it is still chosen when no other fits.

        Raises:
            UnknownNameError: The user's choice, or its algorithm, is unknown.
            UsageError: The choice does not fit, or no worker does; says why.
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
        """Select the worker and have it train.

        Args:
            config: What to train.
            title: What a person calls it.
            priority: Higher runs first.
            resume_of: A run that is over, to resume in its folder and under its id.

        Returns:
            The run's id.

        Raises:
            UsageError: As :meth:`select_worker`.
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
            return "No training worker is installed; `mosaic workers list` shows what there is"
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
