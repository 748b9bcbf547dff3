"""The design documents' ``bootstrap``: all their services, made and wired in one call.

For programs that are written against those documents. MOSAIC's commands and window make what each needs.
"""

from __future__ import annotations

from dataclasses import dataclass

from gym_gui.services.actor import ActorService, KeyboardQueue, default_actor_service
from gym_gui.services.operator import MultiOperatorService, OperatorLauncher, OperatorService
from gym_gui.services.policy_mapping import PolicyMappingService
from gym_gui.services.store import Store
from gym_gui.services.trainer import TrainerDispatcher
from gym_gui.services.worker_orchestrator import WorkerDispatcher, WorkerOrchestrator
from gym_gui.services.worker_registry import WorkerCatalog
from gym_gui.workers.registry import WorkerTypeRegistry


@dataclass(frozen=True)
class Services:
    """All services of one program.

    Attributes:
        store: Where things live.
        workers: The workers there are.
        keyboard: What people press, on its way to the agents they play.
        actors: In-process policies by name.
        operators: Operators and their seeds.
        orchestrator: Chooses and launches training workers.
        multi_operators: Starts operators side by side; ``None`` without a launcher.
    """

    store: Store
    workers: WorkerCatalog
    keyboard: KeyboardQueue
    actors: ActorService
    operators: OperatorService
    orchestrator: WorkerOrchestrator
    multi_operators: MultiOperatorService | None

    def new_policy_mapping(self) -> PolicyMappingService:
        """A mapping for one session; bindings are never shared between sessions."""
        return PolicyMappingService(self.actors)


def bootstrap_default_services(
    *,
    operator_launcher: OperatorLauncher | None = None,
    dispatcher: WorkerDispatcher | None = None,
    store: Store | None = None,
    registry: type[WorkerTypeRegistry] = WorkerTypeRegistry,
) -> Services:
    """Build the services; starts nothing and makes no folder.

    Args:
        operator_launcher: Starts an operator's session.
        dispatcher: Starts training workers; by default, the trainer daemon does.
        store: Where things live; the platform's folders by default.
        registry: The workers' registry, filled by discovery.
    """
    store = store or Store()
    keyboard = KeyboardQueue()
    workers = WorkerCatalog(registry)
    operators = OperatorService()
    return Services(
        store=store,
        workers=workers,
        keyboard=keyboard,
        actors=default_actor_service(registry=registry, keyboard=keyboard),
        operators=operators,
        orchestrator=WorkerOrchestrator(registry, dispatcher or TrainerDispatcher(store)),
        multi_operators=MultiOperatorService(operator_launcher, operators) if operator_launcher else None,
    )
