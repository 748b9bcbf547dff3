"""Where window and command line get their services from."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from gym_gui.services.store import Store

if TYPE_CHECKING:
    from gym_gui.services.operator import MultiOperatorService, OperatorLauncher
    from gym_gui.services.policies.policy_library import PolicyLibrary
    from gym_gui.services.worker_orchestrator import WorkerDispatcher, WorkerOrchestrator
    from gym_gui.services.worker_registry import WorkerCatalog
    from gym_gui.workers.registry import WorkerTypeRegistry


class Services:
    """The services of one program: properties are made once, when they are first asked for.

    What one of them needs is imported when it is first asked for: a command that lists policies loads no
    environment.

    Attributes:
        store: Where things live.
    """

    def __init__(self, store: Store, registry: type[WorkerTypeRegistry] | None) -> None:
        self.store = store
        self._registry = registry

    @cached_property
    def workers(self) -> WorkerCatalog:
        """The workers there are; looks for them when it is made."""
        from gym_gui.services.worker_registry import WorkerCatalog

        return WorkerCatalog() if self._registry is None else WorkerCatalog(self._registry)

    @cached_property
    def policies(self) -> PolicyLibrary:
        """Trained policies, and those that were added."""
        from gym_gui.services.policies.policy_library import PolicyLibrary

        return PolicyLibrary(self.store)

    def new_operators(self, launcher: OperatorLauncher) -> MultiOperatorService:
        """Operators side by side, started by ``launcher``."""
        from gym_gui.services.operator import MultiOperatorService

        return MultiOperatorService(launcher)

    def new_orchestrator(self, dispatcher: WorkerDispatcher | None = None) -> WorkerOrchestrator:
        """Chooses workers for trainings, and submits these to a dispatcher (a trainer daemon's client)."""
        from gym_gui.services.worker_orchestrator import WorkerOrchestrator

        return WorkerOrchestrator(self.workers.registry, dispatcher)


def bootstrap_default_services(
    *, store: Store | None = None, registry: type[WorkerTypeRegistry] | None = None
) -> Services:
    """The services of a program; starts nothing and makes no folder.

    Args:
        store: Where things live; the platform's folders by default.
        registry: The workers' registry, filled by discovery; the program's own by default.
    """
    return Services(store or Store(), registry)
